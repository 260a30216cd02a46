"""The rules of games. A spec names a game, or a file contains it."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from kedge import catalogue
from kedge.errors import InputError
from kedge.games.game import Game
from kedge.games.normal_form import NormalFormGame, read_json, read_nfg
from kedge.games.openspiel import load_openspiel
from kedge.specs import Spec, as_spec, build, suggest

_READERS = {".nfg": read_nfg, ".json": read_json}


class _Games:
    """Makers of games by name: those that a program registers, before those of the catalogue."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[..., Game]] = {}

    def register(self, name: str, maker: Callable[..., Game]) -> None:
        """Add a maker in this process, before all others of that name."""
        self._makers[name] = maker

    def names(self) -> list[str]:
        """The registered names."""
        return sorted(self._makers)

    def maker(self, name: str) -> Callable[..., Game]:
        """Return the maker called `name`; the error for an unknown name suggests near ones."""
        if name in self._makers:
            return self._makers[name]
        known = sorted({*catalogue.names(), *self._makers})
        if name not in known:
            raise InputError(f"unknown game {name!r}; {suggest(name, known)}")
        maker: Callable[..., Game] = catalogue.find(name).load("game")
        return maker

    def make(self, spec: Spec | str) -> Game:
        """Return the game that `spec` names."""
        spec = as_spec("game", spec)
        return build("game", self.maker(spec.name), spec)


GAMES = _Games()


def load_game(text: str) -> Game:
    """Return the game of a spec, an ``.nfg`` or ``.json`` file, or ``openspiel:NAME``.

    >>> print(load_game("blotto(coins=5, fields=2)"))
    blotto(coins=5, fields=2): 6 × 6 actions
    """
    reader = _READERS.get(Path(text).suffix.lower())
    if reader is not None:
        return reader(text)
    if os.path.isfile(text) or re.fullmatch(r"[^()]*\.[a-z]{2,4}", text):
        raise InputError(f"{text}: not a game file; expected .nfg or .json")
    if text.startswith("openspiel:"):
        return load_openspiel(text.removeprefix("openspiel:"))
    return GAMES.make(text)


def load_normal_form(text: str) -> NormalFormGame:
    """Return the game that `text` names, or raise an `InputError` if it has no normal form."""
    game = load_game(text)
    if not isinstance(game, NormalFormGame):
        raise InputError(f"{text}: only games in normal form can be solved, such as blotto")
    return game


__all__ = ["GAMES", "Game", "load_game", "load_normal_form"]

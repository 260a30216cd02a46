"""The rules of games. A spec names a game, or a file contains it."""

import re
from collections.abc import Callable
from pathlib import Path

from kedge import catalogue
from kedge.errors import InputError
from kedge.games.game import Game
from kedge.games.normal_form import NormalFormGame, read_json, read_nfg
from kedge.games.openspiel import load_openspiel
from kedge.specs import Registry, suggest

_READERS = {".nfg": read_nfg, ".json": read_json}


def _from_catalogue(name: str) -> Callable[..., Game]:
    """Return the maker of a game of the catalogue."""
    known = sorted({*catalogue.names(), *GAMES.names()})
    if name not in known:
        raise InputError(f"unknown game {name!r}; {suggest(name, known)}")
    maker: Callable[..., Game] = catalogue.find(name).load("game")
    return maker


#: Games that a program registers for itself, before those of the catalogue.
GAMES: Registry[Game] = Registry("game", built_in=dict, otherwise=_from_catalogue)


def load_game(text: str) -> Game:
    """Return the game of a spec, an ``.nfg`` or ``.json`` file, or ``openspiel:NAME``.

    >>> print(load_game("blotto(coins=5, fields=2)"))
    blotto(coins=5, fields=2): 6 × 6 actions
    """
    reader = _READERS.get(Path(text).suffix.lower())
    if reader is not None:
        return reader(text)
    if Path(text).is_file() or re.fullmatch(r"[^()]*\.[a-z]{2,4}", text):
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

"""The rules of games. A spec names a game, or a file contains it."""

import re
from pathlib import Path

from kedge.errors import InputError
from kedge.games.chess.game import Chess
from kedge.games.diplomacy.game import Diplomacy
from kedge.games.game import Game
from kedge.games.go.game import Go
from kedge.games.hanabi.game import Hanabi
from kedge.games.normal_form import (
    NormalFormGame,
    blotto,
    matching_pennies,
    random_game,
    read_json,
    read_nfg,
    rock_paper_scissors,
)
from kedge.games.openspiel import load_openspiel
from kedge.specs import Registry

#: Other packages add games through entry points in the group ``kedge.games``.
GAMES: Registry[Game] = Registry("game", "kedge.games")
GAMES.register("blotto", blotto)
GAMES.register("chess", Chess)
GAMES.register("diplomacy", Diplomacy)
GAMES.register("go", Go)
GAMES.register("hanabi", Hanabi)
GAMES.register("matching-pennies", matching_pennies)
GAMES.register("random", random_game)
GAMES.register("rock-paper-scissors", rock_paper_scissors)

_READERS = {".nfg": read_nfg, ".json": read_json}


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
        raise InputError(f"{text}: only games in normal form can be solved")
    return game


__all__ = ["GAMES", "Game", "load_game", "load_normal_form"]

"""Find out which game the records of a file belong to."""

from pathlib import Path

from kedge.records.go.files import holds_go
from kedge.records.json_games import json_keys


def game_of(path: Path) -> str:
    """Return the game of a file, by its name, its first bytes or the keys of its first game.

    The default is chess, also for a pipe, which can be read only once.
    """
    if holds_go(path):
        return "go"
    keys = json_keys(path)
    return "diplomacy" if "phases" in keys else "hanabi" if "deck" in keys else "chess"

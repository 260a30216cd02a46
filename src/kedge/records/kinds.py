"""Of which game a file has records."""

from pathlib import Path

from kedge.records.go.files import holds_go
from kedge.records.json_games import json_keys


def game_of(path: Path) -> str:
    """By its name or how it starts, or by the keys of its first game; else it is chess.

    Records of a pipe are chess: it is read once.
    """
    if holds_go(path):
        return "go"
    keys = json_keys(path)
    return "diplomacy" if "phases" in keys else "hanabi" if "deck" in keys else "chess"

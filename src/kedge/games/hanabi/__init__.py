"""Hanabi: the rules."""

from kedge.games.hanabi.game import (
    BOMBS,
    COLOURS,
    TERMINAL,
    Bomb,
    Card,
    Hanabi,
    HanabiState,
    Known,
    Move,
    View,
)

__all__ = [
    "BOMBS",
    "COLOURS",
    "TERMINAL",
    "Bomb",
    "Card",
    "Hanabi",
    "HanabiState",
    "Known",
    "Move",
    "View",
]

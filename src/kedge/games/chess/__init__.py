"""Chess: the rules."""

from kedge.games.chess.game import (
    START_FEN,
    TERMINAL,
    Chess,
    ChessState,
)

__all__ = [
    "START_FEN",
    "TERMINAL",
    "Chess",
    "ChessState",
]

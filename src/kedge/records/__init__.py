"""Human games in and out."""

from kedge.records.chess_files import pgn_texts, read_games, write_pgn
from kedge.records.chess_games import Broken, ChessGame, Report, time_class_of

__all__ = [
    "Broken",
    "ChessGame",
    "Report",
    "pgn_texts",
    "read_games",
    "time_class_of",
    "write_pgn",
]

"""Human games in and out."""

from kedge.records.annotated import Annotation, annotated_pgn
from kedge.records.chess_files import pgn_texts, read_games, write_pgn
from kedge.records.chess_games import Broken, ChessGame, ReadReport, time_class_of
from kedge.records.filters import Position, encode_positions, maia, positions

__all__ = [
    "Annotation",
    "Broken",
    "ChessGame",
    "Position",
    "ReadReport",
    "annotated_pgn",
    "encode_positions",
    "maia",
    "pgn_texts",
    "positions",
    "read_games",
    "time_class_of",
    "write_pgn",
]

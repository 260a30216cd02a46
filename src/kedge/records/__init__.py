"""Read and write games that people played."""

import warnings
from typing import Any

from kedge.records.chess.annotated import Annotation, annotated_pgn
from kedge.records.chess.files import pgn_texts, read_chess_games, write_pgn
from kedge.records.chess.filters import maia_filter
from kedge.records.chess.games import ChessGame, time_class_of
from kedge.records.chess.positions import ChessPosition, chess_positions, encode_chess_positions
from kedge.records.diplomacy.files import read_diplomacy_games, write_diplomacy_games
from kedge.records.diplomacy.games import DiplomacyGame, Phase
from kedge.records.diplomacy.positions import read_positions, replayed_games
from kedge.records.go.arrays import GoArrays, go_arrays
from kedge.records.go.files import holds_go, read_go_games
from kedge.records.go.games import GoGame
from kedge.records.go.positions import legal_games
from kedge.records.go.sgf import MoveNote, read_sgf, write_sgf, write_sgf_file
from kedge.records.hanabi.files import (
    read_hanabi_games,
    write_hanabi_games,
    write_live_games,
)
from kedge.records.hanabi.games import HanabiGame
from kedge.records.hanabi.positions import replayed_hanabi_games
from kedge.records.report import Broken, ReadReport, numbered_game

__all__ = [
    "Annotation",
    "Broken",
    "ChessGame",
    "ChessPosition",
    "DiplomacyGame",
    "GoArrays",
    "GoGame",
    "HanabiGame",
    "MoveNote",
    "Phase",
    "ReadReport",
    "annotated_pgn",
    "chess_positions",
    "encode_chess_positions",
    "go_arrays",
    "holds_go",
    "legal_games",
    "maia_filter",
    "numbered_game",
    "pgn_texts",
    "read_chess_games",
    "read_diplomacy_games",
    "read_go_games",
    "read_hanabi_games",
    "read_positions",
    "read_sgf",
    "replayed_games",
    "replayed_hanabi_games",
    "time_class_of",
    "write_diplomacy_games",
    "write_hanabi_games",
    "write_live_games",
    "write_pgn",
    "write_sgf",
    "write_sgf_file",
]

_RENAMED = {
    "GoTable": "GoArrays",
    "Position": "ChessPosition",
    "encode_positions": "encode_chess_positions",
    "go_table": "go_arrays",
    "maia": "maia_filter",
    "positions": "chess_positions",
    "read_games": "read_chess_games",
}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    message = f"kedge.records.{name} is deprecated; use kedge.records.{new}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return globals()[new]

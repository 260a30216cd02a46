"""Human games in and out."""

from kedge.records.annotated import Annotation, annotated_pgn
from kedge.records.chess_files import pgn_texts, read_games, write_pgn
from kedge.records.chess_games import ChessGame, time_class_of
from kedge.records.chess_positions import Position, encode_positions, positions
from kedge.records.diplomacy_files import read_diplomacy_games, write_diplomacy_games
from kedge.records.diplomacy_games import DiplomacyGame, Phase
from kedge.records.diplomacy_positions import read_positions, replayed_games
from kedge.records.filters import maia
from kedge.records.go_files import holds_go, read_go_games
from kedge.records.go_games import GoGame
from kedge.records.go_positions import legal_games
from kedge.records.go_table import GoTable, go_table
from kedge.records.hanabi_files import (
    read_hanabi_games,
    write_hanabi_games,
    write_live_games,
)
from kedge.records.hanabi_games import HanabiGame
from kedge.records.hanabi_positions import replayed_hanabi_games
from kedge.records.report import Broken, ReadReport, numbered_game
from kedge.records.sgf import MoveNote, read_sgf, write_sgf, write_sgf_file

__all__ = [
    "Annotation",
    "Broken",
    "ChessGame",
    "DiplomacyGame",
    "GoGame",
    "GoTable",
    "HanabiGame",
    "MoveNote",
    "Phase",
    "Position",
    "ReadReport",
    "annotated_pgn",
    "encode_positions",
    "go_table",
    "holds_go",
    "legal_games",
    "maia",
    "numbered_game",
    "pgn_texts",
    "positions",
    "read_diplomacy_games",
    "read_games",
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

"""Human games in and out."""

from kedge.records.chess.annotated import Annotation, annotated_pgn
from kedge.records.chess.files import pgn_texts, read_games, write_pgn
from kedge.records.chess.filters import maia
from kedge.records.chess.games import ChessGame, time_class_of
from kedge.records.chess.positions import Position, encode_positions, positions
from kedge.records.diplomacy.files import read_diplomacy_games, write_diplomacy_games
from kedge.records.diplomacy.games import DiplomacyGame, Phase
from kedge.records.diplomacy.positions import read_positions, replayed_games
from kedge.records.go.arrays import GoTable, go_table
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

"""The record format of chess."""

from pathlib import Path

from kedge.records.chess.files import read_chess_games, write_pgn
from kedge.records.formats import RecordFormat


def _is_pgn(path: Path) -> bool:
    return ".pgn" in path.suffixes


CHESS = RecordFormat(
    read=read_chess_games,
    sniff=_is_pgn,
    files="PGN or JSON lines",
    write=write_pgn,
)

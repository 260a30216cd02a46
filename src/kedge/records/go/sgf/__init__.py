"""SGF, the format of Go records."""

from kedge.records.go.sgf.reading import read_pieces, read_sgf
from kedge.records.go.sgf.writing import MoveNote, write_sgf, write_sgf_file

__all__ = ["MoveNote", "read_pieces", "read_sgf", "write_sgf", "write_sgf_file"]

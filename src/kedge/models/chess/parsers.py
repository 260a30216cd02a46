"""Parsers of chess networks, by the format of their files."""

from kedge.models.chess.lc0 import parse_lc0

PARSERS = {"lc0": parse_lc0}

"""Parsers of chess networks that are not kedge's, by kind."""

from kedge.models.chess.lc0 import parse_lc0

PARSERS = {"lc0": parse_lc0}

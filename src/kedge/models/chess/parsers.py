"""Parsers of chess networks, by kind."""

from kedge.models.board import weights
from kedge.models.chess.lc0 import parse_lc0

PARSERS = {**weights.PARSERS, "lc0": parse_lc0}

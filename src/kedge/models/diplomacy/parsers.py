"""Parsers of Diplomacy's networks, by the kind that a weight file names."""

from kedge.models.diplomacy.network import parse_diplomacy
from kedge.models.diplomacy.values import parse_values

PARSERS = {"orders": parse_diplomacy, "value": parse_values}

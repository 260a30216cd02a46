"""Parsers of Diplomacy's networks, by kind."""

from kedge.models.diplomacy.network import DiplomacyWeights, parse_diplomacy
from kedge.models.diplomacy.values import ValueWeights, parse_values

PARSERS = {DiplomacyWeights.kind: parse_diplomacy, ValueWeights.kind: parse_values}

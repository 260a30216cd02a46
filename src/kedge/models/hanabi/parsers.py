"""Parsers of Hanabi's networks, by the kind that a weight file names."""

from kedge.models.hanabi.network import parse_belief, parse_policy

PARSERS = {"hanabi-policy": parse_policy, "hanabi-belief": parse_belief}

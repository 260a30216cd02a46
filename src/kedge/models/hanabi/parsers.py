"""Parsers of Hanabi's networks, by kind."""

from kedge.models.hanabi.network import BeliefWeights, PolicyWeights, parse_belief, parse_policy

PARSERS = {PolicyWeights.kind: parse_policy, BeliefWeights.kind: parse_belief}

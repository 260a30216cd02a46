"""Makers of the agents of board games' networks."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from kedge.agents.agent import Agent
from kedge.models.board.conditioning import takes_players
from kedge.models.board.weights import Weights
from kedge.specs import Spec


def network_maker(name: str, weights: Weights) -> Callable[..., Agent]:
    """Return the maker of the model `name` alone, for the players that it takes as input."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    options = (*takes_players(weights), "temperature")
    signature = Signature([Parameter(option, kind, default=None) for option in options])

    def make(*args: Any, **kwargs: Any) -> Agent:
        from kedge.agents.board.networks import network_agent

        bound = signature.bind(*args, **kwargs).arguments
        given = {option: value for option, value in bound.items() if value is not None}
        temperature = given.pop("temperature", 1.0)
        return network_agent(Spec(name, (), given), temperature)

    make.__signature__ = signature  # type: ignore[attr-defined]
    return make

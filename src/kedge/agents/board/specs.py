"""Makers of the agents of board games' networks."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from kedge.agents.agent import Agent
from kedge.agents.devices import thread_limit
from kedge.errors import InputError
from kedge.games.symmetries import COUNT
from kedge.models.board.weights import Weights
from kedge.models.embedded import imitates_people
from kedge.specs import number, whole


def network_maker(name: str, weights: Weights) -> Callable[..., Agent]:
    """Return the maker of the model `name` alone, for the players that it takes as input.

    The maker takes the values of its signature's parameters, as `kedge.specs.build` binds them.
    """
    kind = Parameter.POSITIONAL_OR_KEYWORD
    turned = ("symmetries",) if weights.encoding.is_symmetric else ()
    options = (*weights.player_options, "temperature", *turned)
    signature = Signature([Parameter(option, kind, default=None) for option in options])

    def make(*values: Any) -> Agent:
        from kedge.agents.board.networks import network_of
        from kedge.agents.board.puct import NetworkAgent
        from kedge.models.board.symmetries import SymmetricNetwork

        named = zip(options, values, strict=True)
        given = {option: value for option, value in named if value is not None}
        temperature = number("temperature", given.pop("temperature", 1.0))
        count = whole("symmetries", given.pop("symmetries", 1))
        if not 1 <= count <= COUNT:
            raise InputError(f"symmetries: from 1 to {COUNT}, not {count}")
        network = network_of(weights, name, given)  # the rest says who plays
        turning = network if count == 1 else SymmetricNetwork(network, count)
        return NetworkAgent(turning, temperature, thread_limit() or 0, imitates_people(name))

    make.__signature__ = signature  # type: ignore[attr-defined]
    return make


MODEL_AGENTS = {Weights.kind: network_maker}

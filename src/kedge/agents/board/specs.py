"""Makers of the agents of board games' networks."""

from collections.abc import Callable, Collection
from inspect import Parameter, Signature
from typing import Any

from kedge.agents.agent import Agent
from kedge.agents.devices import device
from kedge.errors import InputError
from kedge.games.symmetries import COUNT
from kedge.models.board.weights import Weights
from kedge.models.shipped_models import imitates_people
from kedge.specs import number, whole


def network_maker(name: str, weights: Weights) -> Callable[..., Agent]:
    """Return the maker of the model `name` alone, for the players that it takes as input.

    Its signature names the options of this model, for `kedge.specs.build`. Its `advice` ends an
    error about others.
    """
    turned = ("symmetries",) if weights.encoding.is_symmetric else ()
    options = (*weights.player_options, "temperature", *turned)

    def make(*, temperature: float = 1.0, symmetries: int = 1, **players: Any) -> Agent:
        from kedge.agents.board.networks import network_of
        from kedge.agents.board.puct import NetworkAgent
        from kedge.models.board.symmetries import SymmetricNetwork

        if not 1 <= whole("symmetries", symmetries) <= COUNT:
            raise InputError(f"symmetries: from 1 to {COUNT}, not {symmetries}")
        network = network_of(weights, name, players)
        return NetworkAgent(
            network if symmetries == 1 else SymmetricNetwork(network, symmetries),
            number("temperature", temperature),
            device()[2],
            imitates_people(name),
        )

    def advice(given: Collection[str]) -> str:
        from kedge.agents.board.networks import other_model

        return other_model(weights, given)

    make.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(option, Parameter.KEYWORD_ONLY, default=None) for option in options]
    )
    make.advice = advice  # type: ignore[attr-defined]
    return make


MODEL_AGENTS = {Weights.kind: network_maker}

"""Makers of the agents of board games' networks."""

from collections.abc import Callable

from kedge.agents.agent import Agent
from kedge.models.board.weights import Weights
from kedge.models.chess.conditioning import takes_ratings
from kedge.specs import Spec


def network_maker(name: str, weights: Weights) -> Callable[..., Agent]:
    """Return the maker of the model `name` alone; a model with ratings as input takes them."""
    return rated_model(name) if takes_ratings(weights) else model(name)


def model(name: str) -> Callable[..., Agent]:
    """Return the maker of the model `name` alone."""

    def make(temperature: float = 1.0) -> Agent:
        from kedge.agents.board.networks import network_agent

        return network_agent(Spec(name), temperature)

    return make


def rated_model(name: str) -> Callable[..., Agent]:
    """Return the maker of the model `name` as a player of rating `elo` against `opponent`."""

    def make(elo: float = 1500.0, opponent: float | None = None, temperature: float = 1.0) -> Agent:
        from kedge.agents.board.networks import network_agent

        ratings = {"elo": elo} if opponent is None else {"elo": elo, "opponent": opponent}
        return network_agent(Spec(name, (), ratings), temperature)

    return make

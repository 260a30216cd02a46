"""The one door to players: agents that answer many questions at once."""

from kedge.agents.agent import Player, plays
from kedge.agents.registry import make_agent
from kedge.errors import InputError
from kedge.specs import Spec


def make_player(spec: Spec | str, states: type) -> Player:
    """Return the agent that `spec` names; it must play such states, many at once."""
    agent = make_agent(spec)
    if not isinstance(agent, Player) or not plays(agent, states):
        game = states.__name__.removesuffix("State").lower()
        raise InputError(f"agent {spec}: does not play {game}; {game} and puct({game}, …) do")
    return agent

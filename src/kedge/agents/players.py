"""Players by spec, checked against the game."""

from typing import Any

from kedge import catalogue
from kedge.agents.agent import Player, plays
from kedge.agents.registry import make_agent
from kedge.errors import InputError
from kedge.specs import Spec


def make_player(spec: Spec | str, game: str) -> Any:
    """Return the `Player` that `spec` names; it must play `game`."""
    entry = catalogue.find(game, "state")
    agent = make_agent(spec)
    if fits(agent, entry):
        return agent
    hint = ""
    if entry.has("dial"):
        ladder = entry.load("dial")
        hint = f"; {ladder.anchor} and {ladder.search}({ladder.anchor}, …) do"
    raise InputError(f"agent {spec}: does not play {game}{hint}")


def fits(agent: Any, entry: catalogue.GameEntry) -> bool:
    """Whether `agent` is a player of the game."""
    kind: Any = entry.load("player") if entry.has("player") else Player
    return isinstance(agent, kind) and plays(agent, entry.load("state"))

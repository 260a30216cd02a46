"""Agents: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

from kedge.agents.agent import Agent, Analysis, Player
from kedge.agents.diplomacy.specs import make_diplomacy_player
from kedge.agents.hanabi.specs import make_hanabi_player
from kedge.agents.players import make_player
from kedge.agents.registry import AGENTS, make_agent
from kedge.agents.user_models import add_model

__all__ = [
    "AGENTS",
    "Agent",
    "Analysis",
    "Player",
    "add_model",
    "make_agent",
    "make_diplomacy_player",
    "make_hanabi_player",
    "make_player",
]

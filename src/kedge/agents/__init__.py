"""Agents: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from kedge.agents.agent import Agent, Analysis, Player
from kedge.agents.registry import AGENTS, make_agent, make_player
from kedge.agents.user_models import add_model

__all__ = [
    "AGENTS",
    "Agent",
    "Analysis",
    "Player",
    "add_model",
    "make_agent",
    "make_player",
]

_FORMER = {"make_diplomacy_player": "diplomacy", "make_hanabi_player": "hanabi"}


def __getattr__(name: str) -> Callable[..., Any]:
    """Former names, for scripts that use them."""
    if name in _FORMER:
        game = _FORMER[name]
        warnings.warn(
            f"{name}(spec) is now make_player(spec, {game!r})", DeprecationWarning, stacklevel=2
        )
        return partial(make_player, game=game)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

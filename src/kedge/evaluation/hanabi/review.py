"""Reviews of Hanabi games."""

import numpy as np

from kedge.agents import make_player
from kedge.agents.dial import strongest
from kedge.evaluation.hanabi.analysis import analyse_hanabi
from kedge.evaluation.review import Review, Reviewer


def _agent() -> str:
    return strongest("hanabi").spec


def hanabi_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Hanabi games; by default the strongest agent of the dial reviews."""
    spec = agent or _agent()
    player = make_player(spec, "hanabi")
    return lambda game, tell: analyse_hanabi(game, player, spec, np.random.default_rng(0), tell)


HANABI = Review(hanabi_reviewer, _agent)

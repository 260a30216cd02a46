"""Reviews of Hanabi games."""

import numpy as np

from kedge.agents import make_player
from kedge.agents.anchors import imitates_people
from kedge.agents.dial import strongest
from kedge.evaluation.hanabi.analysis import analyse_hanabi
from kedge.evaluation.review import Reviewer


def default_agent() -> str:
    """Return the spec of the agent that reviews by default: the strongest of the dial."""
    return strongest("hanabi").spec


def hanabi_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Hanabi games; by default the strongest agent of the dial reviews."""
    spec = agent or default_agent()
    player = make_player(spec, "hanabi")
    is_human = imitates_people(spec)
    return lambda game, tell: analyse_hanabi(
        game, player, spec, np.random.default_rng(0), tell, is_human=is_human
    )

"""Reviews of Diplomacy games."""

import numpy as np

from kedge.agents import make_player
from kedge.agents.anchors import imitates_people
from kedge.agents.dial import strongest
from kedge.evaluation.diplomacy.analysis import analyse_orders
from kedge.evaluation.review import Reviewer


def default_agent() -> str:
    """Return the spec of the agent that reviews by default: the strongest of the dial."""
    return strongest("diplomacy").spec


def diplomacy_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Diplomacy games; by default the strongest agent of the dial reviews."""
    spec = agent or default_agent()
    player = make_player(spec, "diplomacy")
    is_human = imitates_people(spec)
    return lambda game, tell: analyse_orders(
        game, player, spec, np.random.default_rng(0), tell, is_human=is_human
    )

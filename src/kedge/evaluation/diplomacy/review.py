"""Reviews of Diplomacy games."""

import numpy as np

from kedge.agents import make_player
from kedge.agents.dial import strongest
from kedge.evaluation.diplomacy.analysis import analyse_orders
from kedge.evaluation.review import Review, Reviewer


def _agent() -> str:
    return strongest("diplomacy").spec


def diplomacy_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Diplomacy games; by default the strongest agent of the dial reviews."""
    spec = agent or _agent()
    player = make_player(spec, "diplomacy")
    return lambda game, tell: analyse_orders(game, player, spec, np.random.default_rng(0), tell)


DIPLOMACY = Review(diplomacy_reviewer, _agent)

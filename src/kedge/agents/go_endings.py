"""When people pass. Records seldom have passes, so models of them are late to pass.

A board that is late holds many stones. There a point is idle if it lies in an empty area that only
one colour reaches: whoever plays there fills territory. The game is over where all points are.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis
from kedge.games.go import EMPTY, GoState, areas, neighbours
from kedge.regularize import Array

_LATE = 1 / 3  # of the points have stones; professionals count at 0.6
_NEEDED = 0.5  # a share of people who hold a move necessary, over or not
_RARE = 0.1  # fewer fill territory there
# A value that belies the count. It is seen at 1.6 % of the ends of counted games that the count has
# won rightly, and at a third of the others, where it takes large groups for dead.
_BELIED = -0.5


def is_late(state: GoState) -> bool:
    colours = state.colours()
    return len(colours) - colours.count(EMPTY) >= _LATE * len(colours)


def idle_points(state: GoState, dead: Collection[int] = ()) -> npt.NDArray[np.bool_]:
    """Of every point, whether it is idle, stones at `dead` taken off; never those of stones."""
    colours = state.colours()
    for stone in dead:
        colours[stone] = EMPTY
    idle = np.zeros(len(colours), bool)
    for area in areas(colours, state.size):
        if colours[area[0]] == EMPTY:
            around = {colours[n] for point in area for n in neighbours(point, state.size)}
            idle[area] = len(around - {EMPTY}) < 2
    return idle


def passes(state: GoState, found: Analysis, dead: Collection[int], lead: float) -> bool:
    """Whether the mover, who is ahead by `lead` points as the board stands, is done.

    Who is ahead takes the opponent's pass for an end, unless the model takes the game for lost.
    Else it is one when no area is open, unless most people would still play one and the same move.
    """
    if not is_late(state):
        return False
    offered = bool(state.history) and state.history[-1] == state.size**2
    if offered and lead > 0.0 and float(found.value) > _BELIED:
        return True
    empty = np.array(state.colours()) == EMPTY
    over = bool(idle_points(state, dead)[empty].all())
    return over and float(found.anchor[:-1].max(initial=0.0)) < _NEEDED


def purposeful(state: GoState, found: Analysis, dead: Collection[int]) -> Array:
    """The policy without passes, and without moves that fill territory and that few people play.

    Where nothing is left it is all on the pass, the last action.
    """
    policy = (found.policy if found.policy[:-1].any() else found.anchor).copy()
    policy[-1] = 0.0
    if is_late(state):
        idle = idle_points(state, dead)
        actions = np.array(state.legal_actions()[:-1], np.int64)
        policy[:-1][idle[actions] & (found.anchor[:-1] < _RARE)] = 0.0
    if not policy.any():
        policy[-1] = 1.0
    return np.asarray(policy / policy.sum())

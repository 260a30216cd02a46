"""When people pass. Records seldom have passes, so no model of them knows.

A board that is late holds many stones. There a point is idle if it lies in an empty area that only
one colour reaches: whoever plays there fills territory. The game is over where all points are.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis
from kedge.games.go import EMPTY, GoState
from kedge.regularize import Array

_LATE = 1 / 3  # of the points have stones; professionals count at 0.6
_NEEDED = 0.5  # a share of people who hold a move necessary, over or not
_RARE = 0.1  # fewer fill territory there
# A value that belies the count. It is seen at 1.6 % of the ends of counted games that the count has
# won rightly, and at a third of the others, where it takes large groups for dead.
_BELIED = -0.5


def is_late(state: GoState) -> bool:
    points = state.size**2
    return sum(state.board.colour(point) != EMPTY for point in range(points)) >= _LATE * points


def idle_points(state: GoState, dead: Collection[int] = ()) -> npt.NDArray[np.bool_]:
    """Of every point, whether it is idle, stones at `dead` taken off; never those of stones."""
    size, gone = state.size, set(dead)
    colours = [
        EMPTY if point in gone else state.board.colour(point) for point in range(size * size)
    ]
    idle, seen = np.zeros(size * size, bool), set()
    for start, colour in enumerate(colours):
        if colour != EMPTY or start in seen:
            continue
        area, reached, stack = [], set(), [start]
        seen.add(start)
        while stack:
            point = stack.pop()
            area.append(point)
            for other in neighbours(point, size):
                if colours[other] != EMPTY:
                    reached.add(colours[other])
                elif other not in seen:
                    seen.add(other)
                    stack.append(other)
        idle[area] = len(reached) < 2
    return idle


def neighbours(point: int, size: int) -> list[int]:
    y, x = divmod(point, size)
    found = [point - size] * (y > 0) + [point + size] * (y < size - 1)
    return found + [point - 1] * (x > 0) + [point + 1] * (x < size - 1)


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
    over = bool(_settled(state, dead).all())
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


def _settled(state: GoState, dead: Collection[int]) -> npt.NDArray[np.bool_]:
    """Of every empty point, whether it is idle."""
    idle = idle_points(state, dead)
    empty = [point for point in range(state.size**2) if state.board.colour(point) == EMPTY]
    return idle[empty]

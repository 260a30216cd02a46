"""When people pass and resign. Records seldom have passes, so models of them are late to pass.

A board that is late holds many stones. There a point is idle if it lies in an empty area that only
one colour reaches: whoever plays there fills territory. The game is over where all points are.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis
from kedge.games.go import EMPTY, GoState, regions
from kedge.regularize import Array

RESIGN = -0.9  #: Positions that are worth less look lost.
_PATIENCE = 5  # moves in a row that look lost before one resigns
_CLOSE = 10.0  # points; people play such games out
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
    for area, reached in regions(colours, state.size):
        idle[area] = len(reached) < 2
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


def played(state: GoState, found: Analysis, dead: Collection[int], lead: float) -> Array:
    """The policy of who ends the game as people do: all on the pass once it `passes`."""
    if not passes(state, found, dead, lead):
        return purposeful(state, found, dead)
    policy = np.zeros_like(found.policy)
    policy[-1] = 1.0
    return policy


class Patience:
    """That of both players with positions that look lost: they resign when it is spent."""

    def __init__(self) -> None:
        # By player, the moves to those positions that looked lost, the last ones in a row.
        self._lost: list[list[list[Any]]] = [[], []]

    def is_spent(
        self,
        state: GoState,
        moves: Sequence[Any],
        found: Analysis,
        lead: float,
        resign: float = RESIGN,
    ) -> bool:
        """Whether the mover, ahead by `lead` points, resigns after these `moves`."""
        player, made = state.board.player(), list(moves)
        # Only those of this game count; it may have been told anew, as programs do.
        lost = [past for past in self._lost[player] if past == made[: len(past)] != made]
        looks_lost = float(found.value) < resign
        self._lost[player] = [*lost, made][-_PATIENCE:] if looks_lost else []
        close = is_late(state) and lead > -_CLOSE
        return len(self._lost[player]) >= _PATIENCE and not close


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

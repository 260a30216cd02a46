"""When to pass and resign, as people do. Records seldom have passes, so models pass too late.

A board with many stones is late. On it a point is idle if it lies in an empty area that only one
colour reaches: a move there fills territory. The game is over when all empty points are idle.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis
from kedge.games.go import EMPTY, GoState, regions
from kedge.regularize import Array

RESIGN = -0.9  #: Positions of a smaller value look lost.
_PATIENCE = 5  # hopeless moves in a row before a player resigns
_CLOSE = 10.0  # points of a close game, which people play out
_LATE = 1 / 3  # share of points with stones; professionals count the score at 0.6
_NEEDED = 0.5  # share of people who play the same move, so that it is necessary
_RARE = 0.1  # share of people below which a move that fills territory is dropped
# Below this value, the model contradicts a count that says the mover wins. That happens at 1.6 % of
# the ends of games whose count is right, and at a third of the others, where the count takes large
# groups for dead.
_BELIED = -0.5


def is_late(state: GoState) -> bool:
    colours = state.colours()
    return len(colours) - colours.count(EMPTY) >= _LATE * len(colours)


def idle_points(state: GoState, dead: Collection[int] = ()) -> npt.NDArray[np.bool_]:
    """Return the mask of idle points, after the stones at `dead` are taken off."""
    colours = state.colours()
    for stone in dead:
        colours[stone] = EMPTY
    idle = np.zeros(len(colours), bool)
    for area, reached in regions(colours, state.size):
        idle[area] = len(reached) < 2
    return idle


def passes(state: GoState, analysis: Analysis, dead: Collection[int], lead: float) -> bool:
    """Whether the mover, ahead by `lead` points on the board, passes.

    A mover who is ahead answers a pass with a pass, unless the model values the game as lost.
    Otherwise it passes when all points are idle, unless most people would play the same move.
    """
    if not is_late(state):
        return False
    offered = bool(state.history) and state.history[-1] == state.size**2
    if offered and lead > 0.0 and float(analysis.value) > _BELIED:
        return True
    empty = np.array(state.colours()) == EMPTY
    over = bool(idle_points(state, dead)[empty].all())
    return over and float(analysis.anchor[:-1].max(initial=0.0)) < _NEEDED


def ending_policy(state: GoState, analysis: Analysis, dead: Collection[int], lead: float) -> Array:
    """Return the policy that ends the game as people do: only the pass once it `passes`."""
    if not passes(state, analysis, dead, lead):
        return purposeful(state, analysis, dead)
    policy = np.zeros_like(analysis.policy)
    policy[-1] = 1.0
    return policy


class Patience:
    """Counts hopeless moves of both players. A player resigns at the limit."""

    def __init__(self) -> None:
        # For each player, the move lists of the latest consecutive positions that looked lost.
        self._lost: list[list[list[Any]]] = [[], []]

    def is_spent(
        self,
        state: GoState,
        moves: Sequence[Any],
        analysis: Analysis,
        lead: float,
        resign: float = RESIGN,
    ) -> bool:
        """Whether the mover, ahead by `lead` points, resigns after these `moves`."""
        player, made = state.board.player(), list(moves)
        # Only positions of this game count: programs may send the whole game again.
        lost = [past for past in self._lost[player] if past == made[: len(past)] != made]
        looks_lost = float(analysis.value) < resign
        self._lost[player] = [*lost, made][-_PATIENCE:] if looks_lost else []
        close = is_late(state) and lead > -_CLOSE
        return len(self._lost[player]) >= _PATIENCE and not close


def purposeful(state: GoState, analysis: Analysis, dead: Collection[int]) -> Array:
    """Return the policy without passes and without rare moves that fill territory.

    If no move is left, all probability is on the pass, the last action.
    """
    policy = (analysis.policy if analysis.policy[:-1].any() else analysis.anchor).copy()
    policy[-1] = 0.0
    if is_late(state):
        idle = idle_points(state, dead)
        actions = np.array(state.legal_actions()[:-1], np.int64)
        policy[:-1][idle[actions] & (analysis.anchor[:-1] < _RARE)] = 0.0
    if not policy.any():
        policy[-1] = 1.0
    return np.asarray(policy / policy.sum())

"""Games that are recorded more than once: turned, mirrored, or with another order of moves."""

import numpy as np
import numpy.typing as npt

from kedge.games.symmetries import symmetries
from kedge.records.go.arrays import GoArrays

_SIDE = 19
#: Spans of moves: two games are the same if they agree in one of them, in any symmetry. The second
#: finds openings that were written down in another order.
_SPANS = ((0, 50), (20, 60))


def games_among(table: GoArrays, known: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each game of the table is one of the `known` rows, perhaps recorded differently."""
    is_duplicate = np.zeros(len(table), np.bool_)
    for first, last in _SPANS:
        keys, is_long = _keys(table, first, last)
        # Early spans are compared even of shorter games, which end alike.
        usable = is_long if first else np.diff(table.offsets) > 0
        is_duplicate |= usable & np.isin(keys, keys[known[usable[known]]])
    return is_duplicate


def _keys(
    table: GoArrays, first: int, last: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """A hash of some moves of each game, equal in all symmetries; whether it has all of them."""
    lengths = np.diff(table.offsets)
    odd = np.random.default_rng(0).integers(1, 1 << 62, (last - first, _SIDE**2 + 2), np.uint64)
    turned = np.concatenate(
        [symmetries(_SIDE).argsort(axis=1), np.tile([_SIDE**2, _SIDE**2 + 1], (8, 1))], axis=1
    )
    totals = np.zeros((8, len(table)), np.uint64)
    for ply in range(first, last):
        at = np.minimum(table.offsets[:-1] + ply, max(len(table.actions) - 1, 0))
        moves = np.where(ply < lengths, table.actions[at], _SIDE**2 + 1)
        totals += odd[ply - first][turned[:, moves]]
    return totals.min(axis=0), lengths >= last


__all__ = ["games_among"]

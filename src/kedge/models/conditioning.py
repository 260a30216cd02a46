"""Who plays, as a network of kedge's own is told: ratings, and whether it is bullet."""

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError

#: Ratings are told by how near they are to each of these.
KNOTS = np.arange(800.0, 2401.0, 200.0)
#: Rule 50 over 100, the mover's rating, the opponent's, bullet.
TOLD = 1 + 2 * len(KNOTS) + 1


def rating_features(ratings: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """How near each rating is to each knot, 1 at it and 0 at its neighbours; 0s where unknown (0).

    >>> rating_features([1500])[0].tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    """
    array = np.asarray(ratings, np.float64)
    known = np.clip(array, KNOTS[0], KNOTS[-1])
    near = np.maximum(0.0, 1.0 - np.abs(known[:, None] - KNOTS) / (KNOTS[1] - KNOTS[0]))
    return np.where(array[:, None] > 0.0, near, 0.0)


def who(rating: float, opponent: float, bullet: bool = False) -> npt.NDArray[np.float64]:
    """All that is told of a game, rule 50 (which is of a position) left at 0."""
    for name, value in (("elo", rating), ("opponent", opponent)):
        if not 0.0 <= value < 10_000.0:
            raise InputError(f"{name}: a rating, or 0 where unknown, not {value:g}")
    mine, theirs = rating_features([rating, opponent])
    return np.concatenate([[0.0], mine, theirs, [float(bullet)]])

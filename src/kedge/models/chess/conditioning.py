"""Who plays, as a network of kedge's own is told: ratings, and whether it is bullet."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.board.weights import Weights
from kedge.models.chess.encoding import CHESS

#: Ratings are told by how near they are to each of these.
KNOTS = np.arange(800.0, 2401.0, 200.0)
#: Rule 50 over 100, the mover's rating, the opponent's, bullet.
TOLD = 1 + 2 * len(KNOTS) + 1
_ONES = 111  # lc0's plane that is 1 all over the board


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


def takes_ratings(weights: Weights) -> bool:
    """Whether a network takes the players' ratings as input."""
    return bool(weights.arrays["input.weight"].shape[1] != weights.encoding.planes)


def for_players(
    weights: Weights,
    name: str,
    *,
    elo: float | None = None,
    opponent: float | None = None,
    bullet: bool = False,
) -> Weights:
    """A network that is told who plays, as one for a player of `elo` against `opponent` alone.

    Without them players are of 1500, and alike. One that is told nothing stays as it is; `name` is
    what it is called where it was to be told.

    A told number is a plane of that number all over the board, and lc0 has a plane of ones: what
    the input convolution makes of the one is, scaled, what it makes of the other. So the planes of
    who plays fold into it exactly, and what is left is a network of lc0's 112 planes.
    """
    if not takes_ratings(weights):
        if elo is not None or opponent is not None or bullet:
            raise InputError(f"{name} is told nothing of who plays")
        return weights
    elo = 1500.0 if elo is None else elo
    opponent = elo if opponent is None else opponent
    arrays = dict(weights.arrays)
    full = arrays["input.weight"].astype(np.float64)
    kernel, told = full[:, : CHESS.planes].copy(), full[:, CHESS.planes :]
    if told.shape[1] != TOLD:
        raise InputError(f"{name}: a network that is told {told.shape[1]} numbers, not {TOLD}")
    kernel[:, _ONES] += np.tensordot(who(elo, opponent, bullet), told, axes=(0, 1))
    kernel[:, CHESS.number_plane] = told[:, 0] / 100.0
    arrays["input.weight"] = kernel.astype(np.float32)
    return replace(weights, arrays=arrays, sha256=f"{weights.sha256}-{elo:g}-{opponent:g}-{bullet}")

"""The players as network inputs: both ratings, and whether the game is bullet."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.board.weights import Weights
from kedge.models.chess.encoding import CHESS

#: A rating is encoded by its distance to each of these ratings.
KNOTS = np.arange(800.0, 2401.0, 200.0)
#: Number of inputs: rule 50 over 100, the mover's rating, the opponent's, bullet.
TOLD = 1 + 2 * len(KNOTS) + 1
_ONES = 111  # lc0's plane of ones


def rating_features(ratings: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Encode ratings: 1 at a knot, falling to 0 at its neighbours; all 0 if unknown (0).

    >>> rating_features([1500])[0].tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    """
    array = np.asarray(ratings, np.float64)
    known = np.clip(array, KNOTS[0], KNOTS[-1])
    near = np.maximum(0.0, 1.0 - np.abs(known[:, None] - KNOTS) / (KNOTS[1] - KNOTS[0]))
    return np.where(array[:, None] > 0.0, near, 0.0)


def who(rating: float, opponent: float, bullet: bool = False) -> npt.NDArray[np.float64]:
    """The inputs for a game; rule 50, which depends on the position, stays 0."""
    for name, value in (("elo", rating), ("opponent", opponent)):
        if not 0.0 <= value < 10_000.0:
            raise InputError(f"{name}: a rating, or 0 if unknown, not {value:g}")
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
    """Fix the rating inputs of a network to a player of `elo` against `opponent`.

    `elo` defaults to 1500 and `opponent` to `elo`. A network without rating inputs is returned
    unchanged; `name` is used in errors.

    Each input is a constant plane, and lc0 has a plane of ones. The input convolution treats both
    alike, up to the scale. So the constant planes fold into that plane exactly, and the result is a
    network of lc0's 112 planes.
    """
    if not takes_ratings(weights):
        if elo is not None or opponent is not None or bullet:
            raise InputError(f"{name} does not take ratings; leave out elo, opponent and bullet")
        return weights
    elo = 1500.0 if elo is None else elo
    opponent = elo if opponent is None else opponent
    arrays = dict(weights.arrays)
    full = arrays["input.weight"].astype(np.float64)
    kernel, extra = full[:, : CHESS.planes].copy(), full[:, CHESS.planes :]
    if extra.shape[1] != TOLD:
        raise InputError(f"{name}: has {extra.shape[1]} rating inputs, expected {TOLD}")
    kernel[:, _ONES] += np.tensordot(who(elo, opponent, bullet), extra, axes=(0, 1))
    kernel[:, CHESS.number_plane] = extra[:, 0] / 100.0
    arrays["input.weight"] = kernel.astype(np.float32)
    return replace(weights, arrays=arrays, sha256=f"{weights.sha256}-{elo:g}-{opponent:g}-{bullet}")

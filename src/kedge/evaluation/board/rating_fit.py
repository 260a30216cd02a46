"""A player's rating, estimated from the likelihood of their moves at several ratings."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from kedge.regularize import Array

_STEP = 10.0  # between ratings that are compared
_DEGREE = 5  # of the curve through the log-likelihoods at the knots


class Fit(Protocol):
    """The rating that a player's moves look like: a number or a rank. Its text is for players."""

    @property
    def rating(self) -> float | str: ...
    @property
    def error(self) -> float: ...
    @property
    def moves(self) -> int:
        """Number of moves that it is estimated from."""
        ...

    @property
    def caveat(self) -> str:
        """What users should know about such estimates, in one sentence, or nothing."""
        ...


@dataclass(frozen=True)
class RatingFit:
    """The rating that a player's moves look like.

    The prior is uniform from the lowest to the highest knot.
    """

    rating: float
    """Mean of the posterior."""
    error: float
    """Standard deviation of the posterior."""
    likeliest: float
    """Rating of the greatest likelihood; farther out than the mean when moves are few."""
    moves: int

    caveat: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{round(self.rating, -1):.0f} ± {round(self.error, -1):.0f}"


def fit_rating(likelihoods: Array, knots: Array) -> RatingFit | None:
    """Fit a rating to moves with these log-likelihoods (moves, knots); None for no moves."""
    if not len(likelihoods):
        return None
    ratings = np.arange(knots[0], knots[-1] + _STEP, _STEP)
    curve = np.polynomial.Polynomial.fit(knots, likelihoods.sum(axis=0), _DEGREE)(ratings)
    weights = np.exp(curve - curve.max())
    weights /= weights.sum()
    mean = float(weights @ ratings)
    error = float(np.sqrt(weights @ (ratings - mean) ** 2))
    return RatingFit(mean, error, float(ratings[np.argmax(curve)]), len(likelihoods))


def played_likelihoods(
    policy: npt.NDArray[np.floating[Any]], legal: npt.NDArray[np.bool_], played: npt.ArrayLike
) -> Array:
    """Return the log-likelihoods (n) of the moves `played`, from logits (n, moves)."""
    logits = policy.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf, where=legal)
    total = np.exp(logits, out=np.zeros_like(logits), where=legal).sum(axis=1)
    likelihoods: Array = logits[np.arange(len(logits)), np.asarray(played)] - np.log(total)
    return likelihoods

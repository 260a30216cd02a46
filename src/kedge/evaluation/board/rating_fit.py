"""A player's rating, estimated from the likelihood of their moves at several ratings."""

from dataclasses import dataclass

import numpy as np

from kedge.regularize import Array

_STEP = 10.0  # between ratings that are compared
_DEGREE = 5  # of the curve through the log-likelihoods at the knots


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

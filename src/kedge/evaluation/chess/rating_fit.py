"""Whose play does this look like? A player's rating estimated from moves alone.

The shipped model says what people of a rating play. Told one rating after the other, it gives every
move a likelihood at each; what they say together is the estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.agents.board.networks import network
from kedge.models.board.backends import Network
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, chess_positions, encode_chess_positions
from kedge.regularize import Array

_STEP = 10.0
_DEGREE = 5  # of the curve through the log-likelihoods at the knots


@dataclass(frozen=True)
class RatingFit:
    """The rating that a player's moves look like: the mean of what is likely, if 800 to 2400 were
    equally likely before, and the standard deviation."""

    rating: float
    error: float
    likeliest: float
    """Where the likelihood is greatest; further off than the mean when moves are few."""
    moves: int


def rating_networks() -> list[Network]:
    """The shipped model for each of the ratings it is told by, both players alike."""
    return [network(f"chess(elo={rating:g})") for rating in KNOTS]


def move_likelihoods(game: ChessGame, networks: Sequence[Network]) -> Array:
    """The log-likelihood (moves, networks) of what was played, under each network."""
    rows = encode_chess_positions(list(chess_positions([game])))
    legal, moves = rows.legal_mask(), np.arange(len(game))
    found = np.empty((len(game), len(networks)))
    for column, one in enumerate(networks):
        logits = one.evaluate_packed(rows.planes, rows.rule50).policy.astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf, where=legal)
        total = np.exp(logits, out=np.zeros_like(logits), where=legal).sum(axis=1)
        found[:, column] = logits[moves, rows.played] - np.log(total)
    return found


def fit_rating(likelihoods: Array) -> RatingFit | None:
    """The rating that fits moves with these log-likelihoods at `KNOTS`; None for no moves."""
    if not len(likelihoods):
        return None
    ratings = np.arange(KNOTS[0], KNOTS[-1] + _STEP, _STEP)
    curve = np.polynomial.Polynomial.fit(KNOTS, likelihoods.sum(axis=0), _DEGREE)(ratings)
    weights = np.exp(curve - curve.max())
    weights /= weights.sum()
    mean = float(weights @ ratings)
    error = float(np.sqrt(weights @ (ratings - mean) ** 2))
    return RatingFit(mean, error, float(ratings[np.argmax(curve)]), len(likelihoods))

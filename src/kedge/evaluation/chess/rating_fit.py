"""A player's rating, estimated from moves alone.

The shipped model takes a rating as input and gives every move a likelihood at that rating. The
estimate combines the likelihoods of all moves at all ratings.
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
    """Rating estimated from a player's moves, with a uniform prior from 800 to 2400."""

    rating: float
    """Mean of the posterior."""
    error: float
    """Standard deviation of the posterior."""
    likeliest: float
    """Rating of greatest likelihood; with few moves it is more extreme than the mean."""
    moves: int


def rating_networks() -> list[Network]:
    """Return the shipped model for each of `KNOTS` as both players' rating."""
    return [network(f"chess(elo={rating:g})") for rating in KNOTS]


def move_likelihoods(game: ChessGame, networks: Sequence[Network]) -> Array:
    """Return the log-likelihoods (moves, networks) of the played moves."""
    rows = encode_chess_positions(list(chess_positions([game])))
    legal, moves = rows.legal_mask(), np.arange(len(game))
    likelihoods = np.empty((len(game), len(networks)))
    for column, each in enumerate(networks):
        logits = each.evaluate_packed(rows.planes, rows.rule50).policy.astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf, where=legal)
        total = np.exp(logits, out=np.zeros_like(logits), where=legal).sum(axis=1)
        likelihoods[:, column] = logits[moves, rows.played] - np.log(total)
    return likelihoods


def fit_rating(likelihoods: Array) -> RatingFit | None:
    """Fit a rating to moves with these log-likelihoods at `KNOTS`; None for no moves."""
    if not len(likelihoods):
        return None
    ratings = np.arange(KNOTS[0], KNOTS[-1] + _STEP, _STEP)
    curve = np.polynomial.Polynomial.fit(KNOTS, likelihoods.sum(axis=0), _DEGREE)(ratings)
    weights = np.exp(curve - curve.max())
    weights /= weights.sum()
    mean = float(weights @ ratings)
    error = float(np.sqrt(weights @ (ratings - mean) ** 2))
    return RatingFit(mean, error, float(ratings[np.argmax(curve)]), len(likelihoods))

"""Ratings of Diplomacy players, from the results of their games."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array

Player = TypeVar("Player", bound=Hashable)

_MOST_STEPS = 50  # of Newton's method, which takes about five
_CLOSE = 1e-12


def logit_ratings(
    players: Sequence[Sequence[Player]], scores: npt.ArrayLike, *, decay: float = 0.1
) -> dict[Player, float]:
    """Fit the logit ratings s of Gray et al., as their released code does.

    Gray et al., "Human-Level Performance in No-Press Diplomacy via Equilibrium Search" (ICLR 2021).
    Player i ends above player j of a game with probability exp(s_i) / (exp(s_i) + exp(s_j)); ties
    are left out. The fit minimises the mean of −log of this over all pairs, plus `decay` times the
    mean of s². So players with few games stay near 0.

    Parameters
    ----------
    players
        The players of each game.
    scores : (games, players)
        Scores of the players, such as shares by Sum of Squares; only their order counts.
    """
    if not decay > 0.0:
        raise InputError(f"decay: a number above 0, not {decay}")
    names = list(dict.fromkeys(name for game in players for name in game))
    number = {name: i for i, name in enumerate(names)}
    points = np.asarray(scores, np.float64)
    if points.ndim != 2 or [len(game) for game in players] != [points.shape[1]] * len(points):
        raise InputError("scores: expected shape (games, players)")
    seats = np.array([number[name] for game in players for name in game], np.int64)
    seats = seats.reshape(points.shape)
    games, above, below = np.nonzero(points[:, :, None] > points[:, None, :])
    ratings = _fit(seats[games, above], seats[games, below], len(names), decay)
    return dict(zip(names, ratings.tolist(), strict=True))


def pseudo_elo(ratings: Mapping[Player, float]) -> dict[Player, float]:
    """Return logit ratings on the scale of the paper: e = s · 400 / ln 10 + 1000.

    >>> pseudo_elo({"Ann": np.log(10), "Bob": 0.0})  # Ann ends above Bob ten times in eleven
    {'Ann': 1400.0, 'Bob': 1000.0}
    """
    return {name: float(s * 400.0 / np.log(10.0) + 1000.0) for name, s in ratings.items()}


def _fit(
    above: npt.NDArray[np.int64], below: npt.NDArray[np.int64], count: int, decay: float
) -> Array:
    """Minimise the loss, which is strictly convex, by Newton's method.

    It builds no matrix, because there may be tens of thousands of players.
    """
    pairs, pull = max(1, len(above)), 2.0 * decay / max(1, count)

    def each(weights: Array) -> Array:
        """Sum weights of pairs by player: plus for the upper, minus for the lower one."""
        return (np.bincount(above, weights, count) - np.bincount(below, weights, count)) / pairs

    def bent(v: Array, bend: Array) -> Array:
        return each(bend * (v[above] - v[below])) + pull * v

    s = np.zeros(count)
    for _ in range(_MOST_STEPS):
        upset = 1.0 / (1.0 + np.exp(s[above] - s[below]))
        gradient = pull * s - each(upset)
        if not np.abs(gradient).max(initial=0.0) > _CLOSE:
            break
        s = s - _solve(partial(bent, bend=upset * (1.0 - upset)), gradient)
    return s


def _solve(product: Callable[[Array], Array], right: Array) -> Array:
    """Solve product(x) = right by conjugate gradients."""
    x, rest = np.zeros_like(right), right.copy()
    way, square = rest.copy(), rest @ rest
    for _ in range(len(right)):
        if square <= _CLOSE**2:
            break
        image = product(way)
        length = square / (way @ image)
        x, rest = x + length * way, rest - length * image
        before, square = square, rest @ rest
        way = rest + square / before * way
    return x

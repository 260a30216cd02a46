"""Pseudo-Elo: ratings that games were made by come back."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.evaluation.diplomacy.pseudo_elo import logit_ratings, pseudo_elo


def played(ratings, games, rng):
    """Games of seven whose order of finish is Plackett's and Luce's: pairs are logistic."""
    seats = np.array([rng.permutation(len(ratings))[:7] for _ in range(games)])
    return seats, ratings[seats] + rng.gumbel(size=seats.shape)


def test_ratings_come_back():
    rng = np.random.default_rng(0)
    ratings = rng.normal(0.0, 0.8, 40)
    ratings -= ratings.mean()
    seats, scores = played(ratings, 4000, rng)
    found = logit_ratings(seats.tolist(), scores, decay=1e-4)
    off = np.array([found[i] for i in range(40)]) - ratings
    assert np.abs(off).max() < 0.15
    # Only the order counts, and names may be any.
    named = logit_ratings([[f"p{i}" for i in game] for game in seats], np.exp(scores), decay=1e-4)
    assert [named[f"p{i}"] for i in range(40)] == pytest.approx([found[i] for i in range(40)])


def test_two_players_by_hand():
    """At the minimum of log(1 + e^−2s) · 3/4 + log(1 + e^2s) / 4 + decay · s²."""
    found = logit_ratings([["Ann", "Bob"]] * 5, [[2, 1]] * 3 + [[0, 1], [4, 4]], decay=0.1)
    s = found["Ann"]
    assert found["Bob"] == pytest.approx(-s)
    slope = 2 * (1 / (1 + np.exp(-2 * s)) - 0.75) + 2 * 0.1 * s
    assert slope == pytest.approx(0.0, abs=1e-9)
    assert pseudo_elo(found)["Ann"] == pytest.approx(1000 + s * 400 / np.log(10))


def test_little_play_and_certain_results_stay_near_the_mean():
    found = logit_ratings([["Ann", "Bob", "Cy"]] * 50, [[3, 2, 2]] * 50)
    assert np.isfinite(list(found.values())).all()
    assert found["Ann"] > 0 > found["Bob"] == pytest.approx(found["Cy"])
    assert logit_ratings([["Ann", "Bob"]], [[1, 1]]) == {"Ann": 0.0, "Bob": 0.0}
    assert logit_ratings([], np.zeros((0, 7))) == {}


def test_bad_input():
    with pytest.raises(InputError, match="decay"):
        logit_ratings([["Ann", "Bob"]], [[1, 0]], decay=0.0)
    with pytest.raises(InputError, match="scores: expected shape"):
        logit_ratings([["Ann", "Bob"]], [[1, 0, 0]])

"""Estimating λ: known answers, coverage of the interval, the ends of the scale."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.evaluation.estimation import fit_lambda
from kedge.regularize import forward_kl


def play(rng, lam, observations, actions=5):
    q = rng.normal(size=(observations, actions))
    tau = rng.dirichlet(np.ones(actions), observations)
    policy = forward_kl(tau, q, lam)
    chosen = (policy.cumsum(axis=1) > rng.random((observations, 1))).argmax(axis=1)
    return chosen, tau, q


def test_closed_form():
    # Three times in four of two actions one apart: exp(1/λ) = 3.
    fit = fit_lambda([0, 0, 0, 1], [0.5, 0.5], [1.0, 0.0])
    assert fit.lam == pytest.approx(1 / np.log(3), rel=1e-9)
    assert fit.log_likelihood == pytest.approx(3 * np.log(0.75) + np.log(0.25))
    assert fit.anchor_log_likelihood == pytest.approx(4 * np.log(0.5))
    assert fit.standard_error == pytest.approx(1 / np.sqrt(4 * 0.75 * 0.25))


def test_interval_is_where_the_likelihood_ratio_says():
    fit = fit_lambda([0] * 30 + [1] * 10, [0.5, 0.5], [1.0, 0.0])
    for end in fit.interval:
        probability = forward_kl([0.5, 0.5], [1.0, 0.0], end)
        likelihood = 30 * np.log(probability[0]) + 10 * np.log(probability[1])
        assert 2 * (fit.log_likelihood - likelihood) == pytest.approx(3.841459, rel=1e-5)


@pytest.mark.parametrize("lam", [0.2, 1.0])
def test_interval_covers_as_often_as_it_says(lam):
    rng = np.random.default_rng(int(lam * 10))
    runs = 200
    covered = 0
    for _ in range(runs):
        low, high = fit_lambda(*play(rng, lam, 60), confidence=0.9).interval
        covered += low <= lam <= high
    assert abs(covered / runs - 0.9) < 0.065  # three standard errors


def test_consistent():
    fit = fit_lambda(*play(np.random.default_rng(1), 0.5, 20_000))
    assert fit.lam == pytest.approx(0.5, rel=0.05)
    assert fit.interval[0] < 0.5 < fit.interval[1]


def test_the_ends_of_the_scale():
    best = fit_lambda([0, 0, 0], [0.5, 0.5], [1.0, 0.0])
    assert best.lam == 0.0
    assert best.log_likelihood == 0.0
    assert best.interval[0] == 0.0
    worst = fit_lambda([1] * 20, [0.5, 0.5], [1.0, 0.0])
    assert worst.lam == np.inf
    assert worst.interval[1] == np.inf
    indifferent = fit_lambda([0, 1], [0.5, 0.5], [1.0, 1.0])
    assert indifferent.interval == (0.0, np.inf)


def test_units_scale_and_masks():
    chosen, tau, q = play(np.random.default_rng(2), 0.7, 300)
    plain = fit_lambda(chosen, tau, q)
    scaled = fit_lambda(chosen, tau, 1e6 * q + 3.0)
    assert scaled.lam == pytest.approx(1e6 * plain.lam)
    wide_tau = np.hstack([tau, np.zeros((300, 2))])
    wide_q = np.hstack([q, np.full((300, 2), np.nan)])
    assert fit_lambda(chosen, wide_tau, wide_q).lam == pytest.approx(plain.lam)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"actions": []}, "at least one"),
        ({"actions": [0.5]}, "whole numbers"),
        ({"actions": [2]}, "between 0 and 1"),
        ({"actions": [1], "anchors": [1.0, 0.0]}, "observation 0 has probability 0"),
        ({"anchors": [0.5, 0.6]}, "sums to 1.1"),
        ({"utilities": [0.0, np.inf]}, "finite"),
        ({"utilities": [0.0, 1.0, 2.0]}, "do not match"),
        ({"confidence": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_input(change, said):
    options = {"actions": [0, 1], "anchors": [0.5, 0.5], "utilities": [1.0, 0.0]} | change
    with pytest.raises(InputError, match=said):
        fit_lambda(**options)

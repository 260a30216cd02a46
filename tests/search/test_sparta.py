"""SPARTA in a game that is not Hanabi: arms of a bandit, in worlds that say what they pay."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.regularize import forward_kl, kl_divergence
from kedge.search.sparta import Budget, estimate, improved, lam_of_kl

MEANS = [np.array([0.0, 1.0, 0.5]), np.array([3.0, 2.9])]


class Bandits:
    """Luck is a world's, the same for all arms, and some is an arm's own."""

    def __init__(self):
        self.asked = []

    def __call__(self, decisions, actions, worlds):
        assert decisions.shape == actions.shape == worlds.shape
        self.asked += list(zip(decisions.tolist(), actions.tolist(), worlds.tolist(), strict=True))
        means = np.array([MEANS[d][a] for d, a in zip(decisions, actions, strict=True)])
        return means + 10.0 * np.cos(1.7 * worlds) + np.cos(actions + 2.3 * worlds)


def plain(decision, action, worlds):
    """The values of one arm, one after the other."""
    bandits = Bandits()
    return [
        float(bandits(np.array([decision]), np.array([action]), np.array([world]))[0])
        for world in range(worlds)
    ]


def test_an_even_budget_tries_all_moves_in_the_same_worlds():
    bandits = Bandits()
    found = estimate(bandits, [3, 2], Budget(100))
    assert [one.visits.tolist() for one in found] == [[33, 33, 33], [50, 50]]
    assert len(set(bandits.asked)) == len(bandits.asked) == 199
    for decision, one in enumerate(found):
        for action in range(len(one.q)):
            values = plain(decision, action, int(one.visits[action]))
            assert one.q[action] == pytest.approx(np.mean(values))
            error = np.std(values, ddof=1) / len(values) ** 0.5
            assert one.errors[action] == pytest.approx(error)
        assert one.q.argmax() == MEANS[decision].argmax()


def test_every_move_is_tried_though_the_budget_be_small():
    [found] = estimate(Bandits(), [3], Budget(2))
    assert found.visits.tolist() == [1, 1, 1]
    assert np.isinf(found.errors).all()


def test_ucb_gives_more_to_what_may_be_best():
    bandits = Bandits()
    few, _ = found = estimate(bandits, [3, 2], Budget(1000, "ucb"))
    assert [int(one.visits.sum()) for one in found] == [1000, 1000]
    assert few.visits.argmax() == 1
    assert few.visits.max() > 400
    assert few.visits.min() >= 83
    # Whatever a move's share, it is tried in the first worlds there are.
    for decision, one in enumerate(found):
        for action, visits in enumerate(one.visits.tolist()):
            worlds = sorted(w for d, a, w in bandits.asked if (d, a) == (decision, action))
            assert worlds == list(range(visits))
            assert one.q[action] == pytest.approx(np.mean(plain(decision, action, visits)))


def test_a_lead_is_counted_in():
    lead = [np.array([50.0, 0.0, -np.inf])]
    [found] = estimate(Bandits(), [3], Budget(600, "ucb"), lead)
    assert found.visits.argmax() == 0


@pytest.mark.parametrize("allocation", ["even", "ucb"])
def test_a_search_ends_once_the_best_is_clear(allocation):
    def far(decisions, actions, worlds):
        return 100.0 * actions + np.cos(worlds)

    [found] = estimate(far, [3], Budget(10_000, allocation, stop=3.0))
    assert found.visits.sum() == 3 * (10_000 // 12)
    [close] = estimate(lambda d, a, w: np.cos(w + a), [3], Budget(1200, allocation, stop=9.0))
    assert close.visits.sum() >= 1200


def test_the_policy_leaves_its_anchor_as_far_as_lambda_allows():
    anchor, q = np.array([0.6, 0.4, 0.0]), np.array([1.0, 1.5, 9.0])
    np.testing.assert_array_equal(improved(anchor, q, np.inf), anchor)
    expected = anchor * np.exp(q / 0.5)
    np.testing.assert_allclose(improved(anchor, q, 0.5), expected / expected.sum())
    assert improved(anchor, q, 0.0).tolist() == [0.0, 0.0, 1.0]
    assert improved(anchor, q, 0.0, threshold=8.0).tolist() == [1.0, 0.0, 0.0]
    assert improved(anchor, np.ones(3), 0.0).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("kl", [1e-6, 0.01, 0.3])
def test_lambda_from_a_distance(kl):
    anchor, q = np.array([0.6, 0.3, 0.1]), np.array([1.0, 1.5, 2.0])
    policy = forward_kl(anchor, q, lam_of_kl(anchor, q, kl))
    assert kl_divergence(policy, anchor) == pytest.approx(kl, rel=1e-6)
    assert lam_of_kl(anchor, q, 5.0) == 0.0  # further than any policy is
    assert lam_of_kl(anchor, np.ones(3), kl) == 0.0  # nothing to leave the anchor for


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"rollouts": 0}, "rollouts: a whole number from 1 to 1,000,000, not 0"),
        ({"rollouts": 1.5}, "rollouts: a whole number"),
        ({"allocation": "odd"}, "allocation: even or ucb, not odd"),
        ({"stop": -1.0}, "stop: a number of standard errors"),
    ],
)
def test_budgets_that_make_no_sense(options, line):
    with pytest.raises(InputError, match=line):
        Budget(**options)

"""The solvers against fixed points found by Newton's method, a convex solver and Gambit."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games.normal_form import (
    blotto,
    exploitability,
    matching_pennies,
    random_game,
    residual,
    rock_paper_scissors,
)
from kedge.search.regret import MMD, Constant, PiKLHedge, iterates, qre, solve


def cases(oracle):
    game = blotto(10, 3)
    for case in oracle("qre_small_games.json"):
        yield case, np.array(case["payoffs"])
    for case in oracle("blotto_10_3_qre.json"):
        yield case, game.payoffs


def is_unique(case):
    return "not unique" not in case["notes"]


def distance(policies, exact):
    return max(np.abs(p - q).max() for p, q in zip(policies, exact, strict=True))


def error(policies, case):
    return distance(policies, case["policy"])


def test_qre(oracle):
    for case, payoffs in cases(oracle):
        found = qre(payoffs, case["lambdas"], anchors=case["anchors"])
        assert found.residual < 1e-12, case["name"]
        if is_unique(case):
            assert error(found.policies, case) < 1e-8, (case["name"], case["lambdas"])


def test_mmd_with_its_own_step_size(oracle):
    for case, payoffs in cases(oracle):
        steps = iterates(
            payoffs,
            MMD(case["lambdas"]),
            anchors=case["anchors"],
            average="last",
            checkpoints=[1000, 10_000, 100_000, 1_000_000, 2_000_000, 3_000_000],
        )
        errors = (error(step.policies, case) for step in steps)
        assert any(one < 1e-6 for one in errors), (case["name"], case["lambdas"])


def test_pikl_hedge_average(oracle):
    for case, payoffs in cases(oracle):
        # In this one game of three players who chase each other, Algorithm 1 closes in as slowly
        # as T^-0.3 (it is 2.9e-3 away here); linear weighting gets there.
        slow = case["name"] == "matching_pennies_3p"
        algorithm = PiKLHedge(case["lambdas"], weighting="linear" if slow else "uniform")
        end = solve(payoffs, algorithm, 100_000, anchors=case["anchors"])
        if is_unique(case):
            assert error(end.policies, case) < 1e-3, (case["name"], case["lambdas"])


def test_convergence_is_no_slower_than_the_oracles(oracle):
    # Their starts differ from ours (the file does not tell them), so only the pace is compared.
    game = blotto(10, 3)
    for row in oracle("mmd_vs_pikl.json"):
        is_mmd = row["algorithm"] == "MMD"
        if is_mmd and row["max_abs_error"]["10000"] > 0.1:  # a step size that diverges
            continue
        eta = row["eta"]
        algorithm = MMD(row["lam"], eta) if is_mmd else PiKLHedge(row["lam"], Constant(eta))
        exact = qre(game, row["lam"]).policies
        steps = iterates(game, algorithm, checkpoints=map(int, row["max_abs_error"]))
        for step, seen in zip(steps, row["max_abs_error"].values(), strict=True):
            limit = seen if is_mmd else seen["last"]
            assert distance(step.current, exact) < 1.5 * limit + 1e-12
            if not is_mmd:
                assert distance(step.average, exact) < 1.5 * seen["average"]


def test_qre_without_oracles():
    game = matching_pennies()
    # Of symmetric matching pennies the equilibrium is known: uniform, at any λ.
    for lam in (0.01, 1.0, 100.0):
        for policy in qre(game, lam).policies:
            np.testing.assert_allclose(policy, [0.5, 0.5], atol=1e-12)
    np.testing.assert_array_equal(
        qre(game, np.inf, anchors=[[0.9, 0.1], [0.3, 0.7]]).policies, [[0.9, 0.1], [0.3, 0.7]]
    )


@pytest.mark.parametrize("seed", range(8))
def test_qre_on_random_games(seed):
    rng = np.random.default_rng(seed)
    players = int(rng.integers(1, 4))
    game = random_game(players, int(rng.integers(2, 6)), seed)
    anchors = [rng.dirichlet(np.ones(count)) for count in game.num_actions]
    lams = rng.uniform(0.05, 1.0, players)
    found = qre(game, lams, anchors=anchors)
    assert residual(game, found.policies, anchors, lams) < 1e-10


def test_qre_keeps_to_the_support():
    found = qre(rock_paper_scissors(), 0.1, anchors=[[0.5, 0.5, 0.0], [0.2, 0.4, 0.4]])
    assert found.policies[0][2] == 0.0
    assert found.residual < 1e-12


@pytest.mark.parametrize(
    ("lam", "anchors", "said"),
    [
        (0.0, None, "qre needs lambda > 0"),
        (-1.0, None, "at least 0"),
        (float("nan"), None, "at least 0"),
        ([1.0, 2.0, 3.0], None, "3 values for 2 players"),
        (1.0, [[0.5, 0.5]], "1 policy for 2 players"),
        (1.0, [[0.5, 0.5, 0.0], [0.5, 0.6, 0.0]], "anchor of player 1: sums to 1.1"),
        (1.0, [[0.5, 0.5], [0.5, 0.5, 0.0]], "anchor of player 0: shape"),
    ],
)
def test_bad_input(lam, anchors, said):
    game = rock_paper_scissors()
    with pytest.raises(InputError, match=said):
        qre(game, lam, anchors=anchors)
    if "qre" not in said:
        with pytest.raises(InputError, match=said):
            solve(game, PiKLHedge(lam), 10, anchors=anchors)


def test_qre_says_when_a_game_is_too_large():
    with pytest.raises(InputError, match="use mmd or pikl-hedge"):
        qre(np.zeros((2, 1500, 600)), 1.0)


def test_small_lambda_nears_nash():
    game = blotto(10, 3)
    assert exploitability(game, qre(game, 1e-4).policies) < 1e-4

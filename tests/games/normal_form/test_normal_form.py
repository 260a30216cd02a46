"""Payoff tensors, the library of games, and the measures."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.games import load_game, load_normal_form
from kedge.games.normal_form import (
    NormalFormGame,
    blotto,
    exploitability,
    kl_to_anchor,
    nash_conv,
    random_game,
    regrets,
    regularized_regrets,
    residual,
    rock_paper_scissors,
    values,
)
from kedge.search.regret import RegretMatching, solve


def uniform(game):
    return [np.full(count, 1.0 / count) for count in game.num_actions]


def test_blotto_is_the_oracles(oracle, shared):
    expected = oracle("blotto_10_3.json")
    game = blotto(10, 3)
    assert [name.split("-") for name in game.actions[0]] == [
        list(map(str, split)) for split in expected["actions"]
    ]
    text = "\n".join(",".join(str(int(x)) for x in row) for row in game.payoffs[0])

    csv = shared("oracles/blotto_10_3_matrix.csv").read_text()
    assert text.split() == csv.split()
    assert exploitability(game, uniform(game)) == pytest.approx(21 / 66, abs=1e-15)
    nash = expected["nash_strategy_lp"]
    assert exploitability(game, [nash, nash]) == pytest.approx(0.0, abs=1e-12)


def test_blotto_of_the_paper():
    game = blotto(10, 3)
    assert game.num_actions == (66, 66)
    assert exploitability(game, uniform(game)) == pytest.approx(21 / 66, abs=1e-15)
    assert nash_conv(game, uniform(game)) == pytest.approx(42 / 66, abs=1e-15)
    digest = hashlib.sha256(game.payoffs.astype(np.int8).tobytes()).hexdigest()
    assert digest.startswith("4f914c0da10d5611")


@pytest.mark.parametrize(("coins", "fields"), [(0, 1), (0, 3), (4, 1), (5, 2), (6, 4)])
def test_blotto_by_brute_force(coins, fields):
    game = blotto(coins, fields)
    splits = [tuple(map(int, name.split("-"))) for name in game.actions[0]]
    assert splits == sorted(set(splits))
    assert all(sum(split) == coins for split in splits)
    for r, mine in enumerate(splits):
        for c, theirs in enumerate(splits):
            won = sum(a > b for a, b in zip(mine, theirs, strict=True))
            lost = sum(a < b for a, b in zip(mine, theirs, strict=True))
            assert game.payoffs[0, r, c] == (won > lost) - (won < lost)
    np.testing.assert_array_equal(game.payoffs[1], -game.payoffs[0])


def test_openspiel_agrees():
    pytest.importorskip("pyspiel")
    ours, theirs = blotto(6, 3), load_game("openspiel:blotto(coins=6,fields=3)")
    np.testing.assert_array_equal(ours.payoffs, theirs.payoffs)
    rps = load_game("openspiel:matrix_rps")
    np.testing.assert_array_equal(rock_paper_scissors().payoffs, rps.payoffs)
    kuhn = load_game("openspiel:kuhn_poker")
    assert kuhn.num_actions == (64, 64)
    found = solve(kuhn, RegretMatching(plus=True), 5000, average="linear").policies
    assert exploitability(kuhn, found) < 1e-3
    assert values(kuhn, found)[0] == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("openspiel:kuhn_pokr", "did you mean kuhn_poker"),
        ("openspiel:leduc_poker", "too many|too large"),
        ("openspiel:chess", "too large"),
        ("openspiel:blotto(wings=3)", "openspiel:blotto"),
    ],
)
def test_openspiel_refuses_in_one_line(text, said, capfd):
    pytest.importorskip("pyspiel")
    with pytest.raises(InputError, match=said) as error:
        load_game(text)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


@settings(deadline=None)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
    single=st.booleans(),
)
def test_action_values_are_the_expectations(shape, seed, single):
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=(len(shape), *shape))
    payoffs = payoffs.astype(np.float32) if single else payoffs
    policies = [rng.dirichlet(np.ones(count)) for count in shape]
    game = NormalFormGame(payoffs)
    for i, found in enumerate(game.action_values(policies)):
        expected = payoffs[i].astype(float)
        for j in reversed(range(len(shape))):
            if j != i:
                expected = np.tensordot(expected, policies[j], axes=(j, 0))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    "shape", [(1500, 1400), (3, 700, 900), (2000, 7, 150), (2,) * 21, (5000, 300, 2), (70, 9000, 2)]
)
def test_large_tensors_do_not_depend_on_threads(shape):
    rng = np.random.default_rng(1)
    payoffs = rng.random((1, *shape)).astype(np.float32)
    payoffs = np.broadcast_to(payoffs, (len(shape), *shape)).copy()
    game = NormalFormGame(payoffs)
    policies = [rng.dirichlet(np.ones(count)) for count in shape]
    flat = np.concatenate(policies)
    found = [game._utilities.expected(0, flat, threads) for threads in (1, 2, 5)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    at = 0
    for i, count in enumerate(shape):
        tensor = payoffs[i].astype(float)
        for j in reversed(range(len(shape))):
            if j != i:
                tensor = np.tensordot(tensor, policies[j], axes=(j, 0))
        np.testing.assert_allclose(found[0][at : at + count], tensor, rtol=1e-9)
        at += count


def test_tensors_are_used_where_they_lie():
    payoffs = np.zeros((2, 30, 40))
    game = NormalFormGame(payoffs)
    assert game.payoffs is payoffs
    payoffs[0, 3, :] = 1.0  # seen by the native core, which holds no copy
    assert game.action_values([np.full(30, 1 / 30), np.full(40, 1 / 40)])[0][3] == pytest.approx(1)


def test_measures_at_the_equilibrium_of_rock_paper_scissors():
    game = rock_paper_scissors()
    anchors = [[0.5, 0.25, 0.25], [1 / 3] * 3]
    assert exploitability(game, uniform(game)) == 0.0
    assert values(game, uniform(game)) == pytest.approx([0.0, 0.0])
    assert regrets(game, [[1, 0, 0], [0, 0, 1]]) == pytest.approx([0.0, 2.0])
    assert kl_to_anchor(uniform(game), anchors) == pytest.approx([np.log(4 / 3) - np.log(2) / 3, 0])
    assert residual(game, uniform(game), uniform(game), 0.3) == pytest.approx(0.0, abs=1e-15)
    gaps = regularized_regrets(game, uniform(game), anchors, 0.5)
    assert gaps[0] > 0.0
    assert gaps[1] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("payoffs", "said"),
    [
        ([[1, 2], [3, 4]], "shape"),
        ([[[1, 2], [3]], [[1, 2], [3, 4]]], "rectangular"),
        ([[["a"]]], "numbers"),
        (np.zeros((2, 0, 3)), "no actions"),
        ([[[1.0, np.inf]], [[0.0, 0.0]]], "player 0 has a payoff that is not a finite"),
        ([[[1.0, 0.0]], [[0.0, np.nan]]], "player 1 has a payoff that is not a finite"),
    ],
)
def test_bad_payoffs(payoffs, said):
    with pytest.raises(InputError, match=said):
        NormalFormGame(payoffs)


@pytest.mark.parametrize(
    "text",
    [
        "blotto(coins=1000, fields=9)",
        "blotto(coins=-1)",
        "blotto(coins=2.5)",
        "random(actions=0)",
        "random(players=9, actions=99)",
        "matching-pennies(players=1)",
        "ches",
        "nowhere.nfg",
    ],
)
def test_bad_games(text):
    with pytest.raises(InputError) as error:
        load_game(text)
    assert "\n" not in str(error.value)


def test_only_normal_form_is_solved():
    with pytest.raises(InputError, match="chess: only games in normal form"):
        load_normal_form("chess")


def test_random_games_repeat():
    np.testing.assert_array_equal(random_game(2, 3, 5).payoffs, random_game(2, 3, 5).payoffs)

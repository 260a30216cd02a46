"""Fitting what games of Hanabi come to."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.model import UniformBlueprint
from kedge.training.hanabi import value as hanabi_value
from kedge.training.hanabi.value import fit

GAME = Hanabi(bomb="stack")


class Telling(UniformBlueprint):
    """Makes any move, and says what was built, and something that tells nothing."""

    def product(self, games, memory):
        told = [games.scores(), 7 * np.arange(len(games)) % 5]
        return np.stack(told, 1).astype(np.float32)


ANY = Telling(len(GAME.moves))


def test_a_value_is_the_ridge_regression_of_scores(monkeypatch):
    monkeypatch.setattr(hanabi_value, "_AT_ONCE", 30)  # so that games come in parts
    value, _ = fit(ANY, GAME, 100, np.random.default_rng(0), greedy=False)
    parts = list(hanabi_value._self_play(ANY, GAME, 80, np.random.default_rng(0), greedy=False))
    assert len(parts) == 3
    x = np.concatenate([part.products for part in parts])
    y = np.concatenate([part.scores for part in parts])
    # A penalty is a row more that says 0.
    rows = np.block([[x, np.ones((len(x), 1))], [np.eye(2, 3) * hanabi_value._RIDGE**0.5]])
    *weight, bias = np.linalg.lstsq(rows, np.append(y, [0.0, 0.0]), rcond=None)[0]
    np.testing.assert_allclose(value.weight, weight, atol=1e-5)
    assert value.bias == pytest.approx(bias)
    assert (value.bomb, value.greedy) == ("stack", False)
    assert value.weight[0] > 0.5
    assert abs(value.weight[1]) < 0.1


def test_it_is_told_how_much_a_value_explains():
    """The more, the later: what was built is then nearly the score."""
    value, found = fit(ANY, GAME, 1000, np.random.default_rng(1), greedy=False)
    early, late, *_ = found
    assert -0.1 < early.r2 < late.r2 < 1.0
    assert 1500 < early.positions < 2000  # up to ten moves of two hundred games
    [watched] = hanabi_value._self_play(ANY, GAME, 200, np.random.default_rng(2), greedy=False)
    [again, *_] = hanabi_value._explained(value, [watched])
    first = watched.moves < 10
    correlation = np.corrcoef(value.of(watched.products[first]), watched.scores[first])[0, 1]
    assert again.r2 <= correlation**2 + 1e-9  # the best that any line could do


def test_games_that_are_all_alike_have_no_variance_to_explain():
    value, found = fit(ANY, Hanabi(life_tokens=1), 20, np.random.default_rng(0), greedy=True)
    assert value.bomb == "zero"
    assert all(np.isnan(part.r2) for part in found)


def test_too_few_games_are_refused():
    with pytest.raises(InputError, match="games: at least 5, not 4"):
        fit(ANY, GAME, 4, np.random.default_rng(0), greedy=False)

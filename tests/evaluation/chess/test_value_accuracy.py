"""A model's values beside an engine's evaluations."""

import math

import numpy as np
import pytest
from chess_games import recorded

from kedge.agents.board.networks import network
from kedge.evaluation.chess.value_accuracy import value_accuracy
from kedge.models.board.backends import Evaluation
from kedge.records.chess.evals import MATE, expected_score

# Knights out and back: ten half-moves of opening, and eight more.
MOVES = " ".join(("g1f3", "g8f6", "f3g1", "f6g8")[ply % 4] for ply in range(18))
# Black blunders at ply 13, White at 16; the evaluation before ply 12 is unknown.
EVALS = np.array([0.0] * 9 + [10, 20, np.nan, 18, 300, 290, 310, -200, MATE - 2], np.float32)


class Values:
    """A network that returns prepared values, for the side to move."""

    def __init__(self, values):
        self.values = list(values)

    def evaluate_packed(self, masks, numbers):
        value, self.values = self.values[: len(masks)], self.values[len(masks) :]
        assert len(value) == len(masks) == len(numbers)
        return Evaluation(np.zeros((len(masks), 1)), np.array(value, np.float32), None)


def by_evals(game):
    """The evaluation's value of each position after the opening; 0 where it is unknown."""
    values = np.nan_to_num(2.0 * expected_score(game.evals_before()[10:]) - 1.0)
    return np.where(np.arange(len(values)) % 2 == game.mover(10), values, -values)


def test_equal_values_have_correlation_one():
    game = recorded(MOVES, evals=EVALS)
    games = [game, recorded(MOVES), game]
    accuracy = value_accuracy(games, Values([*by_evals(game)] * 2))
    assert (accuracy.positions, accuracy.moves, accuracy.blunders) == (14, 10, 4)
    assert accuracy.correlation == pytest.approx(1.0)
    assert accuracy.change_correlation == pytest.approx(1.0)
    assert accuracy.error == pytest.approx(0.0, abs=1e-6)
    assert (accuracy.blunders_seen, accuracy.ranked) == (1.0, 1.0)
    assert accuracy.others_seen == pytest.approx(2 / 3)


def test_opposite_values_have_correlation_minus_one():
    game = recorded(MOVES, evals=EVALS)
    accuracy = value_accuracy([game], Values(-by_evals(game)))
    assert accuracy.correlation == pytest.approx(-1.0)
    assert accuracy.change_correlation == pytest.approx(-1.0)
    assert (accuracy.blunders_seen, accuracy.ranked) == (0.0, 0.0)
    assert accuracy.error > 0.1


def test_nothing_to_compare():
    for games in ([], [recorded(MOVES)], [recorded("e2e4", evals=EVALS[:1])]):
        accuracy = value_accuracy(games, Values([]))
        assert (accuracy.positions, accuracy.moves, accuracy.blunders) == (0, 0, 0)
        assert math.isnan(accuracy.correlation)
        assert math.isnan(accuracy.error)
        assert math.isnan(accuracy.ranked)


def test_a_bias_for_the_side_to_move_does_not_change_the_order():
    game = recorded(MOVES, evals=EVALS)
    accuracy = value_accuracy([game], Values(by_evals(game) - 0.3))
    assert accuracy.others_seen == 0.0
    assert accuracy.ranked == 1.0
    assert accuracy.change_correlation == pytest.approx(1.0)


def test_the_shipped_model_sees_a_lost_queen():
    moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5 e1g1 e8g8 c1g5 h7h6 g5f6 d8f6 b1c3 f6f3 d1f3"
    evals = np.array([20.0] * 15 + [900.0, 900.0], np.float32)
    accuracy = value_accuracy([recorded(moves, evals=evals)], network("chess"))
    assert (accuracy.blunders, accuracy.blunders_seen) == (1, 1.0)

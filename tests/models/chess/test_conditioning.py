"""Players as inputs of chess networks."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.models.board import plain
from kedge.models.board.conditioning import for_players, takes_players
from kedge.models.board.weights import make_weights
from kedge.models.chess.conditioning import (
    FIDE,
    ONLINE,
    RATED,
    TIMED,
    ChessPlayers,
    player_features,
)
from kedge.models.chess.encoding import CHESS

UNKNOWN = np.nan


def test_each_rating_is_encoded_by_its_neighbours():
    rows = player_features([0, 100, 1500, 1600, 9000], [0] * 5, [1] * 5, [0] * 5, [UNKNOWN] * 5)
    online = rows[:, : len(ONLINE)]
    assert online.sum(axis=1).tolist() == [0, 1, 1, 1, 1]
    assert online[2][online[2] > 0].tolist() == [0.5, 0.5]
    assert not rows[:, len(ONLINE) : len(ONLINE) + len(FIDE)].any()


def test_ratings_of_fide_are_another_scale():
    online, over_the_board = player_features(
        [2400, 2400], [2500, 2500], [1, 3], [0, 0], [UNKNOWN] * 2
    )
    assert not (online[: RATED - 3] * over_the_board[: RATED - 3]).any()


def test_unknown_is_an_input_of_its_own():
    nobody = player_features([0], [0], [0], [0], [UNKNOWN])
    assert nobody.shape == (1, RATED + TIMED)
    assert not nobody.any()
    known = player_features([0], [0], [0], [0], [0.0])
    assert known.sum() == 1  # no time left is known


def network(planes, extra):
    """A random network of one block, with `extra` arrays."""
    rng = np.random.default_rng(0)
    shapes = {
        "input": (8, planes, 3, 3), "blocks.0.conv1": (8, 8, 3, 3), "blocks.0.conv2": (8, 8, 3, 3),
        "blocks.0.se.fc1": (2, 8), "blocks.0.se.fc2": (16, 2), "policy.conv1": (8, 8, 3, 3),
        "policy.conv2": (80, 8, 3, 3), "value.conv": (2, 8, 1, 1), "value.fc1": (4, 128),
        "value.fc2": (3, 4),
    }  # fmt: skip
    arrays = {f"{name}.weight": rng.normal(0, 0.2, shape) for name, shape in shapes.items()}
    arrays |= {f"{name}.bias": rng.normal(0, 0.2, shape[0]) for name, shape in shapes.items()}
    arrays |= {name: rng.normal(0, 0.2, shape) for name, shape in extra.items()}
    return make_weights({k: a.astype(np.float32) for k, a in arrays.items()}, "random", CHESS)


def test_players_change_every_block():
    count = ChessPlayers.count
    weights = network(112, {"who.weight": (8, count), "blocks.0.who.weight": (16, count)})
    planes = np.random.default_rng(1).integers(2, size=(2, *CHESS.shape))
    alone = for_players(weights, "mine", elo=1700, speed="blitz")
    assert not takes_players(alone)
    assert alone.sha256 != for_players(weights, "mine", elo=1700).sha256
    numbers = ChessPlayers().numbers(elo=1700, speed="blitz")
    arrays = {k: a for k, a in weights.arrays.items() if "who" not in k}
    arrays["input.bias"] = arrays["input.bias"] + weights.arrays["who.weight"] @ numbers
    shift = weights.arrays["blocks.0.who.weight"] @ numbers
    arrays["blocks.0.se.fc2.bias"] = arrays["blocks.0.se.fc2.bias"] + shift
    expected = plain.forward(make_weights(arrays, "folded", CHESS), planes)
    np.testing.assert_allclose(plain.forward(alone, planes).policy, expected.policy, atol=1e-5)


@pytest.mark.parametrize("bullet", [False, True])
def test_models_with_constant_planes_are_still_read(bullet):
    """Until the players became biases they were constant planes, of rule 50 and 19 numbers."""
    weights = network(112 + 20, {})
    assert takes_players(weights)
    planes = np.random.default_rng(1).integers(2, size=(1, *CHESS.shape)).astype(float)
    planes[:, 111] = 1.0  # lc0's plane of ones
    planes[:, CHESS.number_plane] = 30.0
    players = np.zeros(20)
    players[[0, 1 + 2, 1 + 9 + 3, 1 + 9 + 4, 19]] = 0.3, 1.0, 0.5, 0.5, bullet
    constant = np.broadcast_to(players[:, None, None], (20, 8, 8))
    without = planes.copy()
    without[:, CHESS.number_plane] = 0.0
    expected = plain.forward(weights, np.concatenate([without, constant[None]], axis=1))
    speed = {"speed": "bullet"} if bullet else {}
    alone = for_players(weights, "old", elo=1200, opponent=1500, **speed)
    np.testing.assert_allclose(plain.forward(alone, planes).policy, expected.policy, atol=1e-4)
    with pytest.raises(InputError, match="old does not take clock; it takes elo, opponent, speed"):
        for_players(weights, "old", clock=30)


@pytest.mark.parametrize("elo", [1, 99, 4001, 5000, 9_999_999, -5, "high", True])
def test_what_is_no_rating_is_an_error_with_the_range(elo):
    said = "elo: a rating from 100 to 4000, or 0 if unknown, not .*; the model tells ratings from"
    with pytest.raises(InputError, match=f"{said} 600 to 2800 apart"):
        ChessPlayers().numbers(elo=elo)
    with pytest.raises(InputError, match=f"{said} 1800 to 2800 apart"):
        ChessPlayers().numbers(elo=elo, scale="fide")
    with pytest.raises(InputError, match="opponent: a rating from 100 to 4000"):
        ChessPlayers().numbers(opponent=elo)


def test_ratings_beyond_the_models_play_as_its_ends():
    for scale, low, high in (("lichess", 600, 2800), ("fide", 1800, 2800)):
        for elo, end in ((100, low), (4000, high)):
            here, there = (ChessPlayers().numbers(elo=each, scale=scale) for each in (elo, end))
            np.testing.assert_array_equal(here, there)

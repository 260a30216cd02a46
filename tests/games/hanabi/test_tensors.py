"""Hanabi as tensors, beside the native rules: the same games, step by step."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.games.hanabi import Hanabi  # noqa: E402
from kedge.games.hanabi.tensors import TensorGames, TensorRules  # noqa: E402
from kedge.models.hanabi.model import legal_moves  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")

# Parameters, and how many games are played: some forty steps each.
GAMES = [
    ({}, 150),
    ({"players": 3, "bomb": "stack"}, 150),
    ({"players": 4}, 100),
    ({"players": 5}, 100),
    ({"colors": 2, "hand_size": 2, "information_tokens": 3}, 100),
    ({"players": 3, "colors": 3, "ranks": 4, "hand_size": 6, "life_tokens": 1}, 100),
    ({"players": 5, "hand_size": 8, "information_tokens": 32, "life_tokens": 32}, 30),
    ({"players": 4, "ranks": 2, "hand_size": 3, "information_tokens": 0}, 100),
    ({"colors": 1, "ranks": 1, "hand_size": 1}, 10),
]


def encoded(game, games, view, beliefs):
    rows = np.empty((len(games), game.num_features(view)), np.float32)
    games.encode(rows, view, None, beliefs)
    return torch.from_numpy(rows)


def assert_same(game, games, tensors):
    legal = torch.from_numpy(legal_moves(games, len(game.moves)))
    assert tensors.legal_actions().equal(legal)
    assert tensors.is_over().equal(~legal.any(1))
    assert tensors.scores().tolist() == games.scores().tolist()
    for view in ("full", "private", "public"):
        assert tensors.encode(view).equal(encoded(game, games, view, False))
    weighed = encoded(game, games, "private", True)
    assert tensors.encode(beliefs=True).equal(weighed)
    assert tensors.encode(beliefs=True, dtype=torch.bfloat16).equal(weighed.bfloat16())


def cautious(game, games, rng):
    """Plays what fits, and else nothing, so that stacks are finished and decks run out."""
    held = np.take_along_axis(games.hands(), games.next_players()[:, None, None].astype(int), 1)
    colour, rank = np.divmod(held[:, 0], game.ranks)
    fits = np.take_along_axis(games.fireworks(), np.maximum(colour, 0).astype(int), 1) == rank
    legal = legal_moves(games, len(game.moves))
    wanted = legal * rng.random(legal.shape)
    plays = slice(game.hand_size, 2 * game.hand_size)
    wanted[:, plays] += legal[:, plays] * (2.0 * (fits & (held[:, 0] >= 0)) - 0.99)
    return np.where(legal.any(1), np.where(legal, wanted, -1.0).argmax(1), -1)


@pytest.mark.parametrize(("parameters", "count"), GAMES)
def test_plays_as_the_native_games(parameters, count):
    """From the deal on, half of the games at random; some wait a turn, and are copied again."""
    game, rng = Hanabi(**parameters), np.random.default_rng(count)
    rules = TensorRules(game)
    games = game.deal(count, rng)
    tensors = TensorGames.of(rules, games)
    turn = 0
    while len(games):
        assert_same(game, games, tensors)
        actions = np.where(
            np.arange(len(games)) % 2, cautious(game, games, rng), games.random_actions(turn)
        )
        actions[rng.random(len(games)) < 0.1] = -1
        games.step(actions)
        tensors.step(torch.from_numpy(actions))
        turn += 1
        if turn % 10 == 0:
            assert_same(game, games, TensorGames.of(rules, games))
            left = rng.permutation(np.flatnonzero(games.current_players() >= 0))
            games, tensors = games.take(left), tensors.take(torch.from_numpy(left))


def test_goes_on_from_hands_that_were_supposed():
    game, rng = Hanabi(), np.random.default_rng(0)
    games = game.deal(50, rng)
    for turn in range(6):
        games.step(games.random_actions(turn))
    which, seats = np.arange(50), games.next_players().astype(np.int64)
    own = games.hands()[which, seats].astype(np.uint8)
    games = games.redealt(which, seats, own, which.astype(np.uint64))
    tensors = TensorGames.of(TensorRules(game), games)
    for turn in range(40):
        actions = games.random_actions(turn)
        games.step(actions)
        tensors.step(torch.from_numpy(actions))
    assert_same(game, games, tensors)


def test_nothing_moves_a_game_that_is_over():
    game = Hanabi(life_tokens=1)
    games = game.deal(200, np.random.default_rng(0))
    for turn in range(90):
        games.step(games.random_actions(turn))
    tensors = TensorGames.of(TensorRules(game), games)
    tensors.step(torch.full((200,), 7))
    assert_same(game, games, tensors)


def test_torch_takes_a_turn_for_one_graph():
    """So nothing in it waits for the device, and it can be compiled or captured."""
    game = Hanabi()
    tensors = TensorGames.of(TensorRules(game), game.deal(3, np.random.default_rng(0)))

    def turn(tensors):
        seen = tensors.encode(beliefs=True)
        tensors.step(tensors.legal_actions().int().argmax(1))
        return seen

    alike = tensors.take(torch.arange(3))
    seen = torch.compile(turn, backend="eager", fullgraph=True)(tensors)
    assert seen.equal(turn(alike))
    assert tensors.encode().equal(alike.encode())

"""Games of Hanabi played out as tensors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.games.hanabi import Hanabi  # noqa: E402
from kedge.games.hanabi.tensors import TensorGames, TensorRules  # noqa: E402
from kedge.models.hanabi.model import UniformBlueprint  # noqa: E402
from kedge.models.hanabi.playouts import play_out  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def evenly(game):
    def evaluate(private, public, memory):
        assert private.shape[1:] == (game.num_features(),)
        assert public.shape[1:] == (game.num_features("public"),)
        return torch.zeros(len(private), len(game.moves)), memory

    return evaluate


def tensors_of(game, games):
    return TensorGames.of(TensorRules(game), games)


def test_random_play_scores_as_the_native_games_do():
    game, rng = Hanabi(bomb="stack"), np.random.default_rng(0)
    games = game.deal(4000, rng)
    generator = torch.Generator().manual_seed(0)
    ours = play_out(tensors_of(game, games), evenly(game), (), generator).numpy()
    blueprint = UniformBlueprint(len(game.moves))
    theirs = blueprint.play_out(games, (), rng, greedy=False)
    error = np.hypot(ours.std(), theirs.std()) / np.sqrt(4000)
    assert abs(ours.mean() - theirs.mean()) < 4 * error


def test_the_likeliest_moves_are_those_of_the_native_games():
    """Scores come back in their order, also of games that were over before."""
    game = Hanabi(players=3, bomb="stack")
    games = game.deal(300, np.random.default_rng(1))
    for turn in range(20):
        games.step(games.random_actions(turn))
    likes = torch.rand(len(game.moves), generator=torch.Generator().manual_seed(1))
    scores = play_out(
        tensors_of(game, games), lambda seen, _, memory: (likes.repeat(len(seen), 1), memory), (),
        greedy=True,
    )  # fmt: skip
    order = np.argsort(-likes.numpy())
    while (games.current_players() >= 0).any():
        legal = games.legal_actions()[:, np.newaxis] >> order.astype(np.uint64) & np.uint64(1)
        games.step(np.where(legal.any(1), order[legal.argmax(1)], -1))
    assert scores.tolist() == games.scores().tolist()


def test_each_game_keeps_its_memory():
    """A player that remembers to be careful never plays, and scores nothing."""
    game = Hanabi(bomb="stack")
    careful = torch.arange(600) % 3 == 0
    is_play = torch.tensor([move.kind == "play" for move in game.moves])

    def evaluate(private, public, memory):
        return -1e9 * (memory[0][:, None] & is_play), memory

    games = game.deal(600, np.random.default_rng(2))
    scores = play_out(tensors_of(game, games), evaluate, (careful,), torch.Generator())
    assert not scores[careful].any()
    assert scores[~careful].float().mean() > 1

"""Models that teach a model of Hanabi: what they predict together, the games that they play, and
what is learned from both."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import kedge
from made_hanabi import made_game

torch = pytest.importorskip("torch")

from kedge.agents.hanabi.models import blueprint_of  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.games.hanabi import Hanabi  # noqa: E402
from kedge.models.hanabi.torch_network import PolicyModule  # noqa: E402
from kedge.records import write_hanabi_games  # noqa: E402
from kedge.records.hanabi.games import part_of  # noqa: E402
from kedge.records.splits import CHOOSE, LEARN  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402
from kedge.training.hanabi import policy, teachers  # noqa: E402
from kedge.training.hanabi.policy import HanabiRecipe, HanabiTrainer, initial_network, taught_games  # noqa: E402
from kedge.training.hanabi.teachers import Teachers  # noqa: E402

GAME = Hanabi()
CPU = Rank(torch.device("cpu"))
RECIPE = HanabiRecipe(
    width=16, dropout=0.0, steps=40, batch=16, warmup=5, learning_rate=1e-2, average=0.8,
    teacher_weight=1.0,
)  # fmt: skip


def model(seed, likes=None, game=GAME):
    """A random model; it almost always takes one of the actions that it `likes`, if it can."""
    torch.manual_seed(seed)
    module = PolicyModule(game, 16)
    with torch.no_grad():
        if likes is not None:
            module.action.bias[likes] += 20.0
    return module.weights(f"model {seed} {likes} of {game}")


DISCARDS, PLAYS, HINTS = slice(0, 5), slice(5, 10), slice(10, 20)


@pytest.fixture(scope="module")
def games():
    return [made_game(number) for number in range(50)]


def test_teachers_predict_the_mean_of_what_they_predict_as_players(games):
    both = [model(1, HINTS), model(2, DISCARDS)]
    positions = taught_games(games[:8], "all", CPU.device)
    batch = positions.batch(torch.arange(8))
    found = Teachers(both, CPU.device).policy(batch.seen, batch.predicted, batch.legal)
    expected = []
    players = [blueprint_of(weights) for weights in both]
    memories = [player.begin(8) for player in players]
    for now in positions.games.plies():
        memories = [p.observe(now, m) for p, m in zip(players, memories, strict=True)]
        policies = [p.policy(now, m) for p, m in zip(players, memories, strict=True)]
        expected.append(np.mean(policies, 0))
    np.testing.assert_allclose(found.numpy(), np.concatenate(expected), atol=0.02)
    one = Teachers(both[:1], CPU.device).policy(batch.seen, batch.predicted, batch.legal)
    assert (one - found).abs().max() > 0.1


@pytest.mark.parametrize(("share", "learns"), [(0.0, True), (1.0, False)])
def test_the_share_of_the_teachers_is_not_that_of_people(games, share, learns):
    """From a teacher that discards, nobody learns that people tell the newest card's rank."""
    recipe = replace(RECIPE, teacher_weight=share)
    together = Teachers([model(1, DISCARDS)], CPU.device)
    trainer = HanabiTrainer(initial_network(recipe, GAME), recipe, CPU, together)
    positions = taught_games(games, "people", CPU.device)
    first, *_, last = trainer.run(positions, report_every=20)
    assert last["loss"] < 0.9 * first["loss"]
    assert (trainer.evaluate(positions).top1 > 0.3) == learns


def test_the_moves_that_teachers_draw_are_not_learned(games):
    """What they predict is, whatever their share in recorded games."""
    positions = taught_games(games[:4], "people", CPU.device)
    drawn = positions.games.take(np.arange(4))
    mixed = positions.with_synthetic(drawn)
    assert len(mixed) == 8
    assert (mixed.predicted[:4] == positions.predicted).all()
    assert mixed.predicted[4:].all()
    batch = mixed.batch(torch.arange(8))
    assert batch.synthetic.sum() == 4 * 12
    recipe = replace(RECIPE, teacher_weight=0.0)
    trainer = HanabiTrainer(
        initial_network(recipe, GAME), recipe, CPU, Teachers([model(1)], CPU.device)
    )
    one_more = torch.where(batch.synthetic, batch.legal.int().argmax(1), batch.chosen)
    assert not torch.equal(one_more, batch.chosen)
    assert trainer.loss(batch)[0] == trainer.loss(batch._replace(chosen=one_more))[0]
    other = HanabiTrainer(trainer.network, recipe, CPU, Teachers([model(2)], CPU.device))
    assert trainer.loss(batch)[0] != other.loss(batch)[0]


def test_each_teacher_plays_its_share_by_the_rules():
    both = [model(1, PLAYS), model(2, HINTS)]
    games = teachers.play(both, GAME, 7, 0, CPU.device)
    assert len(games) == 7
    plays = (games.actions >= 5) & (games.actions < 10)
    assert plays[:4, :2].all()
    assert (games.actions[4:, :2] >= 10).all()
    *_, last = games.plies()  # which have stepped on when there are no more
    assert (last.legal_actions() == 0).all()


def test_most_moves_of_a_teacher_are_its_likeliest():
    played = teachers.play([model(1)], GAME, 20, 0, CPU.device)
    player = blueprint_of(model(1))
    memory, likeliest = player.begin(20), []
    for now in played.plies():
        memory = player.observe(now, memory)
        likeliest.append(player.policy(now, memory).argmax(1))
    made = played.actions.T
    assert 0.7 < (np.stack(likeliest) == made)[made >= 0].mean() < 0.9


def test_synthetic_games_are_played_once(tmp_path, monkeypatch):
    path, one = tmp_path / "synthetic.npz", [model(1)]
    played = teachers.played_once(one, GAME, 6, 0, path, CPU)
    other = teachers.played_once(one, GAME, 6, 1, path, CPU)
    assert not (other.decks == played.decks).all()
    monkeypatch.setattr(teachers, "self_play", None)
    again = teachers.played_once(one, GAME, 6, 1, path, CPU)
    assert (again.decks == other.decks).all()
    assert (again.actions == other.actions).all()
    for models, count in ([model(2)], 6), (one, 7):
        with pytest.raises(TypeError):  # there is nothing to play with
            teachers.played_once(models, GAME, count, 1, path, CPU)
    path.write_bytes(b"no games")
    with pytest.raises(InputError, match=r"synthetic\.npz: not a file of games that kedge wrote"):
        teachers.played_once(one, GAME, 6, 1, path, CPU)


def test_synthetic_games_are_only_learned(games, tmp_path):
    recipe = replace(RECIPE, steps=2, synthetic=9)
    list(policy.train(games, tmp_path, recipe, rank=CPU, teachers=[model(1)]))
    told = json.loads((tmp_path / "metrics.json").read_text())
    parts = [part_of(game) for game in games]
    assert told["learned"] == parts.count(LEARN) + 9
    assert told["metrics"]["positions"] == 6 * parts.count(CHOOSE)
    assert told["stages"][0]["synthetic"] == 9


@pytest.mark.parametrize(
    ("settings", "models", "said"),
    [
        ({"teacher_weight": 0.5}, {}, "need a teacher; add --teacher"),
        ({"synthetic": 5}, {}, "need a teacher; add --teacher"),
        ({}, {"teachers": [model(1)]}, "a teacher needs -s teacher_weight=0.9, or synthetic games"),
        (
            {"teacher_weight": 0.5},
            {"teachers": [model(1, game=Hanabi(players=3))]},
            r"plays hanabi\(players=3.*, the games are hanabi\(players=2",
        ),
    ],
)
def test_what_has_no_effect_is_refused(games, tmp_path, settings, models, said):
    recipe = replace(RECIPE, teacher_weight=0.0)
    with pytest.raises(InputError, match=said):
        policy.train(games, tmp_path, replace(recipe, **settings), rank=CPU, **models)


def test_the_command(games, tmp_path):
    write_hanabi_games(games, tmp_path / "games.jsonl")
    file = tmp_path / "teacher.onnx"
    file.write_bytes(policy.exported(initial_network(RECIPE, GAME)).SerializeToString())
    done = kedge(
        "train", "hanabi", tmp_path / "games.jsonl", "--folder", tmp_path / "student",
        "--begin-as", file, "--teacher", file, "--teacher", file,
        "--synthetic", 4, "-s", "teacher_weight=0.9", "-s", "width=16", "-s", "steps=2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "student" / "metrics.json").read_text())
    assert (told["stages"][0]["synthetic"], told["stages"][0]["teacher_weight"]) == (4, 0.9)
    assert (tmp_path / "student" / "synthetic.npz").exists()

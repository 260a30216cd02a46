"""Training Hanabi's networks in small: whose moves are learned, in which colours, and on whose
games; they learn, and go on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import kedge
from made_hanabi import made_game

torch = pytest.importorskip("torch")

from kedge.errors import InputError  # noqa: E402
from kedge.games.hanabi import Hanabi  # noqa: E402
from kedge.models.hanabi.model import UniformBlueprint, legal_moves  # noqa: E402
from kedge.models.weight_files import read_model  # noqa: E402
from kedge.records import write_hanabi_games  # noqa: E402
from kedge.records.hanabi.games import HanabiGame, part_of  # noqa: E402
from kedge.records.splits import CHOOSE, LEARN, TEST  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402
from kedge.training.hanabi import belief, policy  # noqa: E402
from kedge.training.hanabi.belief import BeliefRecipe, SeenGames, SelfPlayGames  # noqa: E402
from kedge.training.hanabi.games import pack_games, self_play  # noqa: E402
from kedge.training.hanabi.policy import HanabiRecipe, HanabiTrainer, initial_network, taught_games  # noqa: E402
from kedge.training.trainer import Metrics  # noqa: E402

GAME = Hanabi()
CPU = Rank(torch.device("cpu"))
RECIPE = HanabiRecipe(
    width=32, dropout=0.0, steps=60, batch=16, warmup=5, learning_rate=1e-2, average=0.8
)  # fmt: skip
BELIEF = BeliefRecipe(
    width=16, layers=1, steps=20, batch=8, played=16, warmup=5, learning_rate=1e-2, average=0.8
)  # fmt: skip


@pytest.fixture(scope="module")
def games():
    return [made_game(number) for number in range(50)]


def test_moves_of_people_are_learned_where_there_are_any(games):
    bots = [made_game(100, ("ai:Bo", "ai:Cy"))]
    positions = taught_games([*games[:2], *bots], "people", CPU.device)
    assert positions.predicted.tolist() == [[False, True] * 6, [False, True] * 6, [True] * 12]
    assert taught_games(games[:2], "all", CPU.device).predicted.all()
    slipped = [replace(game, slips=(1, 2)) for game in games[:2]]
    assert taught_games(slipped, "all", CPU.device).predicted[0].nonzero()[0].tolist() == [
        0,
        *range(3, 12),
    ]
    assert taught_games(slipped, "people", CPU.device).predicted[0].nonzero()[0].tolist() == [
        3,
        5,
        7,
        9,
        11,
    ]
    batch = positions.batch(torch.arange(3))
    assert batch.seen.shape == (12, 3, 658)
    assert len(batch.chosen) == 6 + 6 + 12
    assert batch.legal.gather(1, batch.chosen[:, None]).all()
    whole = np.stack([legal_moves(now, len(GAME.moves)) for now in positions.games.plies()])
    mask = positions.predicted.T
    assert (batch.legal.numpy() == whole[mask]).all()
    assert (batch.chosen.numpy() == positions.games.actions.T[mask]).all()
    network = initial_network(RECIPE, GAME).eval()
    every = network(batch.seen)[torch.from_numpy(mask.copy())]
    torch.testing.assert_close(network(batch.seen, batch.predicted), every)
    state = games[0].rules.initial_state(games[0].deck)
    for action in games[0].actions[:5]:
        state.apply_action(action)
    assert (batch.seen[5, 0].numpy() == state.observation_tensor(beliefs=True)).all()


def test_other_colours_are_another_game_alike(games):
    whole = pack_games(games)
    turns = np.linspace(0.0, 1.0, len(games), endpoint=False)
    other = whole.recoloured(turns)
    assert (other.decks != whole.decks).any()
    assert (other.decks % 5 == whole.decks % 5).all()  # ranks stay
    for before, after in zip(whole.plies(), other.plies(), strict=True):
        assert (np.sort(before.fireworks()) == np.sort(after.fireworks())).all()
        assert (before.last_moves()[:, 2:] == after.last_moves()[:, 2:]).all()
    same = whole.recoloured(np.zeros(len(games)))
    assert (same.decks == whole.decks).all()
    assert (same.actions == whole.actions).all()
    positions = taught_games(games, "people", CPU.device)
    rows, turns = torch.arange(8), torch.full((8,), 0.5)
    as_they_are = replace(positions, recolour=False).batch(rows, turns)
    assert torch.equal(as_they_are.seen, positions.batch(rows).seen)
    assert not torch.equal(as_they_are.seen, positions.batch(rows, turns).seen)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_network_learns(games, optimizer):
    recipe = replace(RECIPE, optimizer=optimizer)
    trainer = HanabiTrainer(initial_network(recipe, GAME), recipe, CPU)
    positions = taught_games(games, "people", CPU.device)
    first, *_, last = trainer.run(positions, report_every=20)
    assert last["loss"] < 0.8 * first["loss"]
    assert trainer.evaluate(positions).top1 > 0.5
    assert trainer.evaluate(positions).positions == 50 * 6


def test_batches_that_are_put_together_ahead_are_the_same(games, monkeypatch):
    positions = taught_games(games, "people", CPU.device)
    found = []
    for ahead in (0, 1, 3):
        monkeypatch.setattr(HanabiTrainer, "ahead", ahead)
        trainer = HanabiTrainer(initial_network(RECIPE, GAME), replace(RECIPE, steps=6), CPU)
        [report] = trainer.run(positions, report_every=6)
        found.append((report["loss"], report["top1"]))
    assert found[0] == found[1] == found[2]


def test_a_run_leaves_a_model_goes_on_and_can_be_begun_as(games, tmp_path):
    half = replace(RECIPE, steps=10)
    list(policy.train(games, tmp_path, half, rank=CPU))
    told = json.loads((tmp_path / "metrics.json").read_text())
    parts = [part_of(game) for game in games]
    assert set(parts) == {LEARN, CHOOSE, TEST}
    assert told["learned"] == parts.count(LEARN)
    assert told["metrics"]["positions"] == 6 * parts.count(CHOOSE)
    before = read_model(tmp_path / "model.onnx")
    [report] = policy.train(games, tmp_path, replace(RECIPE, steps=12), rank=CPU)
    assert report["step"] == 12
    trained = initial_network(RECIPE, GAME, before).weights()
    for name, array in before.arrays.items():
        assert (trained.arrays[name] == array).all()
    with pytest.raises(InputError, match="has width=32 and layers=1, the recipe width=16"):
        initial_network(HanabiRecipe(width=16), GAME, before)
    with pytest.raises(InputError, match="the initial model plays hanabi"):
        initial_network(RECIPE, Hanabi(players=3), before)


def test_the_step_that_people_choose_is_kept(games, tmp_path, monkeypatch):
    asked = []

    def evaluate(trainer, positions, batch=0, most=None):
        asked.append(most)
        return Metrics(len(positions), 0.5, 1.0 + abs(trainer.step - 20), 0.0)

    monkeypatch.setattr(HanabiTrainer, "evaluate", evaluate)
    written = tmp_path / "model.onnx"
    recipe = replace(RECIPE, schedule="trapezoid")
    reports = policy.train(games, tmp_path, replace(recipe, steps=30), rank=CPU)
    after = {report["step"]: written.read_bytes() for report in reports}
    assert after[10] != after[20] == after[30] == written.read_bytes()
    told = json.loads((tmp_path / "metrics.json").read_text())
    assert (told["step"], told["kept_step"]) == (30, 20)
    # Steps are compared on the same games; the one that is kept is scored on all.
    assert asked == [HanabiTrainer.sample] * 4 + [None]
    resumed = policy.train(games, tmp_path, replace(recipe, steps=40), rank=CPU)
    assert [report["step"] for report in resumed] == [40]
    assert written.read_bytes() == after[20]
    assert json.loads((tmp_path / "metrics.json").read_text())["kept_step"] == 20


def test_games_by_several_rules_are_refused(games):
    other = Hanabi(players=3).initial_state()
    three = HanabiGame("three", ("A", "B", "C"), tuple(other.deck), (), 5)
    with pytest.raises(InputError, match=r"three: hanabi\(players=3.* the first game is"):
        pack_games([games[0], three])


@pytest.mark.parametrize(
    ("drawn", "low", "high"), [(0.0, 1.0, 1.0), (0.1, 0.85, 0.98), (1.0, 0.0, 0.3)]
)
def test_greedy_games_have_slips_in_them(drawn, low, high):
    uniform = UniformBlueprint(len(GAME.moves))  # whose likeliest move is its first legal one
    games = self_play(uniform, GAME, 50, np.random.default_rng(0), drawn=drawn)
    first = [legal_moves(now, len(GAME.moves)).argmax(1) for now in games.plies()]
    made = games.actions.T
    assert low <= (np.stack(first) == made)[made >= 0].mean() <= high


def test_self_play_is_by_the_rules_and_each_game_is_learned_from_once():
    uniform = UniformBlueprint(len(GAME.moves))
    games = self_play(uniform, GAME, 20, np.random.default_rng(0), drawn=1.0)
    *_, last = games.plies()  # which have stepped on when there are no more
    assert (last.legal_actions() == 0).all()
    stream = SelfPlayGames(uniform, GAME, BELIEF, CPU.device)
    rows = torch.arange(8)
    first, second, third = (stream.batch(rows + 8 * i).seen for i in range(3))
    assert len(stream) == 160
    assert not torch.equal(first[0], second[0])
    assert not torch.equal(first[0], third[0])
    again = SelfPlayGames(uniform, GAME, BELIEF, CPU.device).batch(rows)
    assert torch.equal(first, again.seen)


def test_a_belief_is_taught_what_each_seat_holds():
    uniform = UniformBlueprint(len(GAME.moves))
    games = self_play(uniform, GAME, 3, np.random.default_rng(0), drawn=1.0)
    batch = SeenGames(games, CPU.device).batch(torch.arange(3))
    hands, rows = [], []
    for ply, now in enumerate(games.plies()):
        for seat in (0, 1):
            for row in range(3):
                if games.actions[row, ply] >= 0:
                    hands.append(now.hands()[row, seat].tolist())
                    seen = np.empty((1, 658), np.float32)
                    one = now.take(np.array([row]))
                    one.encode(seen, "private", np.array([seat]), True)
                    rows.append(seen[0])
    assert batch.hands.tolist() == hands
    assert (batch.seen[batch.going].numpy() == np.stack(rows)).all()


def test_a_belief_learns_what_hints_say(tmp_path):
    """Even of games that anyone might have played."""
    recipe = replace(BELIEF, steps=30)
    reports = list(
        belief.train(UniformBlueprint(len(GAME.moves)), GAME, tmp_path, recipe, rank=CPU)
    )
    assert reports[-1]["held_out_loss"] < np.log(25)
    assert read_model(tmp_path / "model.onnx").width == 16


def test_the_commands(games, tmp_path):
    write_hanabi_games(games, tmp_path / "games.jsonl")
    small = ["-s", "width=16", "-s", "steps=2", "-s", "batch=8"]
    model = tmp_path / "policy" / "model.onnx"
    done = kedge(
        "train", "hanabi", tmp_path / "games.jsonl", "--folder", tmp_path / "policy", *small
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(model)
    done = kedge(
        "train", "hanabi-belief", "--blueprint", f'"{model}"', "--greedy", "--folder",
        tmp_path / "belief", *small, "-s", "played=8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    metrics = json.loads((tmp_path / "belief" / "metrics.json").read_text())
    assert metrics["stages"][0]["greedy"] is True
    done = kedge(
        "train", "hanabi-value", "--model", model, "--folder", tmp_path / "value", "--games", 20,
        "--bomb", "stack", "--greedy", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["games"], told["bomb"], told["greedy"]) == (20, "stack", True)
    assert told["held_out"][0].keys() == {"moves", "positions", "r2"}
    assert read_model(told["model"]).value.bomb == "stack"
    for player, said in (
        ("uniform", "does not play hanabi"),
        ("hanabi(temperature=2)", "give a model's name or conventions, without options"),
        ("sparta(conventions)", "give a model's name or conventions, without options"),
    ):
        done = kedge("train", "hanabi-belief", "--blueprint", player, "--folder", tmp_path / "no")
        assert done.returncode == 2
        assert said in done.stderr
        assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"moves": "programs"}, "moves: people or all, not programs"),
        ({"width": 0}, "width: at least 1"),
        ({"dropout": 2.0}, "dropout: from 0 to 1"),
    ],
)
def test_bad_recipes_are_one_line(settings, said):
    with pytest.raises(InputError, match=said):
        HanabiRecipe(**settings)

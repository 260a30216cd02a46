"""Training Diplomacy networks in small: they learn, whoever is called what, and go on."""

import json
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from command import kedge

torch = pytest.importorskip("torch")

from kedge import _core  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.games.diplomacy import POWERS, Diplomacy  # noqa: E402
from kedge.models.diplomacy.backends import TorchOrderNetwork  # noqa: E402
from kedge.models.diplomacy.orders import NetworkOrders  # noqa: E402
from kedge.models.diplomacy.plain import UniformOrders  # noqa: E402
from kedge.models.diplomacy.values import SmallValues, alive  # noqa: E402
from kedge.models.named import load  # noqa: E402
from kedge.models.weight_files import read_model  # noqa: E402
from kedge.records import write_diplomacy_games  # noqa: E402
from kedge.records.diplomacy.games import ByPower, DiplomacyGame, Final, Phase, part_of  # noqa: E402
from kedge.records.splits import CHOOSE, LEARN, TEST  # noqa: E402
from kedge.training.diplomacy import policy, value  # noqa: E402
from kedge.training.diplomacy import rollouts as rollout_games  # noqa: E402
from kedge.training.diplomacy.policy import (  # noqa: E402
    DiplomacyRecipe,
    DiplomacyTrainer,
    positions_of,
    split_games,
)
from kedge.training.diplomacy.rollouts import Rollouts, targets_after_phases  # noqa: E402
from kedge.training.diplomacy.value import ValueRecipe, ValueTrainer, initial_network  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402

CPU = Rank(torch.device("cpu"))
RECIPE = DiplomacyRecipe(
    width=32, blocks=1, heads=2, dropout=0.0, steps=60, batch=16, warmup=5, learning_rate=1e-2,
    average=0.8,
)  # fmt: skip


def played(number, phases=14):
    """A game in which everyone gives the first order there is, or at times another."""
    rng = np.random.default_rng(number)
    state = Diplomacy().initial_state()
    seen = []
    for _ in range(phases):
        position = state.to_json()
        orders = {}
        for power in POWERS:
            texts = state.orders(power).values()
            chosen = [each[1 if len(each) > 1 else 0] if rng.random() < 0.8 else each[0]
                      for each in texts]  # fmt: skip
            due = state.adjustment(power)
            orders[power] = chosen[: abs(due)] if due else chosen
        given = {power: given for power, given in orders.items() if given}
        parts = {
            name: ByPower.of(position.get(name, {})) for name in ("units", "centers", "dislodged")
        }
        seen.append(Phase(state.phase, orders=ByPower.of(given), **parts))
        state = state.clone()
        state.apply(given)
    counts = tuple(len(centres) for centres in state.board.centres())
    return DiplomacyGame(f"made-{number}", tuple(seen), Final(state.phase, counts))


@pytest.fixture(scope="module")
def games():
    return [played(number) for number in range(43)]


@pytest.fixture(scope="module")
def positions(games):
    return positions_of(games[:8])


def test_every_choice_is_known(games, positions):
    assert len(positions) == sum(len(list(game.decisions())) for game in games[:8])
    known = positions.begins[1:] > positions.begins[:-1]
    assert bool(known.all())
    assert torch.all(positions.chosen < positions.begins[1:] - positions.begins[:-1])
    kinds = {phase.kind for game in games[:8] for phase in game.phases}
    assert kinds == set("MRA") or kinds == set("MA")


def test_absent_powers_and_unknown_removals_teach_nothing(games):
    first = games[0].phases[0]
    alone = replace(first, orders=ByPower.of({"FRANCE": ["A PAR - BUR"]}))
    positions = positions_of([replace(games[0], phases=(alone,), final=None)])
    known = positions.begins[1:] > positions.begins[:-1]
    assert int(known.sum()) == 3  # France's, of which two held
    assert positions.chosen[known].tolist().count(0) == 2
    assert bool(positions.shares.isnan().all())


def test_training_and_asking_step_by_step_agree(games, positions):
    """Teacher-forced, all at once = what `NetworkOrders.score` says of the same orders."""
    torch.manual_seed(0)
    trainer = DiplomacyTrainer(RECIPE, CPU, compiled=False)
    network = trainer.network.eval()
    batch = positions.batch(torch.arange(len(positions)))
    with torch.no_grad():
        losses, _ = policy._losses(batch, network(batch.choices)[0])
    asked, orders = [], []
    for game in games[:8]:
        for decision in game.decisions():
            for i, power in enumerate(POWERS):
                asked.append((decision.state, i))
                orders.append(decision.orders.get(power, np.zeros(0, np.uint32)))
    weights = replace_module(network)
    scores = NetworkOrders(TorchOrderNetwork(weights, "cpu")).score(asked, orders)
    np.testing.assert_allclose(-np.concatenate(scores), losses.numpy(), atol=1e-4)


def replace_module(network):
    from kedge.models.diplomacy.network import DiplomacyWeights
    from kedge.models.torch_arrays import arrays_of

    return DiplomacyWeights(arrays_of(network), network.heads, "test")


def test_renaming_the_powers_renames_the_facts(positions):
    rows = torch.arange(5)
    plain = positions.batch(rows).choices.facts
    first = positions.batch(rows, torch.zeros(5)).choices.facts  # as they are
    last = positions.batch(rows, torch.full((5,), 1.0 - 1e-7)).choices.facts  # back to front
    assert torch.equal(plain, first)
    army = (plain >= 94) & (plain < 101)
    assert torch.equal(last[army], 94 + 6 - (plain[army] - 94))
    counts = plain >= 312
    assert torch.equal(last[counts], plain[counts])


def test_what_was_ordered_before_can_be_forgotten(positions):
    forgetful = replace(positions, forget=1.0)
    facts = forgetful.batch(torch.arange(20), torch.full((20,), 0.5)).choices.facts
    assert not facts[:, :81, 7:].any()
    assert positions.batch(torch.arange(20)).choices.facts[:, :81, 7:].any()


def test_it_learns(positions):
    torch.manual_seed(0)
    trainer = DiplomacyTrainer(RECIPE, CPU, compiled=False)
    before = trainer.evaluate(positions)
    reports = list(trainer.run(positions, report_every=30))
    after = trainer.evaluate(positions)
    assert [report["step"] for report in reports] == [30, 60]
    assert after.top1 > before.top1 + 0.2
    assert after.cross_entropy < before.cross_entropy
    assert after.value_loss < before.value_loss


def test_a_run_leaves_a_model_and_goes_on(games, tmp_path):
    assert {part_of(game) for game in games} == {LEARN, CHOOSE, TEST}
    recipe = replace(RECIPE, steps=20)
    assert len(list(policy.train(games, tmp_path, recipe, rank=CPU))) == 2
    told = json.loads((tmp_path / "metrics.json").read_text())
    assert told["step"] == 20
    assert told["metrics"]["part"] == "choose"
    by_part = [positions_of([game for game in games if part_of(game) == part], kinds)
               for part, kinds in ((LEARN, "MRA"), (CHOOSE, "M"))]  # fmt: skip
    choices = int((by_part[1].begins[1:] > by_part[1].begins[:-1]).sum())
    assert (told["learned"], told["metrics"]["positions"]) == (len(by_part[0]), choices)
    assert read_model(tmp_path / "model.onnx").architecture()["width"] == recipe.width
    assert not list(policy.train(games, tmp_path, recipe, rank=CPU))  # nothing is left to do


def test_muon_needs_matrices_to_turn():
    with pytest.raises(InputError, match="muon cannot train this network; use adamw or sgd"):
        ValueTrainer(initial_network(ValueRecipe()), ValueRecipe(optimizer="muon"), CPU)


def test_values_are_learned_from_games_and_then_from_rollouts(games, tmp_path):
    ours, others = split_games(games)
    recipe = ValueRecipe(width=16, hidden=8, batch=64, steps=200, warmup=5, dropout=0.0)
    tested = value.positions_of(others)
    learned = value.positions_of(ours)
    first = tmp_path / "ended"
    first.mkdir()
    network = initial_network(recipe)
    reports = list(value.train(network, learned, tested, first, recipe, rank=CPU))
    assert reports[-1]["loss"] < reports[0]["loss"]
    weights = read_model(first / "model.onnx")
    assert weights.architecture()["parameters"] == sum(a.size for a in weights.arrays.values())

    # The native core and the exported graph compute what torch does.
    states = [decision.state for decision in others[0].decisions()]
    seen = _core.diplomacy_seen(_core.DiplomacyBatch([state.board for state in states]))
    session = onnxruntime.InferenceSession((first / "model.onnx").read_bytes())
    [logits] = session.run(["shares"], {"seen": seen.astype(np.int32)})
    shares = np.where(alive(seen), np.exp(logits), 0.0)
    boards = _core.DiplomacyBatch([state.board for state in states])
    found = SmallValues(weights).values(boards)
    np.testing.assert_allclose(found, shares / shares.sum(1, keepdims=True), atol=1e-5)

    rng = np.random.default_rng(0)
    copies = [state.clone() for state in states[:3]]
    played_on, shares = targets_after_phases(copies, UniformOrders(), SmallValues(weights), rng)
    assert len(played_on) == len(shares) == 3 * 9
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=2e-3)
    with pytest.raises(InputError, match="has width=16 and hidden=8, the recipe width=128"):
        initial_network(ValueRecipe(), weights)


def test_rollouts_are_kept_by_what_they_came_of(games, tmp_path, monkeypatch):
    monkeypatch.setattr(rollout_games, "order_model", lambda name: UniformOrders())
    weights = load("diplomacy-value")

    def positions(count, games):
        rollouts = Rollouts(tmp_path, games, "diplomacy", weights)
        assert all(done <= count for done in rollouts.play(count))
        return rollouts.positions(count)

    few, more = positions(1, games[:2]), positions(2, games[:2])
    assert len(more) > len(few)
    assert torch.equal(positions(1, games[:2]).seen, few.seen)
    assert not torch.equal(positions(1, games[2:4]).seen, few.seen)


def test_rollouts_are_the_same_whoever_plays_them(games, tmp_path, monkeypatch):
    monkeypatch.setitem(rollout_games._CHUNKS, "cpu", 2)
    weights = load("diplomacy-value")
    seen = []
    for workers in (1, 2):
        rollouts = Rollouts(tmp_path / str(workers), games[:1], "diplomacy", weights)
        assert sorted(rollouts.play(4, workers)) == [2, 4]
        seen.append(rollouts.positions(4).seen)
        assert not list(rollouts.play(4, workers))
    assert torch.equal(*seen)


def test_rollouts_that_are_played_to_the_end_say_what_came_of_it(games, tmp_path, monkeypatch):
    monkeypatch.setattr(rollout_games, "order_model", lambda name: UniformOrders())
    monkeypatch.setattr(rollout_games, "_LIMITS", Diplomacy(last_year=1903))
    rollouts = Rollouts(tmp_path, games[:1], "diplomacy", None)
    assert list(rollouts.play(3)) == [3]
    found = rollouts.positions(3)
    assert 0 < len(found) <= 3 * 6
    np.testing.assert_allclose(found.shares.sum(1), 1.0, atol=2e-3)
    # Those of one game ended alike.
    assert len({tuple(shares.tolist()) for shares in found.shares}) <= 3


def test_too_few_games(games):
    ours = [game for game in games if part_of(game) != CHOOSE]
    learned = sum(part_of(game) == LEARN for game in games)
    with pytest.raises(InputError, match=f"{learned} to learn from, 0 to choose the model by"):
        split_games(ours)
    with pytest.raises(InputError, match="none records how it ended"):
        value.positions_of(replace(game, final=None) for game in ours)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["width=50", "heads=4"], "width: must be a multiple of heads=4, not 50"),
        (["optimizer=best"], "'best' is not one of adamw, muon, sgd"),
        (["filters=3"], "the recipe has no field 'filters'"),
        (["optimizer=sgd"], "games.jsonl: holds no game"),
    ],
)
def test_bad_recipes_are_one_line(settings, said, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("{}")
    changes = [word for setting in settings for word in ("--set", setting)]
    done = kedge("train", "diplomacy", path, "--folder", tmp_path / "run", *changes)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert said in line


def test_the_command(games, tmp_path):
    path, folder = tmp_path / "games.jsonl", tmp_path / "run"
    write_diplomacy_games(games[25:], path)
    small = [word for one in ("width=8", "hidden=4", "steps=2") for word in ("--set", one)]
    done = kedge("train", "diplomacy-value", path, "--folder", folder, *small)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, str(folder / "model.onnx"))

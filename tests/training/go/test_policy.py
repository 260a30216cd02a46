"""Go's training: positions with their history and symmetries, and a small run."""

import itertools
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.errors import InputError  # noqa: E402
from kedge.games.go import GoState  # noqa: E402
from kedge.games.go.ranks import rank_number, server_number  # noqa: E402
from kedge.games.symmetries import symmetries  # noqa: E402
from kedge.models.board import plain  # noqa: E402
from kedge.models.board.backends import read_weights  # noqa: E402
from kedge.models.board.conditioning import for_players  # noqa: E402
from kedge.models.board.network import to_shipped_onnx  # noqa: E402
from kedge.models.board.onnx_backends import OnnxNetwork  # noqa: E402
from kedge.models.board.symmetries import SymmetricNetwork  # noqa: E402
from kedge.models.board.weights import make_weights  # noqa: E402
from kedge.models.go.conditioning import WHO, who_features  # noqa: E402
from kedge.models.go.encoding import GO, encode_go  # noqa: E402
from kedge.models.onnx_file import read_onnx  # noqa: E402
from kedge.records.go.arrays import make_go_arrays  # noqa: E402
from kedge.records.go.games import GoGame  # noqa: E402
from kedge.records.go.lessons import lessons_of  # noqa: E402
from kedge.records.splits import CHOOSE, LEARN, TEST  # noqa: E402
from kedge.training.board.growth import grow  # noqa: E402
from kedge.training.board.imitation import (  # noqa: E402
    NO_MOVE,
    TowerTrainer,
    TurnedTeacher,
)
from kedge.training.board.network import Convolution  # noqa: E402
from kedge.training.distributed import Rank, training_rank  # noqa: E402
from kedge.training.go.policy import (  # noqa: E402
    RECIPES,
    GoRecipe,
    finish_of,
    make_network,
    train,
)
from kedge.training.go.positions import GoPositions, positions_of  # noqa: E402
from kedge.training.muon import Muon  # noqa: E402
from kedge.training.optimizers import rounded_weights  # noqa: E402
from kedge.training.trainer import read_checkpoint  # noqa: E402

CPU = Rank(torch.device("cpu"))


def played(seed, plies, **fields):
    state, rng = GoState(superko="simple"), np.random.default_rng(seed)
    for _ in range(plies):
        state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
    return GoGame(np.array(state.history, np.int16), **{"komi": 6.5, "result": "B+R", **fields})


@pytest.fixture(scope="module")
def table():
    games = [played(seed, 30, date="1990-01-01") for seed in range(4)]
    return make_go_arrays([*games, played(9, 20, date="2015-06-01", komi=7.5, result="W+2.5")])


@pytest.fixture(scope="module")
def positions(table):
    return positions_of(table, np.arange(len(table)))


def test_positions_have_their_history(table, positions):
    assert len(positions) == 4 * 30 + 20
    batch = positions.batch(torch.arange(len(positions)))
    row = 0
    for game in range(len(table)):
        state = GoState(komi=float(table.komi[game]), superko="simple")
        for ply, move in enumerate(table.moves(game)):
            masks, komi = encode_go([state])
            planes = GO.unpack(masks.reshape(1, -1), komi)
            np.testing.assert_allclose(batch.planes[row].float().numpy(), planes[0], atol=5e-3)
            assert batch.moves[row] == move
            white_won = game == len(table) - 1
            assert batch.results[row] == (1.0 if (ply % 2 == 1) == white_won else -1.0)
            state.apply_action(int(move))
            row += 1


def test_symmetries_turn_stones_and_moves_alike(positions):
    rows = torch.arange(40, 50)
    as_played = positions.batch(rows)
    seen = set()
    for turn in range(8):
        turned = positions.batch(rows, torch.full((len(rows),), (turn + 0.5) / 8))
        points = symmetries(19)[turn]
        before, after = as_played.planes.flatten(2), turned.planes.flatten(2)
        assert torch.equal(after, before[:, :, torch.from_numpy(points)])
        assert (points[turned.moves.numpy()] == as_played.moves.numpy()).all()
        seen.add(tuple(points))
    assert len(seen) == 8
    assert positions.moved[:, 361].tolist() == [361] * 8  # a pass stays one
    as_recorded = replace(positions, turn=False).batch(rows, torch.full((len(rows),), 0.5))
    assert torch.equal(as_recorded.planes, as_played.planes)
    assert torch.equal(as_recorded.moves, as_played.moves)


def test_later_moves_are_of_the_same_game(positions):
    told = replace(positions, later=2)
    rows = torch.tensor([28, 29, len(positions) - 2])
    batch = told.batch(rows)
    after = [positions.moves[29], NO_MOVE, positions.moves[-1]]
    assert batch.later[0].tolist() == after
    assert batch.later[1].tolist() == [NO_MOVE] * 3
    turned = told.batch(rows, torch.full((3,), 0.4))
    assert (turned.later[0] == NO_MOVE).tolist() == [False, True, False]
    assert symmetries(19)[3][turned.later[0][0]] == after[0]


def test_from_an_illegal_move_on_nothing_is_learned():
    good = played(1, 12, date="1990-01-01")
    moves = good.moves.copy()
    moves[8] = moves[0]  # occupied, unless captured, which twelve random stones are not
    table = make_go_arrays([GoGame(moves, komi=6.5, date="1990-01-01"), good])
    found = positions_of(table, np.arange(2))
    assert len(found) == 8 + 12
    assert torch.equal(found.batch(torch.arange(8, 20)).moves, torch.from_numpy(good.moves).long())
    assert (found.first[8:] == 8).all()


@pytest.fixture(scope="module")
def servers():
    """Games of all kinds: of professionals, on servers, with handicap and with programs."""
    pro = {"black_rank": "9p", "white_rank": "5p"}
    dan = {"server": "KGS", "black_rank": "1d", "white_rank": "4d", "date": "2016-01-01"}
    names = [f"player {number}" for number in range(300)]
    part = {name: make_go_arrays([GoGame(np.empty(0, np.int16), black=name, server="KGS")]).parts
            [0, 0] for name in names}  # fmt: skip
    learn, choose, test = ([n for n in names if part[n] == p] for p in (LEARN, CHOOSE, TEST))
    return make_go_arrays(
        [
            *(played(seed, 30, date="1990-01-01", **pro) for seed in range(3)),
            played(3, 20, date="2015-06-01", **pro),  # tested on
            played(4, 20, black=learn[0], white=learn[1], **dan),
            played(5, 20, black=learn[0], white=choose[0], **dan),
            played(6, 20, black=test[0], white=learn[1], **dan),
            played(7, 20, black=learn[0], white="program", bots="W", ai=True, **dan),
            played(
                8, 20, black=learn[0], white=learn[1], handicap=2, black_stones=(72, 288), **dan
            ),
            played(3, 25, black=learn[0], white=learn[1], **dan),  # the tested game, longer
            played(9, 20, date="1990-01-01", ai=True),
        ]
    )


def test_what_is_learned_from_all_people(servers):
    lessons = lessons_of(servers)
    both, none = [True, True], [False, False]
    assert lessons.learned.tolist() == [both] * 3 + [
        none, both, none, none, [True, False], both, both, none,
    ]  # fmt: skip
    assert np.argwhere(lessons.chosen_by).tolist() == [[5, 1]]
    assert np.argwhere(lessons.tested).tolist() == [[3, 0], [3, 1], [6, 0]]
    copied = make_go_arrays([played(3, 60, date="2015-06-01"), played(3, 70, server="Fox")])
    assert lessons_of(copied).learned.tolist() == [none, none]


def test_handicap_games_and_who_plays(servers):
    counts = np.zeros((len(servers), 2), np.int64)
    counts[8] = 1, 2
    games = np.array([8])
    positions = replace(positions_of(servers, games, counts), players=True)
    rows = positions.chosen.tolist()
    state = GoState(komi=6.5, superko="simple", black=(72, 288), player=1)
    legal = int((positions.first == 0).sum())
    assert len(positions.moves) == legal
    assert rows == sorted(rows)
    batch = positions.of(torch.arange(legal)).batch(torch.arange(legal))
    for ply, move in enumerate(servers.moves(8)[:legal]):
        masks, komi = encode_go([state])
        planes = GO.unpack(masks.reshape(1, -1), komi)
        np.testing.assert_allclose(batch.planes[ply].float().numpy(), planes[0], atol=5e-3)
        ranks = [rank_number("4d"), rank_number("1d")][:: 1 if ply % 2 == 0 else -1]
        expected = who_features(ranks[:1], ranks[1:], [server_number("KGS")], [2016])
        np.testing.assert_allclose(batch.who[ply].float().numpy(), expected[0], atol=5e-3)
        assert rows.count(ply) == (2 if ply % 2 == 0 else 1)  # White, who moves first, twice
        state.apply_action(int(move))
    forgetful = replace(positions, forget=1.0)
    assert not forgetful.batch(torch.arange(4), torch.rand(4)).who.any()


def test_a_network_that_takes_ranks(servers, tmp_path):
    recipe = GoRecipe(
        filters=8, blocks=1, se_ratio=4, steps=20, batch=16, warmup=1, heads="points", average=0.5,
        optimizer="muon", players=True, professionals=2, forget=0.1, rounded=True,
    )  # fmt: skip
    list(train(servers, tmp_path, recipe, rank=CPU))
    weights = read_weights(tmp_path / "model.onnx")
    assert weights.arrays["who.weight"].shape == (8, WHO)
    assert np.abs(weights.arrays["who.weight"]).max() > 0.0
    positions = replace(positions_of(servers, np.arange(3)), players=True)
    batch = positions.batch(torch.arange(12))
    network = make_network(recipe).eval()
    network.unfold(weights.arrays)
    alone = for_players(weights, "mine", rank="pro", opponent="pro", year=1990)
    found = plain.forward(alone, batch.planes.float().numpy())
    with torch.no_grad():
        policy, *_ = network(batch.planes.float(), batch.who.float())
    np.testing.assert_allclose(found.policy, policy.numpy(), atol=1e-4)
    # Larger networks begin as it, and others that know no ranks can be begun as.
    grown = make_network(replace(recipe, filters=12, blocks=2)).eval()
    grow(network, grown)
    with torch.no_grad():
        larger, *_ = grown(batch.planes.float(), batch.who.float())
    torch.testing.assert_close(larger, policy, atol=1e-4, rtol=1e-4)
    for begin_as in (tmp_path / "checkpoint.pt", tmp_path / "model.onnx"):
        wide = tmp_path / f"wide-{begin_as.suffix}"
        wide.mkdir()
        steps = replace(recipe, filters=12, steps=1)
        assert len(list(train(servers, wide, steps, rank=CPU, begin_as=str(begin_as)))) == 1
    with pytest.raises(InputError, match=r"recipe differs \(players is True there, False here\)"):
        list(train(servers, tmp_path, replace(recipe, players=False), rank=CPU))
    nobody = make_go_arrays([played(1, 5, date="1990-01-01")])
    with pytest.raises(
        InputError, match="too few games of people: 1 to learn from, 0 of 2015-2016"
    ):
        train(nobody, tmp_path, recipe, rank=CPU)


def test_weights_are_rounded_as_they_ship(positions):
    torch.manual_seed(4)
    shape = GoRecipe(filters=8, blocks=1, se_ratio=4, drop=0.0, heads="points")
    network, shipped = make_network(shape).eval(), make_network(shape).eval()
    model = to_shipped_onnx(make_weights(network.folded(), "here", GO))
    shipped.unfold(
        make_weights(read_onnx(model.SerializeToString(), "here").weights(), "here", GO).arrays
    )
    before = {name: array.clone() for name, array in network.state_dict().items()}
    planes = positions.batch(torch.arange(20)).planes.float()
    with torch.no_grad(), rounded_weights(network):
        rounded = network(planes)[0]
    torch.testing.assert_close(rounded, shipped(planes)[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(dict(network.state_dict()), before)


def test_a_trapezoid_goes_down_at_the_end():
    recipe = GoRecipe(filters=8, blocks=1, warmup=10, steps=100, schedule="trapezoid", decay=0.1)
    trainer = TowerTrainer(make_network(recipe), recipe, CPU, None, False)
    rates = [trainer._rate(step) for step in (4, 50, 90, 95, 99)]
    np.testing.assert_allclose(rates, [0.5, 1.0, 1.0, 0.5, 0.1])


def test_a_rate_by_the_clock_is_used_up_with_the_time(table, tmp_path, monkeypatch):
    recipe = GoRecipe(
        filters=8, blocks=1, se_ratio=4, warmup=2, steps=1000, batch=8, schedule="clock", decay=0.5
    )
    with pytest.raises(InputError, match="clock needs a time to run; add --seconds"):
        list(train(table, tmp_path / "endless", recipe, rank=CPU))
    trainer = TowerTrainer(make_network(recipe), recipe, CPU, None, False)
    rates = [trainer._rate(step, spent) for step, spent in ((0, 0.9), (2, 0.1), (9, 0.75))]
    np.testing.assert_allclose(rates, [0.5, 1.0, 0.5])
    now = itertools.count()
    monkeypatch.setattr("kedge.training.trainer.time.monotonic", lambda: float(next(now)))
    list(trainer.run(positions_of(table, np.arange(len(table))), seconds=10.0))
    assert 5 <= trainer.step <= 10
    assert trainer.optimizers[0].param_groups[0]["lr"] < 0.2 * recipe.learning_rate


@pytest.mark.parametrize(
    ("schedule", "steps", "seconds"), [("trapezoid", 20, 1000.0), ("clock", 1000, 20.0)]
)
def test_the_end_of_a_run_turns_no_position(positions, monkeypatch, schedule, steps, seconds):
    recipe = GoRecipe(
        filters=8, blocks=1, se_ratio=4, batch=8, steps=steps, schedule=schedule, finish=0.25
    )
    turned = []

    @dataclass(frozen=True)
    class Watched(GoPositions):
        def batch(self, rows, turns=None):
            turned.append(self.turn)
            return super().batch(rows, turns)

    watched = Watched(**vars(positions))
    now = itertools.count()
    monkeypatch.setattr("kedge.training.trainer.time.monotonic", lambda: float(next(now)))
    trainer = TowerTrainer(make_network(recipe), recipe, CPU, None, False)
    list(trainer.run(watched, seconds, finish=finish_of(watched, recipe)))
    assert len(turned) in (19, 20)  # the clock is also read at the start
    assert turned == [True] * (len(turned) - 5) + [False] * 5
    with pytest.raises(InputError, match="finish: from 0 to 1"):
        replace(recipe, finish=1.5)


def test_what_there_is_not(tmp_path):
    modern = make_go_arrays([played(seed, 5, date="2020-01-01") for seed in range(3)])
    recipe = GoRecipe(filters=8, blocks=1, steps=1, batch=8)
    with pytest.raises(InputError, match=r"0 of 1900-2014.*--modern trains on all years"):
        train(modern, tmp_path, recipe, rank=CPU)
    with pytest.raises(InputError, match="players=true learns from all years: leave --modern out"):
        train(modern, tmp_path, replace(recipe, players=True), rank=CPU, modern=True)
    for device in ("openvino", "nothing"):
        with pytest.raises(InputError, match="use cpu, cuda"), training_rank(device):
            pass


def test_a_small_run_learns_and_exports(table, tmp_path: Path):
    recipe = GoRecipe(
        filters=8, blocks=1, se_ratio=4, steps=30, batch=32, warmup=2, learning_rate=5e-3,
        value_weight=0.01, average=0.5, optimizer="muon", later=2,
    )  # fmt: skip
    reports = list(train(table, tmp_path, recipe, rank=CPU))
    assert reports[-1]["step"] == 30
    assert reports[-1]["loss"] < reports[0]["loss"]
    network = OnnxNetwork(tmp_path / "model.onnx")
    assert network.encoding is GO
    told = json.loads((tmp_path / "metrics.json").read_text())
    assert [stage["from_step"] for stage in told["stages"]] == [0]
    # Goes on, in smaller steps.
    slower = replace(recipe, learning_rate=1e-3, steps=40, schedule="trapezoid")
    assert [report["step"] for report in train(table, tmp_path, slower, rank=CPU)] == [40]
    told = json.loads((tmp_path / "metrics.json").read_text())
    assert [stage["from_step"] for stage in told["stages"]] == [0, 30]
    told_more = replace(slower, later=1, steps=41)  # which needs another head
    assert [report["step"] for report in train(table, tmp_path, told_more, rank=CPU)] == [41]
    wide = tmp_path / "wide"
    wide.mkdir()
    wider = {"recipe": replace(recipe, filters=12, steps=2)}
    for number, begun in enumerate(("checkpoint.pt", "model.onnx"), 1):
        told = {**wider, "begin_as": str(tmp_path / begun)}
        assert len(list(train(table, wide, **told, rank=CPU))) == 1
        (wide / "checkpoint.pt").rename(tmp_path / f"{number}.pt")
    stages = read_checkpoint(tmp_path / "2.pt", CPU.device)["stages"]
    assert [Path(stage.get("begun_as", "")).name for stage in stages] == ["model.onnx", ""]
    with pytest.raises(InputError, match=r"recipe differs \(filters is 8 there, 16 here\)"):
        list(train(table, tmp_path, replace(slower, filters=16), rank=CPU))
    assert {"paper", "small"} <= set(RECIPES)


def test_a_checkpoint_of_another_network(table, tmp_path):
    recipe = GoRecipe(filters=8, blocks=1, se_ratio=4, steps=1, batch=8, warmup=1, average=0.5)
    list(train(table, tmp_path, recipe, rank=CPU))
    path = tmp_path / "checkpoint.pt"
    kept = torch.load(path, weights_only=True)
    for part in ("network", "averaged"):
        kept[part] = {name: value for name, value in kept[part].items() if "policy" not in name}
    other = tmp_path / "other"
    other.mkdir()
    for broken, said in ((kept, "of a different network"), ({**kept, "stages": []}, "are missing")):
        torch.save(broken, path)
        with pytest.raises(InputError, match=said):
            list(train(table, tmp_path, recipe, rank=CPU))
        with pytest.raises(InputError, match=said):
            list(train(table, other, recipe, rank=CPU, begin_as=str(path)))


def test_heads_by_points_are_exported(table, tmp_path):
    recipe = GoRecipe(
        filters=8, blocks=1, se_ratio=4, steps=2, batch=8, warmup=1, heads="points", average=0.5
    )
    list(train(table, tmp_path, recipe, rank=CPU))
    weights = read_weights(tmp_path / "model.onnx")
    assert weights.policy == "points"
    assert weights.pools_value
    positions = positions_of(table, np.arange(len(table))).batch(torch.arange(3)).planes.float()
    found = OnnxNetwork(tmp_path / "model.onnx").evaluate(positions.numpy())
    expected = plain.forward(weights, positions.numpy())
    np.testing.assert_allclose(found.policy, expected.policy, atol=1e-4)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-4)
    with pytest.raises(InputError, match=r"recipe differs \(heads is points there, dense here\)"):
        list(train(table, tmp_path, replace(recipe, heads="dense"), rank=CPU))
    with pytest.raises(InputError, match="heads: dense or points, not none"):
        replace(recipe, heads="none")


@pytest.mark.parametrize("heads", ["dense", "points"])
@pytest.mark.parametrize(("filters", "blocks"), [(8, 1), (12, 1), (16, 3)])
def test_a_larger_network_begins_as_a_smaller_one(positions, filters, blocks, heads):
    torch.manual_seed(1)
    shape = GoRecipe(filters=8, blocks=1, se_ratio=4, drop=0.0, heads=heads)
    small = make_network(shape).eval()
    for module in small.modules():  # as if it had learned
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
    large = make_network(replace(shape, filters=filters, blocks=blocks)).eval()
    grow(small, large)
    planes = positions.batch(torch.arange(20)).planes.float()
    for ours, theirs in zip(large(planes)[:2], small(planes)[:2], strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    with pytest.raises(InputError, match="cannot shrink to"):
        grow(make_network(replace(shape, filters=20, blocks=4)), large)


def test_fewer_blocks_are_some_of_them():
    shape = GoRecipe(filters=8, blocks=5, se_ratio=4, drop=0.0, heads="points")
    many, few = make_network(shape), make_network(replace(shape, blocks=3))
    grow(many, few)
    for ours, theirs in zip(few.blocks, (many.blocks[at] for at in (0, 2, 4)), strict=True):
        torch.testing.assert_close(dict(ours.state_dict()), dict(theirs.state_dict()))


def test_an_unfolded_network_computes_and_trains_the_same(positions):
    """At inference, and once it is settled on the batch in training too."""
    torch.manual_seed(1)
    shape = GoRecipe(filters=8, blocks=2, se_ratio=4, drop=0.0, heads="points")
    trained, other = make_network(shape), make_network(shape)
    planes = positions.batch(torch.arange(40)).planes.float()
    for _ in range(3):
        trained(planes)  # moves the moments
    other.unfold(trained.folded())
    expected = trained.eval()(planes)[:2]
    for settled in (False, True):
        if settled:
            other.settle(planes)
        for ours, theirs in zip(other.eval()(planes)[:2], expected, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    for ours, theirs in zip(other.train()(planes)[:2], expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chess", "not a model for go"),
        ("hanabi", "hanabi is not a model of a board game"),
        ("nothing", "nothing"),
        ("nowhere.onnx", "nowhere.onnx"),
        ("nowhere.pt", "not a training checkpoint"),
    ],
)
def test_networks_that_begin_as_refuses(table, tmp_path, name, said):
    recipe = GoRecipe(filters=8, blocks=1, se_ratio=4, steps=1, batch=8, warmup=1)
    for told in ("begin_as", "teacher"):
        with pytest.raises(InputError, match=said):
            list(train(table, tmp_path, recipe, rank=CPU, **{told: name}))


def test_what_a_teacher_says_of_a_turned_board_is_turned_back(positions):
    torch.manual_seed(4)
    network = make_network(GoRecipe(filters=8, blocks=1, se_ratio=4)).eval()
    planes = positions.batch(torch.arange(6)).planes.float()
    arrays = make_weights(network.folded(), "teacher", GO)
    symmetric = [SymmetricNetwork(OnnxNetwork(arrays), count) for count in range(9)]
    means = [each.evaluate(planes.numpy()).policy for each in symmetric[1:]]
    # What symmetry number k adds to the mean of those before it.
    each = [means[0]] + [(k + 1) * means[k] - k * means[k - 1] for k in range(1, 8)]
    teacher, seen = TurnedTeacher(network, GO).eval(), set()
    for _ in range(60):
        with torch.no_grad():
            said = teacher(planes)[0].numpy()
        seen.add(min(range(8), key=lambda k: np.abs(each[k] - said).max()))
        assert min(np.abs(logits - said).max() for logits in each) < 1e-3
    assert seen == set(range(8))


def test_heads_of_another_kind_begin_anew():
    torch.manual_seed(2)
    shape = GoRecipe(filters=8, blocks=2, se_ratio=4, drop=0.0)
    dense, points = make_network(shape), make_network(replace(shape, heads="points"))
    grow(dense, points)
    for name, weights in dense.blocks.state_dict().items():
        torch.testing.assert_close(weights, points.blocks.state_dict()[name])


def test_heads_by_points_know_no_place(positions):
    torch.manual_seed(3)
    network = make_network(GoRecipe(filters=8, blocks=2, se_ratio=4, heads="points")).eval()
    planes = positions.batch(torch.arange(20)).planes.float()
    # A network that is blind to left and right answers a mirrored board with mirrored moves.
    for module in network.modules():
        if isinstance(module, Convolution) and module.size == 3:
            kernels = module.matrix.data.view(len(module.matrix), 3, 3, -1)
            module.matrix.data = (kernels + kernels.flip(2)).flatten(1)
    last = network.policy.conv2.weight
    last.data = last.data + last.data.flip(3)
    policy, value, _ = network(planes)
    mirrored, same, _ = network(planes.flip(3))
    points = mirrored[:, :361].view(-1, 19, 19).flip(2).flatten(1)
    torch.testing.assert_close(points, policy[:, :361], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(mirrored[:, 361], policy[:, 361], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(same, value, atol=1e-4, rtol=1e-4)
    small, _, _ = network(planes[:, :, :9, :9])
    assert small.shape == (20, 82)


def test_muon_is_torchs_many_matrices_at_a_time():
    torch.manual_seed(0)
    shapes = [(8, 20), (8, 20), (20, 8), (6, 6)]
    ours, theirs = ([torch.nn.Parameter(torch.ones(shape)) for shape in shapes] for _ in range(2))
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("torch has no Muon before 2.9")
    optimizers = (
        Muon(ours, 2e-3, 0.05),
        torch.optim.Muon(theirs, 2e-3, 0.05, adjust_lr_fn="match_rms_adamw"),
    )
    for _ in range(10):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape)
            other.grad = mine.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine - 1.0).abs().max() > 0.005
        torch.testing.assert_close(mine, other, atol=5e-4, rtol=0.0)

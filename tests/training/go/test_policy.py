"""Go's training: positions with their history and symmetries, and a small run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.errors import InputError  # noqa: E402
from kedge.games.go import GoState  # noqa: E402
from kedge.models.board import plain  # noqa: E402
from kedge.models.board.onnx_backends import OnnxNetwork  # noqa: E402
from kedge.models.go.encoding import GO, encode_go  # noqa: E402
from kedge.models.weight_files import read_weights  # noqa: E402
from kedge.records.go.arrays import make_go_arrays  # noqa: E402
from kedge.records.go.games import GoGame  # noqa: E402
from kedge.training.board.growth import grow  # noqa: E402
from kedge.training.board.imitation import NO_MOVE, TowerRecipe  # noqa: E402
from kedge.training.board.network import Convolution  # noqa: E402
from kedge.training.distributed import Rank, training_rank  # noqa: E402
from kedge.training.go.policy import RECIPES, make_network, positions_of, train, turns  # noqa: E402
from kedge.training.muon import Muon  # noqa: E402
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
            none = np.zeros((1, GO.plane_words), np.uint64)
            planes = GO.unpack(np.concatenate([masks.reshape(1, -1), none], axis=1), komi)
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
        points = turns()[turn]
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
    assert turns()[3][turned.later[0][0]] == after[0]


def test_from_an_illegal_move_on_nothing_is_learned():
    good = played(1, 12, date="1990-01-01")
    moves = good.moves.copy()
    moves[8] = moves[0]  # occupied, unless captured, which twelve random stones are not
    table = make_go_arrays([GoGame(moves, komi=6.5, date="1990-01-01"), good])
    found = positions_of(table, np.arange(2))
    assert len(found) == 8 + 12
    assert torch.equal(found.batch(torch.arange(8, 20)).moves, torch.from_numpy(good.moves).long())
    assert (found.first[8:] == 8).all()


def test_what_there_is_not(tmp_path):
    modern = make_go_arrays([played(seed, 5, date="2020-01-01") for seed in range(3)])
    recipe = TowerRecipe(filters=8, blocks=1, steps=1, batch=8)
    with pytest.raises(InputError, match=r"0 of 1900-2014.*--modern trains on all years"):
        train(modern, tmp_path, recipe, rank=CPU)
    for device in ("openvino", "nothing"):
        with pytest.raises(InputError, match="use cpu, cuda"), training_rank(device):
            pass


def test_a_small_run_learns_and_exports(table, tmp_path: Path):
    recipe = TowerRecipe(
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
    recipe = TowerRecipe(filters=8, blocks=1, se_ratio=4, steps=1, batch=8, warmup=1, average=0.5)
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
    recipe = TowerRecipe(
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
    shape = TowerRecipe(filters=8, blocks=1, se_ratio=4, drop=0.0, heads=heads)
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
    shape = TowerRecipe(filters=8, blocks=5, se_ratio=4, drop=0.0, heads="points")
    many, few = make_network(shape), make_network(replace(shape, blocks=3))
    grow(many, few)
    for ours, theirs in zip(few.blocks, (many.blocks[at] for at in (0, 2, 4)), strict=True):
        torch.testing.assert_close(dict(ours.state_dict()), dict(theirs.state_dict()))


def test_what_is_unfolded_computes_the_same_and_trains_as_that(positions):
    """At inference, and once it is settled on the batch in training too."""
    torch.manual_seed(1)
    shape = TowerRecipe(filters=8, blocks=2, se_ratio=4, drop=0.0, heads="points")
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
        ("hanabi", "not a model for go"),
        ("nothing", "nothing"),
        ("nowhere.onnx", "nowhere.onnx"),
        ("nowhere.pt", "not a training checkpoint"),
    ],
)
def test_what_cannot_be_begun_as(table, tmp_path, name, said):
    recipe = TowerRecipe(filters=8, blocks=1, se_ratio=4, steps=1, batch=8, warmup=1)
    for told in ("begin_as", "teacher"):
        with pytest.raises(InputError, match=said):
            list(train(table, tmp_path, recipe, rank=CPU, **{told: name}))


def test_heads_of_another_kind_begin_anew():
    torch.manual_seed(2)
    shape = TowerRecipe(filters=8, blocks=2, se_ratio=4, drop=0.0)
    dense, points = make_network(shape), make_network(replace(shape, heads="points"))
    grow(dense, points)
    for name, weights in dense.blocks.state_dict().items():
        torch.testing.assert_close(weights, points.blocks.state_dict()[name])


def test_heads_by_points_know_no_place(positions):
    torch.manual_seed(3)
    network = make_network(TowerRecipe(filters=8, blocks=2, se_ratio=4, heads="points")).eval()
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

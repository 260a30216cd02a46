"""Training in small: it learns, goes on from a checkpoint, and folds to the same network."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import onnxruntime
import pytest

torch = pytest.importorskip("torch")

from kedge import _core  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.models.chess.lc0_moves import MOVES  # noqa: E402
from kedge.records import ChessGame, read_chess_games, write_pgn  # noqa: E402
from kedge.records.splits import LEARN, is_one_in  # noqa: E402
from kedge.training.board.imitation import TowerTrainer  # noqa: E402
from kedge.training.chess.policy import ChessRecipe, make_network, train  # noqa: E402
from kedge.training.chess.positions import (  # noqa: E402
    GameTable,
    mirrored_moves,
    positions_of,
    rows_of,
    table_of,
)
from kedge.training.distributed import Rank  # noqa: E402
from kedge.training.trainer import read_checkpoint  # noqa: E402

CPU = torch.device("cpu")
RECIPE = ChessRecipe(
    filters=16, blocks=1, drop=0.0, steps=60, batch=64, warmup=5, learning_rate=1e-2, average=0.8
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    actions, offsets = [], [0]
    for _ in range(12):
        board = _core.ChessBoard()
        for _ in range(60):
            legal = board.legal_actions()
            if not legal:
                break
            action = legal[0] if rng.random() < 0.7 else int(rng.choice(legal))
            actions.append(action)
            board.push(action)
        offsets.append(len(actions))
    games = len(offsets) - 1
    return GameTable(
        actions=np.array(actions, np.uint16),
        clocks=np.full(len(actions), np.nan, np.float16),
        offsets=np.array(offsets, np.int64),
        ratings=np.tile(np.array([[1500, 1700]], np.int16), (games, 1)),
        scales=np.ones(games, np.uint8),
        speeds=np.full(games, 2, np.uint8),
        results=np.ones(games, np.int8),
        parts=np.full((games, 2), LEARN, np.uint8),
        learned=np.ones((games, 2), bool),
    )


@pytest.fixture(scope="module")
def positions(table):
    return positions_of(table, rows_of(table, table.sides(LEARN)))


def trainer(recipe=RECIPE, **options):
    torch.manual_seed(0)
    network = make_network(recipe)
    return TowerTrainer(network, recipe, Rank(CPU), compiled=False, **options)


def test_positions_are_those_of_the_games(table, positions):
    assert len(positions) == len(table.actions)
    planes, legal, moves, results, *_ = positions.batch(torch.arange(2))
    assert planes.shape[2:] == (8, 8)
    board = _core.ChessBoard()
    assert legal[0].nonzero().flatten().tolist() == sorted(board.policy_indices().tolist())
    assert moves[0] == board.policy_index(int(table.actions[0]))
    assert results.tolist() == [1, -1]  # White won: first for who moves, then against
    assert bool(legal.gather(1, moves[:, None]).all())


def test_mirroring_twice_changes_nothing():
    mirror = mirrored_moves()
    np.testing.assert_array_equal(mirror[mirror], np.arange(len(MOVES)))
    assert MOVES[mirror[MOVES.index("b7b8b")]] == "g7g8b"


def test_mirrored_positions_stay_legal(positions):
    rows = positions.may_mirror.nonzero().flatten()
    assert len(rows)
    _, legal, moves, *_ = positions.batch(rows, torch.zeros(len(rows)))
    assert bool(legal.gather(1, moves[:, None]).all())


def test_it_learns_and_its_average_can_be_evaluated(positions):
    run = trainer()
    before = run.evaluate(positions)
    reports = list(run.run(positions, report_every=20))
    after = run.evaluate(positions)
    assert [report["step"] for report in reports] == [20, 40, 60]
    assert after.top1 > before.top1 + 0.2
    assert after.cross_entropy < before.cross_entropy
    assert torch.equal(run.averaged.module.policy.gather, run.network.policy.gather)


def test_a_checkpoint_goes_on(positions, tmp_path):
    first = trainer()
    list(first.run(positions, seconds=0.5))
    first.save(tmp_path / "half.pt")
    second = trainer()
    second.load(tmp_path / "half.pt")
    assert second.step == first.step
    assert second.evaluate(positions) == first.evaluate(positions)
    list(second.run(positions))
    assert second.step == RECIPE.steps


def test_folding_keeps_the_function(positions):
    run = trainer()
    list(run.run(positions))
    network = run.averaged.module.eval()
    arrays = {name: torch.from_numpy(array) for name, array in network.folded().items()}
    planes = positions.batch(torch.arange(5)).planes.float()
    folded = torch.conv2d(planes, arrays["input.weight"], arrays["input.bias"], padding=1)
    torch.testing.assert_close(folded, network.input(planes), atol=1e-4, rtol=1e-4)
    assert set(arrays) >= {"blocks.0.se.fc2.bias", "policy.conv2.weight", "value.fc2.bias"}


def test_a_teacher_is_followed(positions):
    teacher = make_network(RECIPE).eval()
    taught = trainer(ChessRecipe(**{**vars(RECIPE), "teacher_weight": 1.0}), teacher=teacher)
    list(taught.run(positions))
    assert taught.step == RECIPE.steps


@pytest.fixture(scope="module")
def file(table, tmp_path_factory):
    """The games of the table, half of them by someone who chooses the model."""
    chooser = next(
        name for name in map(str, range(999)) if is_one_in(50, f"choose {name}".encode())
    )
    games = [
        ChessGame(table.actions[first:end], result="1-0", white=name)
        for first, end in pairwise(table.offsets.tolist())
        for name in ("anna", chooser)
    ]
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    write_pgn(games, path)
    return path


def test_the_command_trains_goes_on_and_exports(file, tmp_path):
    command = [sys.executable, "-m", "kedge", "train", "chess", str(file)]
    command += ["--folder", str(tmp_path / "run"), "-s", "filters=8", "-s", "blocks=1"]
    command += ["-s", "batch=32", "-s", "warmup=2", "-s"]
    for steps in ("steps=10", "steps=20"):
        done = subprocess.run([*command, steps], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert f"step {steps.partition('=')[2]}" in done.stdout
    trained = (tmp_path / "run" / "model.onnx").read_bytes()
    assert onnxruntime.InferenceSession(trained).get_inputs()[1].name == "who"
    taught = subprocess.run(
        [*command, "steps=3", "--teacher", str(file)],
        capture_output=True,
        text=True,
    )
    assert taught.returncode == 2
    assert "not an lc0 weight file" in taught.stderr
    command[command.index(str(tmp_path / "run"))] = str(tmp_path / "ours")
    model = str(tmp_path / "run" / "model.onnx")
    begun = [*command, "steps=2", "--teacher", model, "-s", "teacher_weight=0.5"]
    done = subprocess.run([*begun, "--begin-as", model], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_two_processes_train_what_one_does(file, tmp_path):
    recipe = ChessRecipe(filters=8, blocks=1, drop=0.0, steps=10, batch=64, warmup=5)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node=2", "-m", "kedge", "train", "chess", str(file)]
    command += ["--folder", str(tmp_path / "two")]
    for name, value in vars(recipe).items():
        command += ["-s", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("step 10 of 10") == 1
    table = table_of(read_chess_games(file))
    (tmp_path / "one").mkdir()
    list(train(table, tmp_path / "one", recipe, rank=Rank(CPU)))
    one, two = (averaged(tmp_path / name) for name in ("one", "two"))
    assert (one - two).norm() < 1e-3 * one.norm()
    longer = replace(recipe, steps=20)
    assert [report["step"] for report in train(table, tmp_path / "two", longer, rank=Rank(CPU))]
    with pytest.raises(InputError, match="a multiple of the 3 processes, not 64"):
        next(train(table, tmp_path / "one", longer, rank=Rank(CPU, 0, 3)))


def test_nobody_is_learned_from_more_than_others():
    board, moves = _core.ChessBoard(), []
    for _ in range(11):
        moves.append(board.legal_actions()[0])
        board.push(moves[-1])
    players = [("Ann", "Bo"), ("Bo", "Ann"), ("Ann", None), (None, "Cy"), ("Cy", "Ann")]
    games = [
        ChessGame(moves=np.array(moves, np.uint16), result="1-0", white=white, black=black)
        for white, black in players
    ]
    table = table_of(games, most_of_one=2)
    assert table.learned.tolist() == [[1, 1], [1, 1], [0, 1], [1, 1], [1, 0]]
    assert len(rows_of(table, table.sides(LEARN))) == 5 * 11 - 6 - 5
    assert table_of(games).learned.all()


def averaged(folder):
    state = read_checkpoint(folder / "checkpoint.pt", CPU)["averaged"]
    return torch.cat([x.flatten() for x in state.values() if x.is_floating_point()])


def test_damaged_checkpoints_are_refused(positions, tmp_path):
    path = tmp_path / "checkpoint.pt"
    run = trainer()
    run.save(path)
    whole = path.read_bytes()
    for content in (b"", b"garbage", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a training checkpoint"):
            trainer().load(path)

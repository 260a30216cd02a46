"""A value head that learns an engine's evaluations."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge import _core  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.models.chess.encoding import CHESS  # noqa: E402
from kedge.records import ChessGame, write_pgn  # noqa: E402
from kedge.records.chess.evals import MATE, expected_score  # noqa: E402
from kedge.records.splits import LEARN, is_one_in  # noqa: E402
from kedge.training.board.imitation import TowerTrainer  # noqa: E402
from kedge.training.board.network import Value  # noqa: E402
from kedge.training.chess.policy import ChessRecipe, make_network, train  # noqa: E402
from kedge.training.chess.positions import positions_of, rows_of, table_of  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402

RANK = Rank(torch.device("cpu"))
RECIPE = ChessRecipe(
    filters=16, blocks=1, drop=0.0, steps=60, batch=64, warmup=5, learning_rate=1e-2, average=0.8,
    value_weight=1.0, forget=0.0,
)  # fmt: skip


def random_game(seed, **fields):
    """A random game that White won although Black stood better all the time."""
    rng = np.random.default_rng(seed)
    board, moves = _core.ChessBoard(), []
    for _ in range(40):
        moves.append(int(rng.choice(board.legal_actions())))
        board.push(moves[-1])
    fields = {"evals": np.full(40, -400.0, np.float32), "white": "Ann", "black": "Bo", **fields}
    return ChessGame(np.array(moves, np.uint16), "1-0", **fields)


@pytest.fixture(scope="module")
def games():
    return [random_game(seed) for seed in range(12)]


def positions(games):
    table = table_of(games)
    return positions_of(table, rows_of(table, table.sides(LEARN)))


def expected(network, batch):
    """The head's expected scores."""
    win, draw, _ = network(batch.planes.float(), batch.who.float())[1].softmax(1).unbind(1)
    return win + draw / 2


def test_scores_are_the_movers_before_the_move():
    evals = np.array([100, -50, np.nan, MATE - 1] + [0] * 36, np.float32)
    packed = positions([random_game(0, evals=evals), random_game(1, evals=None)])
    one, half = (float(expected_score(value)) for value in (100, -50))
    scores = packed.scores.float().numpy()
    np.testing.assert_allclose(scores[:5], [np.nan, 1 - one, half, np.nan, 1], atol=1e-3)
    np.testing.assert_allclose(scores[5:40], 0.5)
    assert np.isnan(scores[40:]).all()
    assert packed.of(np.array([1, 4])).scores.tolist() == pytest.approx([1 - one, 1], abs=1e-3)
    assert positions([random_game(0, evals=None)]).scores is None


def test_the_loss_of_a_score():
    head = Value(8, CHESS, draws=True)
    logits = torch.tensor([[1.0, 0.5, -1.0], [9.0, -9.0, -200.0]], requires_grad=True)
    scores = torch.tensor([0.3, 0.0])
    losses = head.score_losses(logits, scores)
    win, draw, _ = logits[0].softmax(0)
    score = win + draw / 2
    by_hand = -(0.3 * score.log() + 0.7 * (1 - score).log())
    torch.testing.assert_close(losses[0], by_hand)
    losses.sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[1].abs().max() > 0.5  # sure, and wrong


def test_evaluations_count_by_their_weight(games):
    known = positions(games)
    rows = torch.arange(len(known))
    torch.manual_seed(0)
    trainer = TowerTrainer(make_network(RECIPE), RECIPE, RANK, compiled=False)
    trainer.network.eval()

    def losses(weight):
        batch = replace(known, score_weight=weight).batch(rows)
        with torch.no_grad():
            value = trainer.network(batch.planes.float(), batch.who.float())[1]
            return trainer._value_losses(batch, value), value, batch

    plain, value, batch = losses(0.0)
    assert batch.scores is None
    torch.testing.assert_close(plain, trainer.network.value.losses(value, batch.results))
    by_eval, *_ = losses(1.0)
    half, *_ = losses(0.5)
    torch.testing.assert_close(half, (plain + by_eval) / 2)
    unknown = torch.isnan(known.scores)  # the first position of each game
    assert unknown.nonzero().flatten().tolist() == list(range(0, 480, 40))
    torch.testing.assert_close(by_eval[unknown], plain[unknown])
    assert (by_eval - plain)[~unknown].abs().min() > 0.0


@pytest.mark.parametrize(("weight", "white"), [(0.0, 1.0), (1.0, float(expected_score(-400)))])
def test_the_head_learns_what_it_is_given(games, weight, white):
    learned = replace(positions(games), score_weight=weight)
    torch.manual_seed(0)
    trainer = TowerTrainer(make_network(RECIPE), RECIPE, RANK, compiled=False)
    list(trainer.run(learned))
    with torch.no_grad():
        scores = expected(trainer.averaged.module.eval(), learned.batch(torch.arange(400)))
    assert scores[::2].mean() == pytest.approx(white, abs=0.1)
    assert scores[1::2].mean() == pytest.approx(1 - white, abs=0.1)


def test_wrong_weights_are_refused(tmp_path):
    with pytest.raises(InputError, match="eval_weight: from 0 to 1, not 2"):
        ChessRecipe(eval_weight=2.0)
    with pytest.raises(InputError, match="panel_weight_low: a finite number from 0, not -1"):
        ChessRecipe(panel_weight_low=-1.0)
    table = table_of([random_game(0, evals=None)])
    with pytest.raises(InputError, match="eval_weight: no game has evaluations"):
        train(table, tmp_path, replace(RECIPE, eval_weight=0.5), rank=RANK)


def test_the_command_learns_from_evaluations_of_pgn(tmp_path):
    chooser = next(
        name for name in map(str, range(999)) if is_one_in(50, f"choose {name}".encode())
    )
    path = tmp_path / "games.pgn"
    write_pgn([random_game(n, white=name) for n, name in enumerate(["Ann", chooser] * 3)], path)
    command = [sys.executable, "-m", "kedge", "train", "chess", str(path)]
    command += ["--folder", str(tmp_path / "run"), "-s", "filters=8", "-s", "blocks=1"]
    command += ["-s", "batch=32", "-s", "warmup=2", "-s", "steps=3", "-s", "eval_weight=0.7"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["stages"][-1]["eval_weight"] == 0.7

"""Go's training: positions with their history and symmetries, and a small run."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.games.go import GoState, encode  # noqa: E402
from kedge.models.backends import OnnxNetwork  # noqa: E402
from kedge.models.encoding import GO  # noqa: E402
from kedge.records.go_games import GoGame  # noqa: E402
from kedge.records.go_table import tabulate_games  # noqa: E402
from kedge.training.distributed import Rank  # noqa: E402
from kedge.training.go import RECIPES, positions_of, train, turns  # noqa: E402
from kedge.training.imitation import Recipe  # noqa: E402


def played(seed, plies, **fields):
    state, rng = GoState(superko="simple"), np.random.default_rng(seed)
    for _ in range(plies):
        state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
    return GoGame(np.array(state.history, np.int16), **{"komi": 6.5, "result": "B+R", **fields})


@pytest.fixture(scope="module")
def table():
    games = [played(seed, 30, date="1990-01-01") for seed in range(4)]
    return tabulate_games([*games, played(9, 20, date="2015-06-01", komi=7.5, result="W+2.5")])


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
            masks, komi = encode([state])
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


def test_from_an_illegal_move_on_nothing_is_learned():
    good = played(1, 12, date="1990-01-01")
    moves = good.moves.copy()
    moves[8] = moves[0]  # occupied, unless captured, which twelve random stones are not
    table = tabulate_games([GoGame(moves, komi=6.5, date="1990-01-01"), good])
    found = positions_of(table, np.arange(2))
    assert len(found) == 8 + 12
    assert torch.equal(found.batch(torch.arange(8, 20)).moves, torch.from_numpy(good.moves).long())
    assert (found.first[8:] == 8).all()


def test_a_small_run_learns_and_exports(table, tmp_path: Path):
    recipe = Recipe(
        filters=8, blocks=1, se_ratio=4, steps=30, batch=32, warmup=2, learning_rate=5e-3,
        value_weight=0.01, average=0.5,
    )  # fmt: skip
    reports = list(train(table, tmp_path, recipe, rank=Rank(torch.device("cpu"))))
    assert reports[-1]["step"] == 30
    assert reports[-1]["loss"] < reports[0]["loss"]
    network = OnnxNetwork(tmp_path / "model.onnx")
    assert network.encoding is GO
    assert {"paper", "small"} <= set(RECIPES)

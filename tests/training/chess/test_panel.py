"""Models of single ratings that teach one model of all."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge import _core  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.models import shipped_models  # noqa: E402
from kedge.models.chess.lc0_moves import MOVES  # noqa: E402
from kedge.records import ChessGame  # noqa: E402
from kedge.records.splits import LEARN  # noqa: E402
from kedge.training.chess import panel  # noqa: E402
from kedge.training.chess.positions import positions_of, rows_of, table_of  # noqa: E402


@pytest.fixture(scope="module")
def games():
    board, moves = _core.ChessBoard(), []
    for _ in range(12):
        moves.append(board.legal_actions()[0])
        board.push(moves[-1])
    kinds = [(1490, "blitz", "lichess"), (1490, "bullet", "lichess"), (1490, "blitz", "fide")]
    return [
        ChessGame(
            np.array(moves, np.uint16), "1-0", rating, 2600, time_class=speed, scale=scale,
            white="Ann", black="Bo",
        )
        for rating, speed, scale in kinds
    ]  # fmt: skip


def test_a_model_teaches_the_people_of_its_rating(games, monkeypatch):
    one_rating = shipped_models.load_for_players("chess", elo=1500)
    monkeypatch.setattr(panel, "load_as", lambda kind, name: one_rating)
    table = table_of(games)
    rows = rows_of(table, table.sides(LEARN))
    taught = panel.taught_by({1500: "mine"}, table, rows, positions_of(table, rows))
    shares = taught.shares.float()
    # White's moves of the first game: the others are bullet, over the board, or of a 2600.
    assert shares.sum(1).nonzero().flatten().tolist() == list(range(0, 12, 2))
    torch.testing.assert_close(shares[0].sum(), torch.tensor(1.0), atol=1e-2, rtol=0)
    first = {MOVES[move] for move in taught.taught[0].tolist()}
    assert {"e2e4", "d2d4"} <= first
    weights = 0.5, 0.7
    for low, total in ((1300, 0.5), (1500, 0.7)):  # Ann has 1490
        monkeypatch.setattr(panel, "LOW", low)
        lighter = panel.taught_by({1500: "mine"}, table, rows, positions_of(table, rows), *weights)
        torch.testing.assert_close(lighter.shares[0].sum().item(), total, atol=1e-3, rtol=0)
        assert not lighter.shares[1].any()
    batch = taught.batch(torch.arange(2))
    assert bool(batch.legal[0].gather(0, batch.taught[0]).all())


def test_a_model_of_all_ratings_is_no_teacher_of_one(games):
    table = table_of(games)
    rows = rows_of(table, table.sides(LEARN))
    with pytest.raises(InputError, match="chess: not a chess model of one rating"):
        panel.taught_by({1500: "chess"}, table, rows, positions_of(table, rows))

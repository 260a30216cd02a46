"""An analysis orders its own moves: first what the agent plays."""

import numpy as np
import pytest

from kedge.agents import make_agent
from kedge.agents.agent import Analysis
from kedge.games.chess import ChessState


def analysis(**fields):
    arrays = {name: np.array(values) for name, values in fields.items()}
    return Analysis(**{"q": np.full(3, np.nan), "value": 0.0, **arrays})


def test_rows_are_best_first():
    found = analysis(anchor=[0.2, 0.5, 0.3], policy=[0.4, 0.2, 0.4], visits=[3, 9, 4])
    assert [row.index for row in found.rows()] == [0, 2, 1]  # the argmax, though fewer visits
    assert [row.index for row in found.rows(2)] == [0, 2]
    best = analysis(anchor=[0.2, 0.5, 0.3], policy=[0.4, 0.2, 0.4], best=2)
    assert [row.index for row in best.rows()] == [2, 0, 1]
    even = analysis(anchor=[0.2, 0.5, 0.3], policy=[0.0, 1.0, 0.0], visits=[2, 9, 2])
    assert [row.index for row in even.rows()] == [1, 2, 0]  # by the anchor


def test_rows_say_what_is_unknown():
    (row, *_) = analysis(anchor=[1.0, 0.0, 0.0], policy=[1.0, 0.0, 0.0]).rows()
    assert (row.q, row.visits, row.line, row.action) == (None, None, [], 0)


@pytest.mark.parametrize("temperature", [0, 1])
def test_with_forward_lambda_the_first_row_is_what_the_agent_plays(temperature):
    """Not the move with the most visits, which may be another."""
    spec = f"puct(chess, playouts=30, c_puct=8, forward_lambda=0.002, temperature={temperature})"
    agent, differ = make_agent(spec), 0
    for moves in ("", "e4 e5", "e4 c5 Nf3", "d4 d5 c4", "e4 e5 Nf3 Nc6 Bc4 Nf6"):
        state = ChessState.from_fen(ChessState().fen(), moves.split())
        (found,) = agent.analyse_many([state])
        first = found.rows()[0]
        assert first.policy == found.policy.max()
        differ += first.visits != found.visits.max()
    assert differ

"""The stand-ins for models of Diplomacy."""

from itertools import product

import numpy as np
import pytest

from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyBatch, DiplomacyState
from kedge.models.diplomacy.plain import CentreShares, UniformOrders

FRANCE = POWERS.index("FRANCE")


@pytest.fixture
def winter():
    """France may build twice, at three places; Italy must remove one of two."""
    return DiplomacyState.from_json(
        {
            "name": "W1901A",
            "units": {"FRANCE": ["A SPA"], "ITALY": ["A ROM", "A VEN"]},
            "centers": {"FRANCE": ["PAR", "MAR", "BRE"], "ITALY": ["ROM"]},
        }
    )


def test_every_order_is_drawn_alike():
    state = DiplomacyState.from_json(
        {"name": "S1901M", "units": {"FRANCE": ["A PIC", "F LYO"]}, "centers": {}}
    )
    options = state.orders("FRANCE")
    [drawn] = UniformOrders().draw([(state, FRANCE)], 20_000, np.random.default_rng(0))
    all_of_them = {
        tuple(state.pack({"FRANCE": pair}).tolist()) for pair in product(*options.values())
    }
    assert {tuple(orders.tolist()) for orders in drawn.orders} == all_of_them
    np.testing.assert_allclose(drawn.log_probability, -np.log(len(all_of_them)))
    assert drawn.counts.sum() == 20_000
    assert drawn.counts.min() > 0.6 * drawn.counts.mean()


def test_winter(winter):
    italy, england = POWERS.index("ITALY"), POWERS.index("ENGLAND")
    questions = [(winter, power) for power in (FRANCE, italy, england)]
    builds, removals, nothing = UniformOrders().draw(questions, 500, np.random.default_rng(0))
    # Two of PAR (army), MAR and BRE (army or fleet).
    assert len(builds.orders) == 2 + 2 + 4
    assert np.exp(builds.log_probability).sum() == pytest.approx(1.0)
    assert len(removals.orders) == 2
    assert [orders.tolist() for orders in nothing.orders] == [[]]
    for orders in builds.orders:
        after = winter.board.adjudicate(orders)
        assert len(after.units()[FRANCE]) == 3


def test_scores_add_up(winter):
    for state in (winter, Diplomacy().initial_state()):
        model = UniformOrders()
        [drawn] = model.draw([(state, FRANCE)], 5, np.random.default_rng(0))
        scores = model.score([(state, FRANCE)] * len(drawn.orders), drawn.orders)
        np.testing.assert_allclose([score.sum() for score in scores], drawn.log_probability)
    assert model.score([(state, FRANCE)], [np.array([1], np.uint32)])[0] == -np.inf


def test_centre_shares(winter):
    boards = DiplomacyBatch([winter.board, Diplomacy().initial_state().board])
    values = CentreShares().values(boards)
    np.testing.assert_allclose(values[0], winter.shares())
    assert values[0, FRANCE] == pytest.approx(0.9)
    assert values.shape == (2, 7)

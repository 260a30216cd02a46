"""What a player's earlier orders tell: the history that a benchmark sums up, and what it learns."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.games.diplomacy import POWERS, Diplomacy  # noqa: E402
from kedge.models import shipped_models  # noqa: E402
from kedge.records.diplomacy.games import DiplomacyGame, Phase  # noqa: E402

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "diplomacy_players.py"
FRANCE, GERMANY, ITALY = map(POWERS.index, ("FRANCE", "GERMANY", "ITALY"))


@pytest.fixture(scope="module")
def players():
    spec = importlib.util.spec_from_file_location("diplomacy_players", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["diplomacy_players"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["diplomacy_players"]


def game(name, *phases):
    state, found = Diplomacy().initial_state(), []
    for orders in phases:
        found.append(Phase.of(state, orders))
        state.apply(orders)
    return DiplomacyGame(name, tuple(found))


ATTACK = [
    {"FRANCE": ["A PAR - BUR"], "GERMANY": ["A MUN H"]},
    {"FRANCE": ["A BUR - MUN", "A MAR - PIE"], "GERMANY": ["A MUN H", "A BER S A MUN"]},
    {"FRANCE": ["A BUR H"], "GERMANY": ["A MUN H"]},
]


def test_kinds_of_orders(players):
    state = Diplomacy().initial_state()
    state.apply(ATTACK[0])
    units, owners = players.holders([state])
    texts = ["A BUR - MUN", "A BUR - RUH", "A BUR - BEL", "A MAR S A BUR", "A MAR S A BUR - GAS",
             "A MAR - PIE", "A BUR S A MUN", "A BUR H"]  # fmt: skip
    orders = np.concatenate([state.pack({"FRANCE": [text]}) for text in texts])
    rows = np.zeros(len(orders), int)
    kind, other = players.kinds_of(orders, rows + FRANCE, units[rows], owners[rows])
    assert [players.KINDS[each] for each in kind] == [
        "move at", "move", "move", "support", "support move", "move", "help", "hold",
    ]  # fmt: skip
    assert other.tolist() == [GERMANY, *[players.NOBODY] * 5, GERMANY, players.NOBODY]


def test_players_are_known_by_their_earlier_orders_alone(players):
    weights = shipped_models.load("diplomacy")
    made = players.decisions_of([game("a", *ATTACK), game("b", ATTACK[0])], weights)
    units = [3, 3, 3, 3, 3, 3, 3, 3]  # France's and Germany's in each phase
    assert len(made.chosen) == sum(units)
    first, second, third = (made.style[6 * i : 6 * i + 3] for i in range(3))
    assert not first.any()
    assert not made.style[18:].any(), "another game begins anew"
    assert bool((second[0] == second[2]).all()), "the units of one player"
    hold, move_at = players.HOLD, players.MOVE_AT
    # Two of three units held, of 3 orders and the prior ten.
    assert float(second[0, hold]) == pytest.approx(2 / 13)
    assert float(third[0, move_at]) == pytest.approx(1 / 16)
    assert not second[:, move_at].any()
    attacks = made.relations[12:18, :, 0]
    assert attacks[:3].nonzero().tolist() == [[i, GERMANY] for i in range(3)]
    assert not attacks[3:].any(), "Germany attacked nobody"
    suffered = made.relations[12:18, :, 4]
    assert suffered[3:].nonzero().tolist() == [[i, FRANCE] for i in range(3)]


def test_a_habit_is_learned(players):
    """Some players always hold, others never: only a shift that sees their past can tell."""
    rng = np.random.default_rng(0)
    count, options = 600, 4
    holds = rng.random(count) < 0.5
    style = torch.zeros(count, 5)
    style[:, 0] = torch.from_numpy(np.where(holds, 0.5, -0.5))
    kind = torch.tensor([players.HOLD, players.MOVE, players.MOVE, players.MOVE]).repeat(count)
    choice = torch.arange(count).repeat_interleave(options)
    chosen = torch.arange(count) * options + torch.from_numpy(np.where(holds, 0, 1))
    logits = torch.zeros(count * options)
    given = players.Decisions(
        logits, choice, kind, torch.full((count * options,), players.NOBODY), chosen,
        torch.from_numpy(np.arange(count) // 20), style,
        torch.zeros(count, len(POWERS), 3), logits,
    )  # fmt: skip
    losses = {
        name: players.by_folds(given, **way)[:, 1].mean() for name, way in players.WAYS.items()
    }
    assert losses["calibrated"] == pytest.approx(np.log(2) + np.log(3) / 2, abs=0.05)
    assert losses["history, linear"] < losses["calibrated"] - 0.5
    assert losses["history, 32 hidden units"] < losses["calibrated"] - 0.5


def test_errors_are_clustered_by_game(players):
    values = np.repeat([0.0, 1.0, 2.0], 50)
    mean, error = players.mean_and_error(values, np.repeat(np.arange(3), 50))
    assert (mean, error) == (1.0, pytest.approx(1 / np.sqrt(3)))

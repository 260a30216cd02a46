"""Orders predicted: known answers, unit by unit."""

import numpy as np
import pytest
from diplomacy_players import AnyOrder, RandomOrders

from kedge.agents.diplomacy.players import OrdersAnalysis
from kedge.evaluation.diplomacy.prediction import ANCHOR_SHARE, LEAST, order_sums, predict_orders
from kedge.games.diplomacy import POWERS, Diplomacy, format_orders, place_of
from kedge.models.diplomacy.encoding import Choices
from kedge.records import DiplomacyGame, Phase
from kedge.records.diplomacy.games import is_for_testing
from kedge.records.diplomacy.positions import human_orders, order_sieve

FRANCE = POWERS.index("FRANCE")
ORDERS = {
    "FRANCE": ["A PAR - BUR", "A PAR H", "A MAR S A PAR - BUR"],
    "GERMANY": ["A MUN - BUR", "F KIE - DEN", "A BER - SPA"],
    "ITALY": ["A VEN H"],
}


def game(*phases, **fields):
    """Phases as given by orders, from the start."""
    state, found = Diplomacy().initial_state(), []
    for orders in phases:
        found.append(Phase.of(state, orders))
        state.apply(orders)
    return DiplomacyGame(**{"id": "one", "phases": tuple(found), "tier": "A", **fields})


def test_orders_of_people():
    one = game(ORDERS, {"FRANCE": ["F BRE - MAO"]}, human_powers=("FRANCE", "GERMANY", "TURKEY"))
    first, second, third = human_orders(one, [0, 1])
    # Of two orders the first counts; what is illegal or not given is a hold; Italy is a program's.
    assert sorted(format_orders(first.orders)) == ["A MAR S A PAR - BUR", "A PAR - BUR", "F BRE H"]
    assert sorted(format_orders(second.orders)) == ["A BER H", "A MUN - BUR", "F KIE - DEN"]
    assert first.state is second.state
    assert (third.phase.name, third.power, third.state.phase) == ("F1901M", FRANCE, "F1901M")
    assert list(human_orders(one, [])) == []


def test_orders_come_as_models_answer():
    lists = {"GERMANY": ["F KIE - DEN", "A MUN - RUH", "A BER - KIE"]}
    for one in human_orders(game(ORDERS, lists, {}, lists), range(4)):
        places = Choices.on([one.state.board], [one.power]).places
        assert place_of(one.orders).tolist() == places.tolist()


def test_which_phases_count():
    one = game(ORDERS, {}, {"GERMANY": ["A KIE B"]}, {"FRANCE": ["F BRE - MAO"]})
    sieve = order_sieve(everything=True)
    assert sieve.plies(one).tolist() == [0, 3]
    assert sieve.plies(game(ORDERS, human_powers=())).tolist() == []
    assert sieve.plies(game(ORDERS, human_powers=("TURKEY",))).tolist() == []
    wrong = game(ORDERS, phases=(one.phases[0], one.phases[0]))
    assert sieve.plies(wrong).tolist() == []
    assert sieve.left_out == {"by bots": 1, "without orders": 1, "against the rules": 1}
    assert order_sieve(everything=True, tier="B").plies(one).tolist() == []
    programs = game(ORDERS, {"TURKEY": ["A SMY H"]}, human_powers=("FRANCE", "GERMANY", "ITALY"))
    assert order_sieve(everything=True, bots=True).plies(programs).tolist() == [1]
    [program] = human_orders(programs, [0, 1], bots=True)
    assert (POWERS[program.power], program.phase.name) == ("TURKEY", programs.phases[1].name)
    assert order_sieve(everything=True, bots=True).plies(one).tolist() == []
    names = [f"game {i}" for i in range(200)]
    held = [name for name in names if len(order_sieve().plies(game(ORDERS, id=name)))]
    assert held == [name for name in names if is_for_testing(game(ORDERS, id=name))] != []


def analysis(state, *candidates):
    """Joint orders of France with their probabilities."""
    orders = [state.pack({"FRANCE": texts.split(", ")}) for texts, _ in candidates]
    policy = np.array([share for _, share in candidates])
    return OrdersAnalysis(policy, policy, policy, 0.0, orders=orders)


def test_sums_by_hand():
    state = Diplomacy().initial_state()
    found = analysis(
        state,
        ("F BRE - MAO, A PAR - PIC, A MAR - SPA", 0.4),
        ("F BRE - MAO, A PAR - BUR, A MAR H", 0.35),
        ("F BRE - ENG, A PAR - BUR, A MAR - SPA", 0.25),
    )
    played = state.pack({"FRANCE": ["F BRE - MAO", "A PAR - BUR", "A MAR - GAS"]})
    anchor = np.array([0.5, 0.2, 0.1])
    count, top1, top5, loss = order_sums(found, played, anchor)
    # Paris - Burgundy is likelier, but not in the likeliest joint action.
    assert (count, top1, top5) == (3, 1, 2)
    keep = 1 - ANCHOR_SHARE
    chances = [keep * 0.75 + 5e-4, keep * 0.6 + 2e-4, 1e-4]
    assert loss == pytest.approx(-np.log(chances).sum())
    *_, worst = order_sums(found, played[2:], np.zeros(1))
    assert worst == pytest.approx(-np.log(LEAST))


def test_predictions_are_split_and_sum_up():
    ratings = (None, None, 1130.0, 990.0, None, None, None)
    games = [game(ORDERS, {"FRANCE": ["F BRE - MAO"]}, ratings=ratings), game(ORDERS, tier=None)]
    chosen = [one for played in games for one in human_orders(played, range(len(played)))]
    agent = RandomOrders()
    found = predict_orders(chosen, agent, np.random.default_rng(0)).to_json()
    assert (found["games"], found["positions"]) == (2, 21)
    [asked] = agent.asked
    assert len({id(state) for state, _ in asked}) == 3
    groups = found["groups"]
    counts = {
        kind: {label: (one["games"], one["positions"]) for label, one in labels.items()}
        for kind, labels in groups.items()
    }
    assert counts == {
        "tier": {"A": (1, 12), "unknown": (1, 9)},
        "power": {"FRANCE": (2, 9), "GERMANY": (2, 6), "ITALY": (2, 6)},
        "season": {"fall": (1, 3), "spring": (2, 18)},
        "years": {"1901-1902": (2, 21)},
        "rating": {"900-999": (1, 3), "1100-1199": (1, 6)},
    }
    assert list(groups["rating"]) == ["900-999", "1100-1199"]
    for labels in (groups["power"], groups["season"]):
        total = sum(one["positions"] * one["cross_entropy"] for one in labels.values())
        assert total == pytest.approx(21 * found["cross_entropy"])


def test_an_agent_that_knows_scores_everything():
    class Knows(RandomOrders):
        model = AnyOrder()

        def analyse_many(self, questions, rng):
            sure = np.ones(1)
            return [OrdersAnalysis(sure, sure, sure, 0.0, orders=[one.orders]) for one in chosen]

    chosen = list(human_orders(game(ORDERS), [0]))
    found = predict_orders(chosen, Knows(), np.random.default_rng(0)).to_json()
    assert found["top1"] == found["top5"] == 1.0
    assert found["cross_entropy"] < ANCHOR_SHARE

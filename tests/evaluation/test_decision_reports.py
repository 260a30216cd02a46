"""Reports of Hanabi and Diplomacy: exact numbers from agents that know nothing, sense from ours."""

from dataclasses import replace
from itertools import islice
from math import inf, isnan, nan

import numpy as np
import pytest
from hanabi_players import Peeking, people

from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.evaluation.decision_reports import (
    DecisionOption,
    DecisionReport,
    DecisionsReport,
    Part,
    Scale,
)
from kedge.evaluation.diplomacy.analysis import analyse_orders
from kedge.evaluation.hanabi.analysis import analyse_hanabi
from kedge.evaluation.review import review_of
from kedge.games.diplomacy import Diplomacy, DiplomacyState
from kedge.records import DiplomacyGame, Phase, replayed_games, replayed_hanabi_games

OPENING = {
    "FRANCE": ["A PAR - BUR", "A MAR S A PAR - BUR", "F BRE - MAO"],
    "TURKEY": ["A SMY H"],  # the others hold, too
}
SCALE = Scale("points", 1.0, 2.0)


def option(move, anchor=0.5, q=nan):
    return DecisionOption(move, move, anchor, 0.5, q)


def decision(played, choice, *, turn=0, player=0, rank=2, kl=0.0, parts=()):
    return DecisionReport(
        turn, player, played, rank, (option("people"),), choice, kl, SCALE, parts
    )  # fmt: skip


def spring():
    state = Diplomacy().initial_state()
    return DiplomacyGame("spring", (Phase.of(state, OPENING),))


@pytest.mark.parametrize(
    ("played", "chosen", "loss", "mark"),
    [(1.0, 1.9, 0.9, ""), (1.0, 2.5, 1.5, "?"), (1.0, 3.0, 2.0, "??"), (2.0, 1.0, 0.0, "")],
)
def test_what_a_decision_costs(played, chosen, loss, mark):
    one = decision(option("a", q=played), option("b", q=chosen))
    assert one.loss == pytest.approx(loss)
    assert one.mark == mark


def test_nothing_is_marked_where_nothing_is_known():
    one = decision(option("a"), option("b", q=1.0))
    assert isnan(one.loss)
    assert one.mark == ""


def test_a_rare_order_that_search_gives_too_is_marked():
    played = option("a", anchor=0.2)
    assert decision(played, played).mark == ""
    rare = (Part("a", "a", 0.9), Part("b", "b", 0.05))
    assert decision(played, played, parts=rare).mark == "!"
    assert decision(played, played, parts=rare, rank=1).mark == "", "most people give it"


def test_disagreements_are_the_furthest_of_each_player():
    far = [
        decision(option("a"), option("b", 0.1), turn=turn, player=turn % 2, kl=0.2 + 0.1 * turn)
        for turn in range(10)
    ]
    near = decision(option("a"), option("b", 0.1), turn=10, kl=0.01)
    tied = decision(option("a"), option("b"), turn=10, kl=2.0)
    agreed = decision(option("a"), option("people"), turn=11, kl=2.0)
    report = DecisionsReport(
        people(1)[0],
        "any",
        ("A", "B"),
        ("1.",) * 12,
        (*far, near, tied, agreed),
        ((0.0,),) * 13,
        SCALE,
    )
    assert report.disagreements == [9, 8, 7, 6, 5, 4]
    assert report.players[0].decisions == 8
    assert report.players[1].probability == pytest.approx(0.5)


def test_hanabi_move_by_move():
    [game] = people(1)
    told = []
    report = analyse_hanabi(
        game, Peeking(lam=0.5), "peeking", np.random.default_rng(0), told.append
    )
    assert told == [*range(1, len(game) + 1)]
    assert len(report.decisions) == len(game) == len(report.values) - 1
    assert [one.player for one in report.decisions[:4]] == [0, 1, 0, 1]
    for one, state in zip(report.decisions, game.states(), strict=False):
        legal = len(state.legal_actions())
        assert one.played.anchor == pytest.approx(1 / legal)
        assert one.rank == 1, "of equals"
        assert one.choice.policy >= one.played.policy
        assert one.choice.q >= one.people[0].q
    person = report.players[1]
    assert 0.0 < person.top1 < 0.2, "a share of each tie"
    assert report.disagreements == []
    assert person.name == "Ann"
    assert person.cross_entropy > 2.0
    assert report.players[0].loss > person.loss, "who knows the cards plays better"


def test_what_was_built_counts_after_a_bomb():
    [game] = people(1, bomb="zero")
    *_, end = game.states()
    assert end.lives == 0
    report = analyse_hanabi(game, Peeking(), "peeking", np.random.default_rng(0))
    assert report.values[-1] == (sum(end.fireworks),)


def test_slips_are_nobodys_decisions():
    [game] = people(1)
    report = analyse_hanabi(
        replace(game, slips=(1, 2)), Peeking(), "peeking", np.random.default_rng(0)
    )
    assert [one.turn for one in report.decisions] == [0, *range(3, len(game))]
    assert len(report.values) == len(game) + 1


def test_orders_of_every_power():
    agent = make_agent("pikl-hedge(uniform-orders, lambda=0.1, iterations=32)")
    told = []
    report = analyse_orders(spring(), agent, "any", np.random.default_rng(0), told.append)
    assert told == [0, 1]
    assert report.turns == ("S1901M",)
    france, turkey = report.decisions
    assert (france.turn, report.names[france.player]) == (0, "France")
    assert sorted(france.played.move) == sorted(OPENING["FRANCE"])
    assert {part.name for part in france.parts} == {"PAR-BUR", "MAR S PAR-BUR", "BRE-MAO"}
    options = {place: len(texts) for place, texts in Diplomacy().initial_state().orders().items()}
    for part in france.parts:
        assert part.anchor == pytest.approx(1 / options[part.move.split()[1]])
    joint = np.prod([part.anchor for part in france.parts])
    assert france.played.anchor == pytest.approx(joint)
    assert france.people[0].anchor == pytest.approx(joint), "all orders are alike"
    assert 0.0 < france.played.q < 1.0, "however unlikely it is, it was searched"
    assert france.rank == turkey.rank == 1, "of equals"
    assert min(france.ties, turkey.ties) > 1
    assert report.players[france.player].top1 == pytest.approx(1 / france.ties)
    assert {part.move for part in turkey.parts} == {"A SMY H", "A CON H", "F ANK H"}
    assert len(report.values) == 2
    assert sum(report.values[0]) == pytest.approx(1.0)


def test_each_order_has_its_own_likelihood():
    """Whatever the order in which a record has the units."""

    def likely(*units):
        orders = {"FRANCE": [f"{unit} H" for unit in units]}
        position = {"name": "S1901M", "units": {"FRANCE": units}, "centers": {"FRANCE": ["PAR"]}}
        game = DiplomacyGame("two", (Phase.of(DiplomacyState.from_json(position), orders),))
        agent = replace(make_agent("diplomacy"), samples=8)
        [one] = analyse_orders(game, agent, "any", np.random.default_rng(0)).decisions
        return {part.name: part.anchor for part in one.parts}

    found = likely("A PAR", "F BRE")
    assert likely("F BRE", "A PAR") == pytest.approx(found)
    assert found["PAR H"] != pytest.approx(found["BRE H"])


def test_a_model_by_itself_values_nothing():
    agent = replace(make_agent("uniform-orders"), samples=8)
    report = analyse_orders(spring(), agent, "any", np.random.default_rng(0))
    assert all(isnan(one.loss) for one in report.decisions)
    assert report.players[2].decisions == 1


def test_an_agent_of_another_game_cannot_review():
    with pytest.raises(InputError, match="does not play diplomacy"):
        review_of("diplomacy").reviewer("hanabi")


def test_a_game_of_people_at_diplomacy(shared):
    game = next(replayed_games(shared("data/diplomacy/droidippy.jsonl.xz")))
    game = replace(game, phases=game.phases[:3], final=None)
    report = review_of("diplomacy").reviewer("pikl-hedge(diplomacy, lambda=0.01, iterations=64)")(
        game, lambda turns: None
    )
    assert [one.turn for one in report.decisions] == sorted(one.turn for one in report.decisions)
    for one in report.decisions:
        assert 0.0 <= one.loss < 1.0
        assert one.played.anchor == pytest.approx(np.prod([part.anchor for part in one.parts]))
        assert one.people[0].anchor >= one.played.anchor or one.rank == 1
        same = [other for other in one.people if other.move == one.played.move]
        assert all(other.anchor == pytest.approx(one.played.anchor, rel=1e-3) for other in same)


def test_a_game_of_people_at_hanabi(shared):
    games = replayed_hanabi_games(shared("data/hanabi/human_ai_2p.jsonl.xz"))
    game = next(islice(games, 18, None))
    review = review_of("hanabi").reviewer("sparta(hanabi, lambda=0.5, rollouts=100)")
    report = review(replace(game, actions=game.actions[:8], score=None), lambda turns: None)
    assert len(report.decisions) == 8
    assert all(0.0 <= one.loss < 25.0 and one.kl_to_anchor < inf for one in report.decisions)

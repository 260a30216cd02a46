"""The inputs of Diplomacy networks, compared with a plain twin that reads like people."""

import numpy as np
import pytest
from random_diplomacy import CENTRE_NAMES, HOMES, random_states

from kedge import _core
from kedge.games.diplomacy import LOCATIONS, POWERS, Diplomacy, DiplomacyState
from kedge.models.diplomacy.encoding import (
    EVERYBODY,
    FACT_ROWS,
    FACTS,
    ORDER_ROWS,
    PLACES,
    TOKENS,
    WAIVE,
    Choices,
    facts_of,
    tells_previous,
)

# Where the rows of each kind of fact begin.
PLACE, POWER, PHASE, UNIT, DISLODGED, CENTRE = 1, 82, 89, 94, 108, 122
HOME, ADJUSTABLE, KIND, TARGET, DESTINATION = 130, 137, 139, 150, 231
CENTRES, UNITS, ADJUSTMENT, END = 312, 347, 382, 417
KINDS = {"H": 1, "-": 2, "VIA": 3, "S": 4, "S -": 5, "C": 6}


def plain_facts(state):
    position = state.to_json()
    facts = np.zeros((TOKENS, FACTS), int)
    at = {name: LOCATIONS.index(name) for name in LOCATIONS}
    facts[:, 0] = PLACE + np.arange(TOKENS)
    facts[:, 1] = PHASE + ["SM", "SR", "FM", "FR", "WA"].index(state.phase[0] + state.phase[-1])
    for column, first, field in ((2, UNIT, "units"), (3, DISLODGED, "dislodged")):
        for power, units in position.get(field, {}).items():
            for unit in units:
                kind, name = unit.split()
                for place in {name, name[:3]}:
                    row = first + 7 * (kind == "F") + POWERS.index(power)
                    facts[at[place], column] = row
    owners = {name: power for power, names in position["centers"].items() for name in names}
    for name in LOCATIONS:
        if name in CENTRE_NAMES:
            owner = owners.get(name)
            facts[at[name], 4] = CENTRE + (7 if owner is None else POWERS.index(owner))
    for i, power in enumerate(POWERS):
        for name in HOMES[power]:
            facts[at[name], 5] = HOME + i
        for name, texts in state.orders(power).items() if state.phase[-1] == "A" else ():
            facts[at[name[:3]], 6] = ADJUSTABLE + texts[0].endswith("D")
        units = position["units"].get(power, [])
        facts[PLACES + i, 2:5] = (
            CENTRES + len(position["centers"].get(power, [])),
            UNITS + len(units),
            ADJUSTMENT + 17 + state.adjustment(power),
        )
    for order in state.previous:
        words = _core.diplomacy_format_order(int(order)).split()
        verb = words[2] + (" -" if words[2] == "S" and "-" in words else "")
        row = facts[at[words[1]]]
        row[7] = KIND + KINDS["VIA" if words[-1] == "VIA" else verb]
        row[8] = TARGET + (at[words[4]] if verb[0] in "SC" else 0)
        row[9] = DESTINATION + (at[words[words.index("-") + 1]] if "-" in words else 0)
    return facts


def test_facts_are_those_of_the_plain_twin():
    assert END == FACT_ROWS
    states = [state for seed in range(3) for state in random_states(seed)]
    assert {state.phase[-1] for state in states} == set("MRA")
    facts = facts_of(states)
    for state, found in zip(states, facts, strict=True):
        np.testing.assert_array_equal(found, plain_facts(state), err_msg=str(state))
    batch = _core.DiplomacyBatch([state.board for state in states])
    np.testing.assert_array_equal(
        _core.diplomacy_batch_facts(batch), np.where(tells_previous(), 0, facts)
    )


def test_choices_are_the_legal_orders():
    for state in random_states(7):
        choices = Choices.on([state.board], [EVERYBODY])
        found = {}
        powers = np.repeat(choices.powers, choices.counts)
        for choice, (place, power) in enumerate(zip(choices.places, powers, strict=True)):
            texts = {_core.diplomacy_format_order(int(order)) for order in choices.of(choice)}
            name = "" if place == PLACES else LOCATIONS[place]
            found.setdefault((POWERS[power], name), []).append(texts)
        wanted = {}
        for power in POWERS:
            orders = state.orders(power)
            if state.phase[-1] == "A" and orders:
                together = set().union(*orders.values())
                wanted[power, ""] = [together] * abs(state.adjustment(power))
            elif state.phase[-1] != "A":
                wanted |= {(power, name): [set(texts)] for name, texts in orders.items()}
        assert found == wanted


def test_choices_are_grouped_by_power():
    """Also on boards where some powers have no choice, or none has."""
    boards = [state.board for state in random_states(7)]
    for powers in ([EVERYBODY] * len(boards), [i % len(POWERS) for i in range(len(boards))]):
        choices = Choices.on(boards, powers)
        due = np.array([[board.orders_due(power) for power in range(7)] for board in boards])
        asked = np.array(powers)[:, None]
        due[(asked != EVERYBODY) & (asked != np.arange(7))] = 0
        np.testing.assert_array_equal([choices.boards, choices.powers], np.nonzero(due))
        np.testing.assert_array_equal(choices.counts, due[due > 0])
        np.testing.assert_array_equal(choices.first, np.cumsum(due[due > 0]) - due[due > 0])
    nothing = Choices.on([], [])
    assert len(nothing.first) == len(nothing.counts) == 0


def test_orders_that_differ_are_told_apart():
    texts = ["A PAR H", "A PAR - BUR", "A PAR S A MAR - BUR", "A PAR S A MAR",
             "A PAR S A MUN - BUR", "F MAO C A BRE - POR", "F MAO C A BRE - GAS",
             "A LON - BEL VIA", "A LON - BEL",
             "A PAR B", "F BRE B", "A BRE B", "A PAR D", "A PAR R GAS", "WAIVE"]  # fmt: skip
    orders = np.array([_core.diplomacy_parse_order(text) for text in texts], np.uint32)
    facts = _core.diplomacy_order_facts(orders)
    assert len({tuple(row) for row in facts.tolist()}) == len(texts)
    assert facts[:, :3].max() < ORDER_ROWS
    assert facts[:, 3:].max() <= 4 * PLACES


@pytest.fixture
def winter():
    """France may build twice, at three places; Italy must remove two of three."""
    return DiplomacyState.from_json(
        {
            "name": "W1901A",
            "units": {"FRANCE": ["A SPA"], "ITALY": ["A ROM", "A VEN", "F NAP"]},
            "centers": {"FRANCE": ["PAR", "MAR", "BRE"], "ITALY": ["ROM"]},
        }
    )


def test_builds_and_removals_go_by_place(winter):
    choices = Choices.on([winter.board] * 2, [2, 4])
    assert choices.counts.tolist() == [2, 2]
    builds, removals = choices.of(0), choices.of(2)
    names = [_core.diplomacy_format_order(int(order)) for order in builds]
    assert names == ["A BRE B", "F BRE B", "A MAR B", "F MAR B", "A PAR B", "WAIVE"]
    after, until = choices.openings()
    after = [after[slice(*choices.offsets[i : i + 2])].tolist() for i in range(4)]
    # After Brest comes Marseilles, after Paris nothing but waiving, and then only that.
    assert after[0] == after[1] == [2, 2, 4, 4, 5, 5]
    assert len(removals) == 3
    assert after[2] == after[3] == [1, 2, 3]
    # Of the removals one must be left for the second.
    assert until.tolist() == [6, 6, 2, 3]
    spring = Diplomacy().initial_state().board
    after, until = Choices.on([spring], [2]).openings()
    assert not after.any()
    assert until.sum() == len(after)


def test_openings_do_not_depend_on_the_other_boards(winter):
    spring = Diplomacy().initial_state().board
    alone = Choices.on([winter.board], [2]).openings()[0].tolist()
    after, _ = Choices.on([winter.board, spring, winter.board], [2] * 3).openings()
    assert after[: len(alone)].tolist() == alone
    assert after[-len(alone) :].tolist() == alone


def test_orders_are_matched_to_choices(winter):
    choices = Choices.on([winter.board] * 2, [2, 4])
    one = winter.pack({"FRANCE": ["A PAR B"]})
    assert choices.matched(slice(0, 2), one).tolist() == [one[0], WAIVE]
    two = winter.pack({"ITALY": ["A VEN D", "F NAP D"]})
    assert choices.matched(slice(2, 4), two).tolist() == two[::-1].tolist()
    assert not choices.matched(slice(2, 4), two[:1]).any()  # too few: the platform chose
    spring = Diplomacy().initial_state()
    moves = spring.pack({"FRANCE": ["A PAR - BUR", "F BRE - MAO"]})
    choices = Choices.on([spring.board], [2])
    assert choices.matched(slice(0, 3), moves).tolist() == [moves[1], 0, moves[0]]


def test_lists_must_fit_the_boards():
    board = Diplomacy().initial_state().board
    with pytest.raises(ValueError, match="previous"):
        _core.diplomacy_facts([board], [])
    with pytest.raises(ValueError, match="one per board"):
        _core.diplomacy_choices([board], np.zeros(2, np.uint8))

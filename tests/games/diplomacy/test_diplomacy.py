"""Diplomacy, held to the DATC, to games that people played, to `diplomacy` and to a plain twin."""

import json
import lzma
import os
import random
from itertools import chain, islice, pairwise
from pathlib import Path

import numpy as np
import plain_diplomacy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_diplomacy import random_states

from kedge import _core
from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.diplomacy import (
    BORDERS,
    LOCATIONS,
    POWERS,
    Diplomacy,
    DiplomacyState,
    adjudicate_many,
    coordinated,
    failed_moves,
    format_orders,
    parts_of,
)
from kedge.records.diplomacy.positions import replayed_games

# The names of jDip, where they are not those of the field's records.
ALIASES = {"MID": "MAO", "NRG": "NWG", "NAT": "NAO", "HOLD": "H"}


def lists(by_power):
    return {power: sorted(texts) for power, texts in (by_power or {}).items() if texts}


def test_map():
    assert len(LOCATIONS) == 81
    assert list(LOCATIONS) == sorted(LOCATIONS)
    assert len({place[:3] for place in LOCATIONS}) == 75
    assert [len(BORDERS[unit]) for unit in "AF"] == [222, 282]
    for pairs in BORDERS.values():
        assert {(b, a) for a, b in pairs} == pairs


def test_datc(oracle):
    cases = oracle("datc_cases.json")["cases"]
    assert len(cases) == 148
    for case in cases:
        state = position_of(case)
        state.apply(case["orders"])
        position = state.to_json()
        assert lists(position["units"]) == lists(case["post_units"]), case["id"]
        if case["post_dislodged"]:
            assert lists(position["dislodged"]) == lists(case["post_dislodged"]), case["id"]


def position_of(case):
    """Retreats depend on the phase before, which the case tells line by line."""
    fields = {"name": case["phase"], "units": case["units"], "centers": case.get("centers")}
    state = DiplomacyState.from_json(fields | {"dislodged": case.get("dislodged")})
    units, orders = {}, {}
    for line in case.get("prev_results_raw", ()):
        # 6.H.5 has a support of 6.H.4 by mistake, 6.H.16 leaves out a coast.
        fixed = line.replace("F con S A ruh-hol", "F con S F bla-ank").replace("d-spa", "d-spa/nc")
        _, power, text = (part.strip().upper() for part in fixed.split(":"))
        words = text.replace("-", " - ").replace("VIA CONVOY", "VIA").split()
        words = [ALIASES.get(word, word) for word in words]
        units.setdefault(power, []).append(" ".join(words[:2]))
        orders.setdefault(power, []).append(" ".join(words))
    earlier = DiplomacyState.from_json({"name": "S1901M", "units": units})
    earlier.apply(orders)
    # 6.H.14 has units where they were before that phase.
    same = lists(earlier.to_json()["units"]) == lists(case["units"])
    return earlier if units and same else state


@pytest.mark.parametrize("name", ["droidippy", "cicero40", "searchbot_selfplay"])
def test_games_of_people(name):
    """Every phase leads to the next one."""
    root = os.environ.get("KEDGE_DATA")
    path = Path(root or "", "data/diplomacy", f"{name}.jsonl.xz")
    if root is None or not path.exists():
        pytest.skip(f"no data/diplomacy/{name}.jsonl.xz under KEDGE_DATA")
    phases = 0
    with lzma.open(path, "rt") as file:
        for line in islice(file, 300):
            game = json.loads(line)
            for before, after in pairwise(game["phases"]):
                phases += 1
                assert not disagreement(before, after), (game["id"], before["name"])
    assert phases > 800


def disagreement(before, after):
    """Return the differences from the record, except for conventions of its platform."""
    state = DiplomacyState.from_json(before)
    orders = {
        power: [*before["orders"].get(power, []), *before.get("auto", {}).get(power, [])]
        for power in POWERS
    }
    state.apply(orders)
    position = state.to_json()
    wrong = [] if lists(position["units"]) == lists(after["units"]) else ["units"]
    # Some list, and give a phase to, units that have nowhere to go; some end a game at once.
    if position["name"] != after["name"]:
        return [*wrong, *(["name"] if not after["name"].endswith("R") else [])]
    gone = {unit for units in lists(position.get("dislodged")).values() for unit in units}
    listed = {unit for units in lists(after.get("dislodged")).values() for unit in units}
    if gone - listed:
        wrong.append("dislodged")
    # Droidippy shows Fall's centres before its retreats.
    if not after["name"].endswith("R") and lists(position["centers"]) != lists(after["centers"]):
        wrong.append("centres")
    return wrong


def test_agrees_with_diplomacy_on_random_play():
    """Legal orders, results and retreats.

    Left out are supports that say a coast (DATC 6.B.9), and those of convoyed armies, which the
    package counts even against the supporting power's own unit.
    """
    engine = pytest.importorskip("diplomacy", reason="the package diplomacy is not installed")
    rng = random.Random(0)
    for _ in range(6):
        theirs, ours = engine.Game(), Diplomacy().initial_state()
        for _ in range(40):
            possible = theirs.get_all_possible_orders()
            legal = {text for texts in ours.orders().values() for text in texts}
            assert legal == {text for texts in possible.values() for text in texts}
            orders = {}
            for power, places in theirs.get_orderable_locations().items():
                chosen = [
                    rng.choice(sorted(o for o in possible[place] if not coast_said(o)))
                    for place in places
                ]
                limit = abs(ours.adjustment(power)) if ours.phase.endswith("A") else None
                orders[power] = chosen[:limit]
            via = {o.removesuffix(" VIA") for texts in orders.values() for o in texts if "VIA" in o}
            for power, texts in orders.items():
                orders[power] = [o for o in texts if o.partition(" S ")[2] not in via]
                theirs.set_orders(power, orders[power])
            theirs.process()
            ours.apply(orders)
            if theirs.is_game_done:
                break
            state = theirs.get_state()
            if theirs.phase_type == "R" and not dislodged(state):
                theirs.process()
                state = theirs.get_state()
            assert DiplomacyState.from_json(dislodged(state, drop=True)).board == ours.board


def dislodged(state, drop=False):
    """Units that may retreat; or the state without those that have nowhere to go, which the
    package keeps when a convoyed army dislodged them."""
    going = {f"*{u}" for units in state["retreats"].values() for u, to in units.items() if to}
    if not drop:
        return going
    units = {
        power: [unit for unit in units if unit[0] != "*" or unit in going]
        for power, units in state["units"].items()
    }
    return state | {"units": units}


def coast_said(order):
    return " S F " in order and "/" in order.rpartition("-")[2]


def random_position(rng):
    """Units packed into a part of the map, where they get in each other's way."""
    kinds = {unit: sorted({a for a, _ in pairs}) for unit, pairs in BORDERS.items()}
    middle = rng.choice(kinds["F"])
    near = {middle[:3]}
    for _ in range(2):
        near |= {b[:3] for pairs in BORDERS.values() for a, b in pairs if a[:3] in near}
    units, taken = {}, set()
    for place in rng.sample(sorted(near), min(len(near), rng.randint(4, 16))):
        unit = rng.choice("AFF")
        homes = [home for home in kinds[unit] if home[:3] == place]
        if homes and place not in taken:
            taken.add(place)
            units.setdefault(rng.choice(POWERS[:4]), []).append(f"{unit} {rng.choice(homes)}")
    return {"name": "S1901M", "units": units, "centers": {}}


def random_orders(rng, state):
    """Legal orders that mostly mean something: supports and convoys of moves that are made."""
    legal = state.orders()
    orders = {}
    for place, texts in legal.items():
        moves = [text for text in texts if text.split()[2] == "-"]
        if moves and rng.random() < 0.55:
            via = [text for text in moves if text.endswith("VIA")]
            orders[place] = rng.choice(via if via and rng.random() < 0.6 else moves)
    made = {text.removesuffix(" VIA") for text in orders.values()}
    for place in legal.keys() - orders.keys():
        useful = [text for text in legal[place] if text[len(place) + 5 :] in made]
        orders[place] = rng.choice(useful if useful and rng.random() < 0.9 else legal[place])
    return orders


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**63))
def test_native_moves_are_those_of_the_plain_twin(seed):
    rng = random.Random(seed)
    state = DiplomacyState.from_json(random_position(rng))
    units = [(power, u) for power, us in state.to_json()["units"].items() for u in us]
    orders = random_orders(rng, state)
    stand, retreats = plain_diplomacy.adjudicate(
        units, {place[:3]: text for place, text in orders.items()}
    )
    given = {power: [orders[place] for place in state.orders(power)] for power in POWERS}
    twin = plain_diplomacy.Movement(units, {place[:3]: text for place, text in orders.items()})
    failed = {order for order in orders.values() if order.split()[1][:3] in twin.failed()}
    assert failed_moves(state.board, given) == failed
    state.apply(given)
    position = state.to_json()
    assert {(power, u) for power, us in position["units"].items() for u in us} == stand
    assert {
        (power, unit): set(places)
        for power, units in position.get("retreats", {}).items()
        for unit, places in units.items()
    } == {unit: places for unit, places in retreats.items() if places}


def test_a_batch_is_many_single_adjudications():
    rng = np.random.default_rng(0)
    state = DiplomacyState.from_json(random_position(random.Random(4)))
    legal = state.board.legal_orders()
    orders = rng.choice(np.append(legal, 0), (200, 20)).astype(np.uint32)
    batch = adjudicate_many(state.board, orders, threads=3)
    assert len(batch) == 200
    for i, row in enumerate(orders):
        board = state.board.adjudicate(row)
        assert batch[i] == board
        assert batch.keys()[i] == board.key
    assert len({batch[i] for i in range(200)}) == len(set(batch.keys().tolist())) > 20


def test_a_batch_of_boards():
    start = Diplomacy().initial_state()
    later = start.clone()
    later.apply({"FRANCE": ["A PAR - BUR", "A MAR - SPA"]})
    later.apply({"FRANCE": ["A BUR - BEL"]})
    batch = _core.DiplomacyBatch([later.board, start.board])
    assert batch.take(np.array([1, 1]))[0] == batch[1]
    assert batch.winners().tolist() == [-1, -1]
    shares = [later.shares(), start.shares()]
    np.testing.assert_array_equal(batch.shares(), shares)
    assert shares[0][POWERS.index("FRANCE")] == pytest.approx(25 / (25 + 5 * 9 + 16))
    for which in ([2, 0], [-1, 0]):
        with pytest.raises(IndexError):
            batch.take(np.array(which))


def test_joint_actions():
    """Where candidates lead if the others do as was sampled; of two orders the first counts."""
    start = Diplomacy().initial_state()
    given = {
        "FRANCE": ["A PAR - BUR, F BRE - MAO", "A PAR - BUR, A PAR - PIC", "F BRE - ROM", ""],
        "GERMANY": ["A MUN - BUR", "A MUN S A PAR - BUR"],
    }
    tried = [given.get(power, [""]) for power in POWERS]
    candidates = [
        np.array([_core.diplomacy_parse_order(text) for text in texts.split(", ") if text], "u4")
        for texts in chain(*tried)
    ]
    counts = np.array([[len(orders) for orders in tried]])
    power = np.repeat(np.arange(7), counts[0])
    first = np.cumsum(counts[0]) - counts[0]
    valued = np.arange(7)[None] != POWERS.index("GERMANY")
    boards = _core.DiplomacyBatch([start.board])
    actions = _core.DiplomacyJointActions(boards, candidates, counts, valued)
    seen = {}
    for _ in range(3):
        for sampled in np.ndindex(*counts[0]):
            where, reached, roots, played = actions.reach(np.array(sampled))
            for one, place in enumerate(where.tolist()):
                if not valued[0, power[one]]:
                    assert place == -1
                    continue
                rows = first + np.array(sampled)
                rows[power[one]] = one
                board = start.board.adjudicate(np.concatenate([candidates[row] for row in rows]))
                assert place % 7 == power[one]
                assert seen.setdefault(place // 7, board) == board
            assert roots.tolist() == [0] * len(reached)
            assert played.shape == (len(reached), 7)
            for i, rows in enumerate(played):
                orders = np.concatenate([candidates[row] for row in rows])
                assert reached[i] == start.board.adjudicate(orders)
    assert len(set(seen.values())) == len(seen) > 2
    for wrong in ([0] * 6, [0] * 14):
        with pytest.raises(ValueError, match="sampled"):
            actions.reach(np.array(wrong))
    for wrong in (-1, counts[0, 2]):
        with pytest.raises(IndexError):
            actions.reach(np.array([0, 0, wrong, 0, 0, 0, 0]))
    for candidates_, counts_, valued_ in (
        (candidates[1:], counts, valued),
        (candidates, counts[:, 1:], valued),
        (candidates, 0 * counts, valued),
        (candidates, counts, valued[:, 1:]),
    ):
        with pytest.raises(ValueError):
            _core.DiplomacyJointActions(boards, candidates_, counts_, valued_)


def test_orders_due():
    start = Diplomacy().initial_state()
    assert start.due == (3, 3, 3, 3, 3, 4, 3)
    position = {"units": {"ITALY": ["A ROM"]}, "centers": {"FRANCE": ["PAR", "BRE"], "ITALY": []}}
    winter = DiplomacyState.from_json(position | {"name": "W1901A"})
    assert winter.due == (0, 0, 2, 0, 1, 0, 0)
    winter.apply({"FRANCE": ["F BRE B", "A PAR B"]})
    assert winter.due == (0, 0, 2, 0, 0, 0, 0)
    fled = position | {"name": "F1901R", "dislodged": {"FRANCE": ["A PAR", "F BRE"]}}
    assert DiplomacyState.from_json(fled).due == (0, 0, 2, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("orders", "sound"),
    [
        (["A PAR - BUR", "A MAR S A PAR - BUR"], True),
        (["A PAR - PIC", "A MAR S A PAR - BUR"], False),
        (["A PAR H", "A MAR S A PAR - BUR"], False),
        (["A MAR S A PAR - BUR"], True),  # nothing is said of Paris
        (["A PAR - BUR", "A PIC S A PAR"], False),
        (["A PAR S A PIC", "A PIC S A PAR"], True),
        (["A PAR H", "A MAR S A MUN - BUR"], True),  # another power's
        (["F ENG C A BRE - LON", "A BRE - LON VIA"], True),
        (["F ENG C A BRE - LON", "A BRE - PIC"], False),
        (["F LYO - SPA/SC", "A MAR S F LYO - SPA"], True),  # the coast is left open
    ],
)
def test_coordinated(orders, sound):
    packed = [_core.diplomacy_parse_order(text) for text in orders]
    assert coordinated(np.array([packed], np.uint32)).tolist() == [sound]


def test_packed_orders_are_bounded():
    board = _core.DiplomacyBoard()
    noise = np.random.default_rng(0).integers(0, 2**32, (2000, 34), dtype=np.uint32)
    for next_board in (adjudicate_many(board, noise)[i] for i in range(0, 2000, 100)):
        assert next_board.phase in ("S1901R", "F1901M")


@pytest.mark.parametrize("seed", range(3))
def test_legal_packed_orders_are_those_of_their_texts(seed):
    """A power orders its own units alone, as when it writes its orders."""
    rng = np.random.default_rng(seed)
    waive = _core.diplomacy_parse_order("WAIVE")
    before = np.zeros(0, np.uint32)
    for state in random_states(seed):
        legal = state.board.legal_orders()
        orders = rng.permutation(np.concatenate([legal, before, [waive]]).astype(np.uint32))
        noise = np.array([0, 15, 2**32 - 1], np.uint32)
        for power, name in enumerate(POWERS):
            own = [text for texts in state.orders(name).values() for text in texts]
            listed = format_orders(state.board.legal_orders(power))
            assert listed == [text for text in own if text != "WAIVE"]
            after, kept = state.board.adjudicate_given([np.concatenate([noise, orders])], [power])
            assert after == state.board.adjudicate(kept)
            assert kept.tolist() == state.pack({name: format_orders(orders)}).tolist()
            assert {*format_orders(kept)} - {"WAIVE"} == {*listed}
        before = legal


def test_orders_come_back_as_text():
    state = Diplomacy().initial_state()
    texts = [text for texts in state.orders().values() for text in texts]
    packed = state.board.legal_orders().tolist()
    assert [_core.diplomacy_format_order(order) for order in packed] == texts
    assert [_core.diplomacy_parse_order(text) for text in texts] == packed


def test_the_key_tells_positions_apart():
    state = Diplomacy().initial_state()
    assert state.board.key == 4793588796793757099, "stored keys must stay good"
    seen = {state.board.key}
    for orders in ({"ITALY": ["A VEN - TYR"]}, {}, {}, {"ITALY": ["A TYR - VEN"]}):
        state.apply(orders)
        seen.add(state.board.key)
    assert len(seen) == 5


def test_removals_of_civil_disorder_and_builds():
    state = DiplomacyState.from_json(
        {
            "name": "W1905A",
            "units": {"FRANCE": ["A PAR", "F WES", "A SIL", "F BAL"], "ITALY": ["A VEN"]},
            "centers": {"FRANCE": ["PAR", "MAR", "BRE"], "ITALY": ["ROM", "VEN", "NAP"]},
        }
    )
    assert [state.adjustment(power) for power in ("FRANCE", "ITALY")] == [-1, 2]
    assert state.orders()["ROM"] == ["A ROM B", "F ROM B", "WAIVE"]
    state.apply({"ITALY": ["A ROM B", "WAIVE", "A TUS B"]})
    assert state.phase == "S1906M"
    assert state.to_json()["units"] == {
        "FRANCE": ["A PAR", "A SIL", "F WES"],
        "ITALY": ["A ROM", "A VEN"],
    }


def test_ends():
    centres = sorted(place for place in LOCATIONS if is_centre(place))
    assert len(centres) == 34
    won = DiplomacyState.from_json(
        {"name": "F1907M", "units": {}, "centers": {"ITALY": centres[:18], "RUSSIA": centres[18:]}}
    )
    assert won.is_terminal()
    assert won.returns() == [0, 0, 0, 0, 1, 0, 0]
    quiet = Diplomacy(quiet_years=2).initial_state()
    for _ in range(4):
        assert not quiet.is_terminal()
        quiet.apply({})
    assert quiet.is_terminal()
    assert quiet.returns() == [pytest.approx(n * n / 70) for n in (3, 3, 3, 3, 3, 4, 3)]
    with pytest.raises(InputError, match="over"):
        quiet.apply({})
    agreed = Diplomacy().initial_state()
    agreed.end_in_draw()
    assert agreed.returns() == quiet.returns()


def is_centre(place):
    try:
        DiplomacyState.from_json({"name": "S1901M", "units": {}, "centers": {"ITALY": [place]}})
    except InputError:
        return False
    return "/" not in place


def test_a_clone_goes_its_own_way():
    state = load_game("diplomacy(last_year=1902)").initial_state()
    copy = state.clone()
    copy.apply({"FRANCE": ["A PAR - BUR"]})
    assert state.phase == "S1901M"
    assert state.board == _core.DiplomacyBoard()
    assert str(state.game) == "diplomacy(last_year=1902)"


def test_orders_that_come_too_late_are_named():
    france = {"units": {"FRANCE": ["A PAR", "A BRE", "A SPA"]}}
    moving = DiplomacyState.from_json({"name": "S1902M", **france})
    orders = {"FRANCE": ["A PAR - PIC", "A PAR - GAS", "A XXX H", "A BRE H"]}
    assert moving.surplus(orders) == {"FRANCE": ["A PAR - GAS"]}
    assert moving.illegal(orders) == {"FRANCE": ["A XXX H"]}
    moving.apply(orders)
    assert moving.to_json()["units"]["FRANCE"] == ["A BRE", "A PIC", "A SPA"]

    winter = {"name": "W1901A", "centers": {"FRANCE": ["PAR"]}}
    removing = DiplomacyState.from_json({**winter, **france})
    orders = {"FRANCE": ["A SPA D", "A SPA D", "A PAR D", "A BRE D"]}
    assert removing.surplus(orders) == {"FRANCE": ["A SPA D", "A BRE D"]}
    removing.apply(orders)
    assert removing.to_json()["units"] == {"FRANCE": ["A BRE"]}

    centres = {"centers": {"FRANCE": ["PAR", "MAR", "BRE"]}, "units": {"FRANCE": ["A SPA"]}}
    building = DiplomacyState.from_json({**winter, **centres})
    orders = {"FRANCE": ["WAIVE", "F MAR B", "A MAR B", "A PAR B", "A BRE B"]}
    assert building.surplus(orders) == {"FRANCE": ["A MAR B", "A BRE B"]}
    building.apply(orders)
    assert building.to_json()["units"] == {"FRANCE": ["A PAR", "A SPA", "F MAR"]}


@pytest.mark.parametrize("orders", [[], {"FRANCE": "A PAR H"}, {"SPAIN": []}])
def test_orders_are_lists_by_power(orders):
    state = Diplomacy().initial_state()
    for take in (state.pack, state.illegal, state.surplus, state.apply):
        with pytest.raises(InputError, match=r"not of the form|not a power"):
            take(orders)


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ({}, "name"),
        ([], "form"),
        ({"name": 3, "units": {}}, "form"),
        ({"name": "S19", "units": {}}, "not a phase"),
        ({"name": "S1901M", "units": {"SPAIN": []}}, None),
        ({"name": "S1901M", "units": {"SPAIN": ["A PAR"]}}, "not a power"),
        ({"name": "S1901M", "units": {"FRANCE": ["A XXX"]}}, "not a unit"),
        ({"name": "S1901M", "units": {"FRANCE": ["F PAR"]}}, "not a unit"),
        ({"name": "S1901M", "units": {"FRANCE": ["F SPA"]}}, "not a unit"),
        ({"name": "S1901M", "units": {"FRANCE": ["A PAR"], "ITALY": ["A PAR"]}}, "another unit"),
        ({"name": "S1901M", "units": {}, "centers": {"FRANCE": ["GAS"]}}, "not a supply centre"),
        ({"name": "S1901M", "units": {}, "dislodged": {"FRANCE": ["A PAR"]}}, "R phases"),
    ],
)
def test_bad_positions_are_refused_in_one_line(position, reason):
    if reason is None:
        DiplomacyState.from_json(position)
        return
    with pytest.raises(InputError, match=reason) as error:
        DiplomacyState.from_json(position)
    assert "\n" not in str(error.value)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("AFSCHRDBVIW -/PARBULEC*"), max_size=40))
def test_any_text_is_an_order_or_none(text):
    state = Diplomacy().initial_state()
    state.apply({"FRANCE": [text]})
    assert state.phase == "F1901M"


@pytest.mark.parametrize(
    ("units", "orders", "failed"),
    [
        # A unit that follows another of its own power, and one that cannot.
        ({"FRANCE": ["A PAR", "A GAS"]}, ["A PAR - BUR", "A GAS - PAR"], []),
        (
            {"FRANCE": ["A PAR", "A GAS"], "GERMANY": ["A BUR"]},
            ["A PAR - BUR", "A GAS - PAR"],
            ["A GAS - PAR", "A PAR - BUR"],
        ),
        # One stays where the other wants to go; and two of them that meet.
        ({"FRANCE": ["A PAR", "A BUR"]}, ["A PAR - BUR"], ["A PAR - BUR"]),
        (
            {"FRANCE": ["A PAR", "A BUR"]},
            ["A PAR - BUR", "A BUR - PAR"],
            ["A BUR - PAR", "A PAR - BUR"],
        ),
        # Coasts.
        ({"FRANCE": ["F MAO"]}, ["F MAO - SPA/NC"], []),
        # Orders as they were given; the first for a unit counts, and an illegal one is none.
        ({"FRANCE": ["A PAR", "A BUR"]}, [" A PAR  - BUR"], [" A PAR  - BUR"]),
        ({"FRANCE": ["A PAR", "A BUR"]}, ["A PAR H", "A PAR - BUR", "A BUR - LON"], []),
        # A convoy that is needed and does not come.
        ({"FRANCE": ["A BRE", "F ENG"]}, ["A BRE - LON VIA"], ["A BRE - LON VIA"]),
        ({"FRANCE": ["A BRE", "F ENG"]}, ["A BRE - LON", "F ENG C A BRE - LON"], []),
    ],
)
def test_failed_moves(units, orders, failed):
    state = DiplomacyState.from_json({"name": "S1901M", "units": units, "centers": {}})
    assert sorted(failed_moves(state.board, {"FRANCE": orders})) == failed


def test_retreats_to_one_place_fail():
    state = DiplomacyState.from_json(
        {
            "name": "S1901R",
            "units": {"GERMANY": ["A BUR", "A PIC"]},
            "centers": {},
            "retreats": {"FRANCE": {"A BUR": ["PAR"]}, "ENGLAND": {"A PIC": ["PAR", "BRE"]}},
            "dislodged": {"FRANCE": ["A BUR"], "ENGLAND": ["A PIC"]},
        }
    )
    going = {"FRANCE": ["A BUR R PAR"], "ENGLAND": ["A PIC R PAR"]}
    assert failed_moves(state.board, going) == {"A BUR R PAR", "A PIC R PAR"}
    apart = {"FRANCE": ["A BUR R PAR"], "ENGLAND": ["A PIC R BRE"]}
    assert failed_moves(state.board, apart) == set()


def test_failed_moves_of_people_are_those_of_the_plain_twin(shared):
    path = shared("data/diplomacy/cicero40.jsonl.xz")
    for game in islice(replayed_games(path), 10):
        for phase, state, packed in game.decisions():
            orders = {power: format_orders(texts) for power, texts in packed.items()}
            by_place = {
                text.split()[1][:3]: text
                for texts in orders.values()
                for text in texts
                if text != "WAIVE"
            }
            failed = set()
            if phase.kind == "M":
                units = [(p, unit) for p, us in state.to_json()["units"].items() for unit in us]
                failed = plain_diplomacy.Movement(units, by_place).failed()
            elif phase.kind == "R":
                failed = plain_diplomacy.failed_retreats(by_place.values())
            assert failed_moves(state.board, orders) == {by_place[place] for place in failed}


def test_the_parts_of_orders_are_what_their_words_say():
    """And legal orders by place are the same, with and without their parts."""
    verbs = set()
    for state in random_states(0):
        for power in POWERS:
            parts = state.order_parts(power)
            assert {place: [*by_text] for place, by_text in parts.items()} == state.orders(power)
            for by_text in parts.values():
                assert by_text == {text: words_of(text) for text in by_text}
                verbs |= {order["verb"] for order in by_text.values()}
        for order in state.board.legal_orders().tolist():
            [text] = format_orders(np.array([order], np.uint32))
            assert parts_of(order) == words_of(text)
    assert verbs == {"H", "-", "S", "C", "R", "D", "B", "WAIVE"}


def words_of(text):
    if text == "WAIVE":
        return {"verb": "WAIVE"}
    kind, at, verb, *rest = text.split()
    parts = {"kind": kind, "at": at, "verb": verb}
    if verb in "-R":
        return parts | {"to": rest[0]}
    if verb in "SC":
        return parts | {"other": rest[1]} | ({"to": rest[3]} if len(rest) > 2 else {})
    return parts


def test_the_facts_of_a_board_agree_with_its_texts():
    states = list(random_states(0))
    assert {state.phase[-1] for state in states} == {"M", "R", "A"}
    for before, after in pairwise(state.board for state in states):
        assert before.moving == before.phase.endswith("M")
        assert before.in_fall == before.phase.startswith("F")
        assert after.same_owners(before) == (after.centres() == before.centres())

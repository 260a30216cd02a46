"""Diplomacy on the page's server: seven seats that decide at once."""

import json
import lzma
import threading
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from starlette.testclient import TestClient

from kedge.agents import make_agent
from kedge.agents.diplomacy.players import ImitationAgent
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS
from kedge.interfaces.web.app import make_app
from kedge.interfaces.web.pages import diplomacy as diplomacy_page
from kedge.interfaces.web.pages import searching
from kedge.interfaces.web.pages.diplomacy import DiplomacyPage
from kedge.interfaces.web.pages.thoughts import Question, StopFlag
from kedge.interfaces.web.play.game.opening import new_session, open_record
from kedge.interfaces.web.play.game.saving import from_json, to_json
from kedge.interfaces.web.schemas import SeatIn

GAME = DiplomacyPage()
FRANCE, GERMANY = POWERS.index("FRANCE"), POWERS.index("GERMANY")
BURGUNDY = {  # which Germany is about to take
    "name": "S1902M",
    "units": {"FRANCE": ["A BUR"], "GERMANY": ["A MUN", "A RUH"]},
    "centers": {"FRANCE": ["BRE", "MAR", "PAR"], "GERMANY": ["BER", "KIE", "MUN"]},
}
HALF = "BRE PAR MAR SPA POR BEL HOL LON EDI LVP NWY SWE DEN KIE BER MUN ROM NAP"
TAKEN = {"FRANCE": [], "GERMANY": ["A MUN - BUR", "A RUH S A MUN - BUR"]}


def begin(setup=None, turns=()):
    seats = [SeatIn(human=True) for _ in POWERS]
    return new_session(GAME, setup or {}, seats, list(turns), np.random.default_rng(0))


def think(session, specs, stop=None):
    agents = {seat: (spec, make_agent(spec)) for seat, spec in specs.items()}
    rng = np.random.default_rng(0)
    told = Question(session.state, agents, 0, rng, stop or StopFlag())
    return {decision.seat: decision for decision in GAME.think(told)}


def test_a_turn_is_taken_once_all_have_ordered():
    session = begin()
    for seat in range(6):
        session.move(seat, ["A PAR - BUR"] if seat == FRANCE else [], len(session.turns))
    assert session.deciding() == [6]
    assert not session.turns
    session.move(6, ["F ANK - BLA"], len(session.turns))
    [turn] = session.turns
    assert (turn.seats, turn.name) == (list(range(7)), "S1901M")
    assert turn.written["TURKEY"] == ["F ANK - BLA"]
    position = GAME.position(session.state, None)
    assert position["name"] == "F1901M"
    assert "A BUR" in position["units"]["FRANCE"]
    paris, ankara = {"kind": "A", "at": "PAR"}, {"kind": "F", "at": "ANK"}
    assert position["past"] == (
        [
            {"power": "FRANCE", **paris, "verb": "-", "to": "BUR", "failed": False},
            {"power": "TURKEY", **ankara, "verb": "-", "to": "BLA", "failed": False},
        ],
    )


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("A PAR - BUR", "a list of texts"),
        ([7], "a list of texts"),
        (["A PAR - LON"], "illegal order 'A PAR - LON'"),
        (["A MUN - BUR"], "illegal order 'A MUN - BUR'"),
        (["A PAR - BUR", "A PAR H"], "two orders for PAR"),
    ],
)
def test_only_legal_orders_are_taken(move, message):
    with pytest.raises(InputError, match=message):
        begin().move(FRANCE, move, 0)


def test_retreats_and_builds_are_turns_of_those_who_have_them():
    session = begin({"position": BURGUNDY}, [TAKEN])
    assert session.deciding() == [FRANCE]
    position = GAME.position(session.state, None)
    assert position["dislodged"] == {"FRANCE": ["A BUR"]}
    retreat = {"kind": "A", "at": "BUR", "verb": "R", "to": "PAR"}
    assert position["legal"]["FRANCE"]["BUR"]["A BUR R PAR"] == retreat
    session.move(FRANCE, ["A BUR R PAR"], len(session.turns))
    assert [len(orders) for orders in GAME.position(session.state, None)["past"]] == [2, 1]
    session.move(FRANCE, ["A PAR - PIC"], len(session.turns))
    session.move(GERMANY, ["A BUR - PAR"], len(session.turns))
    assert session.state.state.phase == "W1902A"
    assert GAME.position(session.state, None)["adjustments"]["GERMANY"] == 2
    with pytest.raises(InputError, match="2 orders given, 1 allowed"):
        session.move(FRANCE, ["F BRE B", "A MAR B"], len(session.turns))
    with pytest.raises(InputError, match="two orders for BER"):
        session.move(GERMANY, ["F BER B", "A BER B"], len(session.turns))
    session.move(FRANCE, [], len(session.turns))
    session.move(GERMANY, ["F KIE B", "WAIVE"], len(session.turns))
    units = GAME.position(session.state, None)["units"]
    assert units == {"FRANCE": ["A PIC"], "GERMANY": ["A PAR", "A RUH", "F KIE"]}
    session.undo()
    assert session.state.state.phase == "W1902A"


def test_the_position_says_which_orders_failed_since_the_last_movement():
    meeting = {"FRANCE": ["A BUR - MUN"], "GERMANY": ["A MUN - BUR", "A RUH - HOL"]}
    session = begin({"position": BURGUNDY}, [meeting])
    [orders] = GAME.position(session.state, None)["past"]
    assert {order["at"]: order["failed"] for order in orders} == {
        "BUR": True,
        "MUN": True,
        "RUH": False,
    }
    assert GAME.position(session.state_at(0), None)["past"] == ()


def test_a_position_is_valued_once(monkeypatch):
    session, asked = begin({}, [{}]), []
    model = diplomacy_page.value_model(diplomacy_page.VALUE)
    monkeypatch.setattr(diplomacy_page, "value_model", lambda name: asked.append(name) or model)
    assert GAME.position(session.state, 0) == GAME.position(session.state, 1)
    assert len(asked) == 1
    session.take({})
    assert GAME.position(session.state, 0)["name"] == "S1902M"
    assert len(asked) == 2


def test_the_board_knows_all_orders_that_agents_think_of():
    session = begin()
    for _ in range(6):
        seats = session.deciding()
        legal = GAME.position(session.state, None)["legal"]
        found = think(session, dict.fromkeys(seats, "diplomacy"))
        for seat, decision in found.items():
            known = {text for orders in legal[POWERS[seat]].values() for text in orders}
            assert all(known.issuperset(row.move) for row in decision.thought.rows)
        for seat, decision in found.items():
            session.decide(seat, decision.action, decision.thought)


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (["A PAR - BUR"], "a turn is an object"),
        ({"SPAIN": []}, "a turn is an object"),
        ({"FRANCE": "A PAR - BUR"}, "a list of texts"),
    ],
)
def test_turns_that_are_none(turn, message):
    with pytest.raises(InputError, match=message):
        begin({}, [turn])


def test_a_position_that_is_none():
    with pytest.raises(InputError, match="position: "):
        begin({"position": {"name": "S1901M", "units": [["A PAR"]]}})


def test_positions_are_normalised():
    session = begin({"position": {**BURGUNDY, "note": "a" * 100_000}})
    assert session.setup.position == BURGUNDY


def test_outcomes():
    session = begin({"last_year": 1901}, [{}])
    assert session.outcome is None
    session = begin({"last_year": 1901}, [{}, {}])
    assert str(session.outcome) == (
        "Draw: Russia 23%, Turkey 13%, Italy 13%, Germany 13%, France 13%, England 13%, Austria 13%"
    )
    assert session.deciding() == []
    won = {"name": "W1910A", "units": {}, "centers": {"FRANCE": HALF.split()}}
    assert str(begin({"position": won}).outcome) == "France wins alone"


def test_agents_of_one_spec_share_a_search(monkeypatch):
    asked = []
    analyse = ImitationAgent.analyse_many

    def counted(self, questions, rng):
        asked.append([seat for _, seat in questions])
        return analyse(self, questions, rng)

    monkeypatch.setattr(ImitationAgent, "analyse_many", counted)
    session = begin()
    cold = "diplomacy(temperature=0.5)"
    found = think(session, {0: "diplomacy", 1: cold, 2: "diplomacy"})
    assert asked == [[0, 2], [1]]
    for seat, decision in found.items():
        orders = GAME.text(session.state, decision.action)
        parsed = GAME.parse(session.state, seat, orders)
        assert parsed.packed.tolist() == decision.action.packed.tolist()
        thought = decision.thought
        assert thought.seat == seat
        assert thought.agent == (cold if seat == 1 else "diplomacy")
        assert sum(row.policy for row in thought.rows) <= 1.0 + 1e-9
        assert (thought.kl == pytest.approx(0.0)) == (seat != 1)
    assert found[0].thought.rows[0].name == "BUD-SER, TRI-ALB, VIE-TRI"


def test_a_search_values_what_it_thinks_of():
    spec = "pikl-hedge(diplomacy, lambda=0.01, iterations=16, samples=64)"
    [decision] = think(begin(), {FRANCE: spec}).values()
    assert all(0.0 <= row.q <= 1.0 for row in decision.thought.rows)
    assert decision.thought.kl > 0.0


def test_lines_tell_what_others_likely_send_there():
    likely = {
        3: {"A MUN - BUR": 0.62, "A MUN H": 0.38, "F KIE - DEN": 1.0},
        1: {"F LON - ENG": 0.3, "F LON - NTH": 0.7},
    }
    met = diplomacy_page._met(likely, ["A PAR - BUR", "F BRE - ENG", "A MAR S A PAR - BUR"])
    assert met == ["– Germany MUN-BUR (62%)", "– England LON-ENG (30%)"]
    assert diplomacy_page._met(likely, ["A PAR H"]) == []
    spec = "pikl-hedge(diplomacy, lambda=0.1, iterations=8)"
    state = DiplomacyPage().begin(diplomacy_page.DiplomacySetup())
    agents = {2: (spec, make_agent(spec))}
    question = Question(state, agents, 0, np.random.default_rng(0), StopFlag())
    [decision] = DiplomacyPage().think(question)
    assert decision.seat == 2
    assert all(row.line[0] == row.name for row in decision.thought.rows)


def test_waiting_for_a_search_can_be_stopped(monkeypatch):
    monkeypatch.setattr(searching, "_alone", threading.Semaphore(0))
    stop = StopFlag()
    threading.Timer(0.2, stop.stop).start()
    spec = "pikl-hedge(diplomacy, lambda=0.01, iterations=16, samples=64)"
    assert think(begin(), {FRANCE: spec}, stop) == {}


def test_thoughts_are_published_with_the_turn():
    session = begin()
    [decision] = think(session, {0: "diplomacy"}).values()
    session.decide(0, decision.action, decision.thought)
    assert session.new_thoughts() == []
    for seat in range(1, 7):
        session.move(seat, [], len(session.turns))
    assert session.new_thoughts() == [decision.thought]


def test_thoughts_are_kept_until_people_decide_again():
    """A movement phase may be followed by retreats that only concern agents."""
    seats = [SeatIn(human=seat == GERMANY) for seat in range(7)]
    rng = np.random.default_rng(0)
    session = new_session(GAME, {"position": BURGUNDY}, seats, [], rng)
    turns = []
    for move in (TAKEN["GERMANY"], None, []):
        if move is not None:
            session.move(GERMANY, move, len(session.turns))
        [decision] = think(session, {FRANCE: "diplomacy"}).values()
        orders = ["A BUR R PAR"] if move is None else []
        action = GAME.parse(session.state, FRANCE, orders)
        session.decide(FRANCE, action, replace(decision.thought, turn=len(session.turns)))
        turns.append([thought.turn for thought in session.new_thoughts()])
    assert turns == [[0], [0, 1], [2]]
    assert session.new_thoughts()[-1] == session.thoughts[-1]


def test_games_are_saved_and_opened():
    session = begin({"position": BURGUNDY}, [TAKEN, {"FRANCE": ["A BUR R PAR"]}])
    record = GAME.read(session.record())
    assert record.turns == session.written_turns()
    assert record.outcome is None
    again = begin(record.setup, record.turns)
    assert again.state.state.to_json() == session.state.state.to_json()
    over = begin({"last_year": 1901}, [{}, {}])
    assert json.loads(over.record())["phases"][-1]["name"] == "COMPLETED"
    record = GAME.read(over.record())
    assert (record.setup, record.turns) == ({}, [{power: [] for power in POWERS}] * 2)
    assert record.outcome == over.outcome


def test_a_finished_game_is_looked_through():
    game = json.loads(begin({"last_year": 1901}, [{}, {}]).record())
    game |= {
        "players": dict.fromkeys(POWERS, "Ann") | {"ITALY": None},
        "ratings": dict.fromkeys(POWERS, 1200.5),
    }
    opened = open_record(GAME, GAME.read(json.dumps(game)), None, np.random.default_rng(0))
    assert str(opened.outcome).startswith("Draw: Russia 23%")
    assert opened.deciding() == []
    again = json.loads(opened.record())
    assert again["phases"][-1]["name"] == "COMPLETED"
    for key in ("players", "ratings"):
        assert again[key] == game[key]
    kept = from_json(GAME, json.loads(json.dumps(to_json(opened))))
    assert (kept.heading, kept.outcome) == (opened.heading, opened.outcome)


def test_positions_are_opened():
    record = GAME.read(json.dumps(BURGUNDY))
    assert (record.setup, record.turns) == ({"position": BURGUNDY}, [])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"phases": []}', "1. e4 e5", "[" * 100_000])
def test_files_that_hold_no_game(text):
    with pytest.raises(InputError, match="not a game of Diplomacy: "):
        GAME.read(text)


def test_games_of_people_are_opened(shared):
    path = shared("data/diplomacy/cicero40.jsonl.xz")
    with lzma.open(path, "rt") as file:
        for line in islice(file, 5):
            record = GAME.read(line)
            session = begin(record.setup, record.turns)
            assert GAME.read(session.record()).turns == session.written_turns()


def test_positions_without_an_order_to_give_are_refused():
    empty = {"name": "S1901M", "units": {}, "centers": {}}
    with pytest.raises(InputError, match="no power has an order"):
        begin({"position": empty}, [])


def test_a_phase_over_http():
    with TestClient(make_app(), "http://localhost") as client:
        seats = [{"human": seat != 6, "dial": 0} for seat in range(7)]
        told = {"game": "diplomacy", "seats": seats}
        session = client.post("/api/v1/sessions", json=told).json()
        where = f"/api/v1/sessions/{session['id']}"
        for seat in range(6):
            move = {"seat": seat, "move": [], "turn": 0}
            session = client.post(f"{where}/move", json=move).json()
            assert seat == 5 or session["thoughts"] == []
        with client.websocket_connect(f"ws://localhost{where}/live") as socket:
            while not session["turns"]:
                session = socket.receive_json()["session"]
        assert [thought["seat"] for thought in session["thoughts"]] == [6]
        assert [seat["name"] for seat in session["seats"]][:2] == ["Austria", "England"]
        earlier = client.get(f"{where}/at/0").json()
        assert earlier["position"]["name"] == "S1901M"
        assert client.get(f"{where}/at/7").json()["detail"] == "turn 7: the last turn so far is 1"
        again = {"game": "diplomacy", "record": client.get(f"{where}/record").text}
        assert client.post("/api/v1/sessions/read", json=again).status_code == 201
        assert client.get("/games/diplomacy/map.json").json()["size"] == [1000, 832]

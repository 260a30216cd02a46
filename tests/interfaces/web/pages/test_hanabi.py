"""Hanabi at the page's tables: nobody is told what their seat does not see."""

import json
import re

import numpy as np
import pytest
from fastapi.testclient import TestClient

from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.interfaces.web.pages.hanabi import HanabiPage, HanabiSetup
from kedge.interfaces.web.pages.page_game import EVERYTHING
from kedge.interfaces.web.pages.thoughts import Question, StopFlag

HUMAN = {"human": True}
HINT = "tell player 1 1s"
ALICE, BOB = ["R1", "R1", "R2", "G4", "B5"], ["Y1", "Y1", "Y2", "W4", "W5"]


@pytest.fixture
def client():
    with TestClient(make_app(ServerOptions(seed=1)), "http://localhost") as client:
        yield client


def deck(alice=tuple(ALICE)):
    """A whole deck in which Alice is dealt these cards, and Bob his."""
    cards = [f"{c}{r}" for c in "RYGWB" for r, n in enumerate((3, 2, 2, 2, 1), 1) for _ in range(n)]
    for card in (*alice, *BOB):
        cards.remove(card)
    return " ".join([*alice, *BOB, *cards])


def begin(client, seats=(HUMAN, HUMAN), turns=(), **setup):
    told = {"game": "hanabi", "setup": setup, "seats": list(seats), "turns": list(turns)}
    answer = client.post("/api/sessions", json=told)
    assert answer.status_code == 201, answer.text
    return answer.json()


def look(client, session, eyes=None):
    params = {} if eyes is None else {"eyes": eyes}
    return client.get(f"/api/sessions/{session['id']}", params=params).json()


def cards(view):
    return [[one["card"] for one in hand] for hand in view["position"]["hands"]]


def test_each_seat_sees_all_hands_but_its_own(client):
    session = begin(client, deck=deck())
    assert cards(look(client, session, 0)) == [[None] * 5, BOB]
    assert cards(look(client, session, 1)) == [ALICE, [None] * 5]
    assert cards(look(client, session)) == [[None] * 5] * 2  # who shares a screen says who looks
    assert cards(look(client, session, 5)) == [[None] * 5] * 2


@pytest.mark.parametrize("turns", [[], [HINT], [HINT, "discard card 4"]])
def test_a_players_view_does_not_depend_on_its_cards(client, turns):
    """Two deals that Alice cannot tell apart, on her turn and on Bob's, to the last letter."""
    told = []
    for alice in (ALICE, ["Y2", "W3", "R2", "B4", "G5"]):
        view = look(client, begin(client, deck=deck(alice), turns=turns), 0)
        told.append(json.dumps({key: view[key] for key in view if key != "id"}))
    assert told[0] == told[1]


def test_neither_deck_nor_moves_that_tell_it_are_shown_before_the_end(client):
    view = begin(client, seed=77)
    assert view["setup"] == {"players": 2, "bomb": "stack"}
    assert view["secret"]
    assert look(client, view, 1)["position"]["legal"] == []  # they would tell what Bob holds
    turns = [f"play card {1 + ply % 2}" for ply in range(40)]
    for turn, move in enumerate(turns):
        answer = client.post(
            f"/api/sessions/{view['id']}/move", json={"seat": turn % 2, "move": move, "turn": turn}
        )
        if answer.json()["outcome"] is not None:
            break
        assert {turn["move"] for turn in answer.json()["turns"]} == {None}
        assert client.get(f"/api/sessions/{view['id']}/record").status_code == 400
    view = look(client, view)
    assert view["setup"]["seed"] == 77
    assert [turn["move"] for turn in view["turns"]] == turns[: len(view["turns"])]
    assert not any(None in hand for hand in cards(view))
    assert "the last life is lost" in view["outcome"]


def test_a_person_cannot_see_with_the_eyes_of_an_agent(client):
    session = begin(client, (HUMAN, {"dial": 0}), deck=deck())
    assert cards(look(client, session, 1)) == [[None] * 5, BOB]
    answer = client.put(f"/api/sessions/{session['id']}/seats/0", json={"human": False})
    assert answer.status_code == 400
    assert "seats are fixed" in answer.json()["detail"]
    answer = client.put(f"/api/sessions/{session['id']}/seats/1", json={"dial": 0.25})
    assert answer.status_code == 200  # the dial is turned at any time


def test_agents_thoughts_are_hidden_and_advice_is_shown(client):
    session = begin(client, ({**HUMAN, "dial": 0}, {"dial": 0}), deck=deck())
    with client.websocket_connect(
        f"ws://localhost/api/sessions/{session['id']}/live?eyes=1"
    ) as socket:
        assert socket.receive_json()["session"]["eyes"] == 0
        client.post(
            f"/api/sessions/{session['id']}/move",
            json={"seat": 0, "move": HINT, "turn": 0},
        )
        while True:
            message = socket.receive_json()
            assert message["type"] == "session"
            assert message["session"]["thoughts"] == []
            assert cards(message["session"])[0] == [None] * 5
            if message["session"]["deciding"] == [0] and not message["session"]["thinking"]:
                break
        socket.send_json({"advise": True})
        while message["type"] != "advice":
            message = socket.receive_json()
        assert message["thought"]["seat"] == 0
        assert message["thought"]["rows"]


def test_advice_goes_to_the_one_whose_decision_it_is(client):
    session = begin(client, [{**HUMAN, "dial": 0}] * 2, deck=deck())
    address = f"/api/sessions/{session['id']}/live"
    with (
        client.websocket_connect(f"ws://localhost{address}?eyes=1") as bob,
        client.websocket_connect(f"ws://localhost{address}?eyes=0") as alice,
    ):
        bob.send_json({"advise": True})
        alice.send_json({"advise": True})
        assert alice.receive_json()["type"] == "session"
        assert alice.receive_json()["type"] == "advice"
        client.post(
            f"/api/sessions/{session['id']}/move",
            json={"seat": 0, "move": HINT, "turn": 0},
        )
        message = bob.receive_json()
        while message["type"] != "advice":
            message = bob.receive_json()
        assert message["thought"]["seat"] == 1


@pytest.mark.parametrize("spec", ["hanabi", "sparta(hanabi, lambda=1, rollouts=60)"])
def test_the_movers_analysis_does_not_depend_on_its_cards(spec):
    """Alice was told of her reds; all else that she holds lies elsewhere in the other deal."""
    page, thoughts = HanabiPage(), []
    agent = make_agent(spec)
    for alice in (ALICE, ["R1", "R1", "R2", "W3", "Y4"]):
        state = page.begin(HanabiSetup(deck=deck(alice)))
        for turn in (HINT, "tell player 0 red"):
            page.apply(state, {0: page.parse(state, 0, turn)})
        rng = np.random.default_rng(3)
        [found] = page.think(Question(state, {0: (spec, agent)}, 2, rng, StopFlag()))
        thoughts.append(found)
    assert thoughts[0] == thoughts[1]
    thought = thoughts[0].thought
    assert sum(row.anchor for row in thought.rows) == pytest.approx(1.0, abs=1e-6)
    believed = thought.more["cards"]
    assert (believed is None) == (spec == "hanabi")
    if believed is not None:
        assert all(card[0] == "R" for slot in believed[:3] for card, _ in slot)
        assert all(re.fullmatch(r"– Bob: .+ \(\d+%\)", row.line[1]) for row in thought.rows)


def test_watchers_of_agents_see_everything():
    page = HanabiPage()
    state = page.begin(HanabiSetup(deck=deck()))
    hands = page.position(state, EVERYTHING)["hands"]
    assert [[one["card"] for one in hand] for hand in hands] == [ALICE, BOB]
    assert page.shows_thoughts(0, EVERYTHING)
    assert not page.shows_thoughts(0, None)


def test_agents_are_refused_where_their_model_does_not_play(client):
    told = {"game": "hanabi", "setup": {"players": 3}, "seats": [HUMAN, HUMAN, {"dial": 1}]}
    answer = client.post("/api/sessions", json=told)
    assert answer.status_code == 400
    assert "two" in answer.json()["detail"]
    view = begin(client, [HUMAN] * 5, players=5)
    assert [seat["name"] for seat in view["seats"]][-1] == "Emily"
    assert len(view["position"]["hands"][0]) == 4


@pytest.mark.parametrize(
    ("move", "why"),
    [
        ("play", "such as"),
        (["play card 1"], "such as"),
        ("discard card 1", "all information tokens"),
        ("tell player 1 green", "no such card"),
        ("tell player 0 red", "such as"),
    ],
)
def test_bad_moves_are_refused_in_a_line(client, move, why):
    session = begin(client, deck=deck())
    answer = client.post(
        f"/api/sessions/{session['id']}/move", json={"seat": 0, "move": move, "turn": 0}
    )
    assert answer.status_code == 400
    assert why in answer.json()["detail"]


@pytest.mark.parametrize("setup", [{"deck": "R1 R9"}, {"deck": "R1"}, {"deck": deck(), "seed": 1}])
def test_bad_decks_are_refused(client, setup):
    answer = client.post(
        "/api/sessions", json={"game": "hanabi", "setup": setup, "seats": [HUMAN, HUMAN]}
    )
    assert answer.status_code == 400
    assert "\n" not in answer.json()["detail"]


def test_nothing_is_taken_back(client):
    session = begin(client, deck=deck(), turns=["play card 1"])
    answer = client.post(f"/api/sessions/{session['id']}/undo")
    assert answer.status_code == 400
    assert "cannot be undone" in answer.json()["detail"]


def test_a_game_is_written_for_hanab_live_and_read_again(client):
    turns = [HINT, "play card 1", "play card 3", "play card 3", "play card 3"]
    session = begin(client, deck=deck(), turns=turns)
    assert session["outcome"] == "1 of 25: the last life is lost"
    record = client.get(f"/api/sessions/{session['id']}/record").text
    assert json.loads(record)["players"] == ["Alice", "Bob"]
    again = client.post("/api/sessions/read", json={"game": "hanabi", "record": record}).json()
    assert again["turns"] == session["turns"]
    assert again["outcome"] == session["outcome"]
    with pytest.raises(InputError, match="not a game of Hanabi"):
        HanabiPage().read("{}")


def test_a_finished_game_is_looked_through(client):
    """Players' names and an end by vote are kept."""
    turns = [HINT, "play card 1", "play card 3", "play card 3", "play card 3"]
    session = begin(client, deck=deck(), turns=turns)
    record = client.get(f"/api/sessions/{session['id']}/record").json()
    record |= {
        "players": ["Ann", "ai:SmartBot"],
        "actions": [*record["actions"][:3], {"type": 5, "target": -1, "value": 0}],
    }
    told = {"game": "hanabi", "record": json.dumps(record), "seats": [HUMAN, {"dial": 0.0}]}
    found = client.post("/api/sessions/read", json=told).json()
    assert found["outcome"] == "1 of 25: the game was broken off"
    assert [seat["player"] for seat in found["seats"]] == ["Ann", "ai:SmartBot"]
    assert all(card for hand in cards(found) for card in hand)
    again = client.get(f"/api/sessions/{found['id']}/record").json()
    assert [again[key] for key in ("players", "actions")] == [
        record[key] for key in ("players", "actions")
    ]


def test_the_last_life_may_cost_all(client):
    turns = ["play card 1", "play card 3", "play card 3", "play card 3"]
    view = begin(client, deck=deck(), bomb="zero", turns=turns)
    assert view["outcome"] == "0 of 25: the last life is lost, and what was built"

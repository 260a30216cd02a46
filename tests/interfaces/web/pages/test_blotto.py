"""Blotto at the page's tables: nobody's troops are seen before both have sent theirs."""

import time

import numpy as np
import pytest
from fastapi.testclient import TestClient

from kedge.agents import make_agent
from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.interfaces.web.pages.blotto import BlottoPage, BlottoSetup
from kedge.interfaces.web.pages.thoughts import Question, StopFlag

HUMAN = {"human": True}


@pytest.fixture
def client():
    with TestClient(make_app(ServerOptions(seed=1)), "http://localhost") as client:
        yield client


def begin(client, seats=(HUMAN, HUMAN), **setup):
    told = {"game": "blotto", "setup": setup, "seats": list(seats)}
    answer = client.post("/api/sessions", json=told)
    assert answer.status_code == 201, answer.text
    return answer.json()


def send(client, view, seat, move, turn=0):
    told = {"seat": seat, "move": move, "turn": turn}
    return client.post(f"/api/sessions/{view['id']}/move", json=told)


def test_troops_are_seen_once_both_have_sent_them(client):
    view = begin(client, rounds=2)
    waiting = send(client, view, 0, [10, 0, 0]).json()
    assert waiting["seats"][0]["decided"]
    assert "10-0-0" not in str(waiting)
    assert waiting["position"]["rounds"] == []
    assert waiting["deciding"] == [1]
    shown = send(client, view, 1, "0-5-5").json()
    assert shown["position"]["rounds"] == [{"spread": [[10, 0, 0], [0, 5, 5]], "winner": 1}]
    assert shown["position"]["score"] == [0, 1]
    assert shown["outcome"] is None
    send(client, view, 0, "4-3-3", turn=1)
    last = send(client, view, 1, "4-3-3", turn=1).json()
    assert last["outcome"] == "Red wins: 1 to 0, 1 level"
    assert last["deciding"] == []
    assert [turn["move"] for turn in last["turns"]] == [["10-0-0", "0-5-5"], ["4-3-3", "4-3-3"]]


def test_a_person_plays_kedge(client):
    view = begin(client, (HUMAN, {"dial": 1}), rounds=1)
    send(client, view, 0, "4-3-3")
    until = time.monotonic() + 10
    while view["outcome"] is None and time.monotonic() < until:
        view = client.get(f"/api/sessions/{view['id']}").json()
    assert sum(view["position"]["rounds"][0]["spread"][1]) == 10
    [thought] = view["thoughts"]
    assert thought["kl"] > 0.1
    assert thought["others"] == 66 - 24


@pytest.mark.parametrize("move", ["11-0-0", "5-5", [5, 5, 1], [-1, 6, 5], "five"])
def test_troops_are_counted(client, move):
    answer = send(client, begin(client), 0, move)
    assert answer.status_code == 400
    assert "10 troops on 3 fields" in answer.json()["detail"]


def test_games_that_are_too_large_are_refused(client):
    answer = client.post("/api/sessions", json={"game": "blotto", "setup": {"troops": 50}})
    assert answer.status_code == 400
    assert "take fewer" in answer.json()["detail"]


def test_a_match_is_found_again_from_its_turns(client):
    told = {"game": "blotto", "turns": [["4-3-3", "0-5-5"]], "seats": [HUMAN, HUMAN]}
    view = client.post("/api/sessions", json=told).json()
    name = "4-3-3 : 0-5-5, Red"
    assert view["turns"] == [{"seats": [0, 1], "name": name, "move": told["turns"][0]}]
    told["turns"] = ["4-3-3"]
    assert client.post("/api/sessions", json=told).status_code == 400


def test_a_match_is_saved_and_opened_again(client):
    turns = [["4-4-0", "0-5-3"], ["8-0-0", "2-3-3"]]
    setup = {"rounds": 3, "troops": 8, "fields": 3}
    told = {"game": "blotto", "setup": setup, "turns": turns, "seats": [HUMAN, HUMAN]}
    played = client.post("/api/sessions", json=told).json()
    saved = client.get(f"/api/sessions/{played['id']}/record")
    assert saved.headers["content-disposition"].endswith('kedge-blotto.json"')
    assert saved.json() == {"game": "blotto", "setup": setup, "rounds": turns}
    found = client.post("/api/sessions/read", json={"game": "blotto", "record": saved.text}).json()
    assert found["turns"] == played["turns"]
    assert found["setup"] == setup
    assert found["outcome"] is None


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("[]", "not a game of Blotto"),
        ("{", "not a game of Blotto"),
        ('{"game": "chess", "setup": {}, "rounds": []}', "game"),
        ('{"game": "blotto", "setup": {"troops": -1}, "rounds": []}', "troops"),
        ('{"game": "blotto", "setup": {}, "rounds": [["4-3-3"]]}', "rounds"),
        ('{"game": "blotto", "setup": {}, "rounds": [["4-3-3", "9-9-9"]]}', "10 troops"),
        ('{"game": "blotto", "setup": {"troops": 50, "fields": 8}, "rounds": []}', "take fewer"),
    ],
)
def test_files_that_are_no_matches(client, record, said):
    answer = client.post("/api/sessions/read", json={"game": "blotto", "record": record})
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_the_thought_sums_up_the_mixture():
    page, spec = BlottoPage(), "pikl-hedge(uniform, lambda=0.1, iterations=500)"
    state = page.begin(BlottoSetup(troops=3, fields=2))
    agents = {seat: (spec, make_agent(spec)) for seat in (0, 1)}
    [_, found] = page.think(Question(state, agents, 0, np.random.default_rng(0), StopFlag()))
    thought = found.thought
    assert {row.name for row in thought.rows} == {"0-3", "1-2", "2-1", "3-0"}
    people, search = zip(*thought.more["troops"], strict=True)
    assert people == pytest.approx([0.25] * 4)
    assert sum(search) == pytest.approx(1.0)

"""Earlier positions and reviews, through the API."""

import io
import json
import time

import chess.pgn
import pytest
from fastapi.testclient import TestClient

from kedge.interfaces.web.app import make_app

_SCHOLAR = ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]


@pytest.fixture
def client():
    with TestClient(make_app(), "http://localhost") as found:
        yield found


_DECK = " ".join(
    f"{colour}{rank}"
    for rank, count in ((5, 1), (4, 2), (3, 2), (2, 2), (1, 3))
    for _ in range(count)
    for colour in "RYGWB"
)
_BOMB = ["tell player 1 4s", "play card 1", "play card 1", "play card 1"]  # three lives
_SPRING = {"FRANCE": ["A MAR - SPA", "A PAR - BUR", "F BRE H"], "ITALY": ["A VEN - TYR"]}


def _begin(client, turns, **more):
    told = {"game": "chess", "turns": turns, "seats": [{"human": True}] * 2, **more}
    answer = client.post("/api/v1/sessions", json=told)
    assert answer.status_code == 201, answer.text
    return f"/api/v1/sessions/{answer.json()['id']}"


def _reviewed(client, address):
    assert client.post(f"{address}/review").status_code == 202
    for _ in range(300):
        found = client.get(f"{address}/review").json()
        if found["report"] or found["trouble"]:
            return found
        time.sleep(0.05)
    raise AssertionError("the review does not end")


def test_earlier_position(client):
    address = _begin(client, _SCHOLAR)
    start = client.get(f"{address}/at/0").json()
    assert start["position"]["fen"].startswith("rnbqkbnr/pppppppp")
    assert (
        client.get(f"{address}/at/7").json()["position"] == (client.get(address).json()["position"])
    )
    refused = client.get(f"{address}/at/8")
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "turn 8: the last turn so far is 7",
    )


def test_review_of_a_blunder(client):
    address = _begin(client, _SCHOLAR)
    report = _reviewed(client, address)["report"]
    moves = report["moves"]
    assert [move["name"] for move in moves][-2:] == ["Nf6", "Qxf7#"]
    assert moves[5]["mark"] == "??"
    assert 5 in report["mistakes"]
    assert len(report["likely"]) == 7
    assert len(report["likely"][0]) == len(report["knots"])
    assert 800 < report["players"][0]["fit"]["rating"] < 2400
    again = client.post(f"{address}/review").json()
    assert again["report"] == report  # kept


def test_annotated_record(client):
    address = _begin(client, _SCHOLAR)
    early = client.get(f"{address}/record", params={"annotated": True})
    assert early.status_code == 400
    _reviewed(client, address)
    text = client.get(f"{address}/record", params={"annotated": True}).text
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors
    assert [move.uci() for move in game.mainline_moves()] == _SCHOLAR
    assert chess.pgn.NAG_BLUNDER in list(game.mainline())[5].nags


def test_review_is_of_the_game_as_it_stands(client):
    address = _begin(client, _SCHOLAR[:2])
    _reviewed(client, address)
    client.post(f"{address}/undo")
    assert client.get(f"{address}/review").status_code == 400
    assert _reviewed(client, address)["of"] == 1


def test_review_stops_when_nobody_listens(client):
    quiet = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "c2c3", "g8f6", "d2d3", "d7d6"]
    address = _begin(client, quiet)
    with client.websocket_connect(f"ws://localhost{address}/live") as socket:
        socket.receive_json()
        client.post(f"{address}/review")
        while socket.receive_json()["type"] != "review":
            pass
    assert client.get(f"{address}/review").status_code == 400


def test_nothing_to_review(client):
    refused = client.post(f"{_begin(client, [])}/review")
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "there is no move to review yet",
    )


def test_no_review_where_no_agent_plays(client):
    told = {"game": "hanabi", "setup": {"players": 3}, "seats": [{"human": True}] * 3}
    session = client.post("/api/v1/sessions", json=told).json()
    assert not session["reviews"]
    refused = client.post(f"/api/v1/sessions/{session['id']}/review")
    assert refused.status_code == 400
    assert "with two" in refused.json()["detail"]


def test_record_names_the_rating_an_agent_plays_like(client):
    seats = [{"human": True}, {"dial": 0.2, "settings": {"elo": 1800}}]
    text = client.get(f"{_begin(client, [], seats=seats)}/record").text
    assert '[BlackElo "1800"]' in text
    assert '[WhiteElo "?"]' in text


def test_review_of_hanabi_once_it_is_over(client):
    hanabi = {"game": "hanabi", "setup": {"deck": _DECK}}
    going = _begin(client, _BOMB[:2], **hanabi)
    refused = client.post(f"{going}/review")
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "a review would reveal secrets; finish the game first",
    )
    address = _begin(client, _BOMB, **hanabi)
    found = _reviewed(client, address)
    assert found["turns"] == _BOMB
    report = found["report"]
    assert [one["played"]["move"] for one in report["decisions"]] == _BOMB
    assert [one["player"] for one in report["decisions"]] == [0, 1, 0, 1]
    assert len(report["values"]) == 5
    assert report["values"][-1] == [0.0]
    text = client.get(f"{address}/record", params={"annotated": True}).text
    again = client.post("/api/v1/sessions/read", json={"game": "hanabi", "record": text})
    assert again.status_code == 201, again.text
    notes = json.loads(text)["notes"]
    assert next(note for note in notes[0] if note).startswith("turn ")


def test_review_of_diplomacy(client):
    seats = [{"human": True}] * 7
    address = _begin(client, [_SPRING], game="diplomacy", seats=seats)
    report = _reviewed(client, address)["report"]
    france, italy = report["decisions"]
    assert {part["move"] for part in france["parts"]} == set(_SPRING["FRANCE"])
    rare = {part["name"]: part["anchor"] for part in france["parts"]}
    assert rare["BRE H"] < 0.05 < rare["MAR-SPA"]
    assert {part["move"] for part in italy["parts"]} == {"A VEN - TYR", "A ROM H", "F NAP H"}
    assert 0.0 <= france["loss"] < 1.0
    text = client.get(f"{address}/record", params={"annotated": True}).text
    assert json.loads(text)["phases"][0]["review"]["FRANCE"]["rank"] > 1
    again = client.post("/api/v1/sessions/read", json={"game": "diplomacy", "record": text})
    assert again.json()["turns"][0]["name"] == "S1901M"


def test_review_is_stopped(client):
    address = _begin(client, _SCHOLAR)
    with client.websocket_connect(f"ws://localhost{address}/live") as socket:
        client.post(f"{address}/review")
        assert client.delete(f"{address}/review").status_code == 204
        while (told := socket.receive_json()).get("review", "nothing") is not None:
            assert not (told["type"] == "review" and told["review"]["report"])
    assert client.get(f"{address}/review").status_code == 400
    _reviewed(client, address)
    client.delete(f"{address}/review")
    assert client.get(f"{address}/review").json()["report"], "what is done is kept"

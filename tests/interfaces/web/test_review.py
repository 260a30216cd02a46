"""Earlier positions and reviews, through the API."""

import io
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
        "turn 8: the game has 7 so far",
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
        "no move was made: there is nothing to review",
    )


def test_record_names_the_rating_an_agent_plays_like(client):
    seats = [{"human": True}, {"dial": 0.2, "settings": {"elo": 1800}}]
    text = client.get(f"{_begin(client, [], seats=seats)}/record").text
    assert '[BlackElo "1800"]' in text
    assert '[WhiteElo "?"]' in text

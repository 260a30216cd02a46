"""The API as strangers use it."""

import asyncio
import json
import re
import time
from pathlib import Path

import pytest
from starlette.websockets import WebSocketDisconnect

from kedge import catalogue

PEOPLE = [{"human": True}, {"human": True}]
REFERENCE = Path(__file__).parents[3] / "docs" / "reference.md"


def begin(client, **told):
    answer = client.post("sessions", json={"game": "chess", **told})
    assert answer.status_code == 201, answer.text
    return answer.json()


def opened(client, record, **told):
    answer = client.post("sessions/read", json={"game": "chess", "record": record, **told})
    assert answer.status_code == 201, answer.text
    return answer.json()


def move(client, session, move, seat=0):
    told = {"seat": seat, "move": move, "turn": len(session["turns"])}
    return client.post(f"sessions/{session['id']}/move", json=told)


def live(client, session, query=""):
    return client.websocket_connect(f"ws://localhost/api/v1/sessions/{session['id']}/live{query}")


def test_a_person_plays_and_an_agent_answers(client):
    session = begin(client, seats=[{"human": True}, {"dial": 0.0}])
    with live(client, session) as socket:
        assert socket.receive_json()["session"]["turns"] == []
        shown = move(client, session, "e4").json()
        assert shown["turns"] == [{"seats": [0], "name": "e4", "move": "e2e4"}]
        while (message := socket.receive_json())["type"] != "session" or len(
            message["session"]["turns"]
        ) < 2:
            pass
    assert message["session"]["deciding"] == [0]
    assert message["session"]["thoughts"][0]["agent"].startswith("chess(")
    assert client.get(f"sessions/{session['id']}").json()["revision"] == 2


@pytest.mark.parametrize(
    ("dial", "agent"), [(0.0, "chess(speed=blitz, clock="), (1.0, "puct(chess(speed=blitz, clock=")]
)
def test_an_agent_of_chess_knows_its_clock(client, dial, agent):
    setup = {"clock": 180, "increment": 2}
    session = begin(client, seats=[{"human": True}, {"dial": dial}], setup=setup)
    with live(client, session) as socket:
        move(client, session, "e4")
        while (message := socket.receive_json())["type"] != "session" or not (
            thoughts := message["session"]["thoughts"]
        ):
            pass
    assert thoughts[0]["agent"].startswith(agent)


def test_a_client_that_listens_can_do_without_the_answer(client):
    session = begin(client)
    with live(client, session) as socket:
        assert socket.receive_json()["session"]["turns"] == []
        answer = client.post(
            f"sessions/{session['id']}/move",
            json={"seat": 0, "move": "e4", "turn": 0},
            headers={"Prefer": "return=minimal"},
        )
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["Preference-Applied"] == "return=minimal"
        assert socket.receive_json()["session"]["turns"] == [
            {"seats": [0], "name": "e4", "move": "e2e4"}
        ]


def test_what_cannot_be_played_is_refused(client):
    session = begin(client)
    assert move(client, session, "e5").status_code == 400
    assert move(client, session, ["e4"]).status_code == 400
    assert move(client, session, "e4", seat=1).json() == {"detail": "no person sits at this seat"}
    assert move(client, session, "e4", seat=7).status_code == 400
    assert move(client, session, "e4", seat=8).status_code == 422
    assert move(client, session, "e" * 5000).status_code == 422
    gone = session | {"turns": [1]}
    assert move(client, gone, "e4").json() == {"detail": "the position has changed; look again"}


@pytest.mark.parametrize("content", [bytes(range(256)).decode("latin-1") * 50, "[[[ ]]] (", "{}"])
def test_what_is_no_record_is_refused(client, content):
    answer = client.post("sessions/read", json={"game": "chess", "record": content})
    assert answer.status_code == 400
    assert "not a game in PGN" in answer.json()["detail"]


def test_only_people_resign_and_take_back(client):
    session = begin(client, seats=[{"human": True}, {"dial": 0.0}])
    path = f"sessions/{session['id']}"
    for verb in ("resign", "undo"):
        for seat in (1, 7):
            assert client.post(f"{path}/{verb}", json={"seat": seat}).status_code == 400
    assert client.post(f"{path}/undo").json()["detail"] == "there is nothing to undo"
    assert (
        client.post(f"{path}/resign", json={"seat": 0}).json()["outcome"].startswith("Black wins")
    )
    assert client.post(f"{path}/resign", json={"seat": 0}).status_code == 400


def test_a_game_that_is_gone_is_gone_everywhere(client):
    session = begin(client, seats=PEOPLE)
    path = f"sessions/{session['id']}"
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404
    assert client.get(path).status_code == 404
    assert client.get(f"{path}/record").status_code == 404
    assert client.put(f"{path}/seats/0", json={}).status_code == 404
    assert move(client, session, "e4").status_code == 404
    with live(client, session) as socket, pytest.raises(WebSocketDisconnect) as end:
        socket.receive_json()
    assert end.value.code == 4404


@pytest.mark.parametrize(
    "settings",
    [
        {"playouts": 20_001},
        {"playouts": 10**400},
        {"playouts": 0},
        {"playouts": 2.5},
        {"elo": -1},
        {"c_puct": 0},
        {"game": 1},
        {"x": 1},
        {"lambda": 1},
        {"self": 1},
    ],
)
def test_strangers_are_bounded_behind_the_dial_too(client, settings):
    session = begin(client)
    seat = {"dial": 0.5, "settings": settings}
    sat = client.put(f"sessions/{session['id']}/seats/1", json=seat)
    begun = client.post("sessions", json={"game": "chess", "seats": [{"human": True}, seat]})
    asked = client.post("policy", json={"game": "chess", **seat})
    assert [sat.status_code, begun.status_code, asked.status_code] == [400] * 3
    assert client.get(f"sessions/{session['id']}").json()["revision"] == 0


@pytest.mark.parametrize(
    "agent",
    [
        "puct(chess, playouts=20001)",
        "puct(chess, 2, 20001)",
        "puct(chess(temperature=0.5), 0.1)",
        "mmd('chess(elo=1)')",
        "/etc/passwd",
        "puct('../net.onnx')",
        "puct(chess, value='C:\\\\net')",
        "go",
        "puct(go)",
        "hanabi",
        "sparta(hanabi)",
        "puct(chess, batch=256)",
        "puct(" * 60,
        "",
        "né",
    ],
)
def test_agents_that_a_stranger_may_not_have(client, agent):
    answer = client.post("policy", json={"game": "chess", "agent": agent})
    assert answer.status_code == 400, answer.text
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"game": "chess", "seats": [{"dial": NaN}, {}]}',
        b'{"game": "chess", "seats": [{"dial": true}, {}]}',
        b'{"game": "chess", "seats": [{"human": "yes"}, {}]}',
        b'{"game": "chess", "seats": [{"settings": {"elo": Infinity}}, {}]}',
        b'{"game": "chess", "setup": {"clock": NaN}}',
        b'{"game": "chess", "setup": {"clock": 1e999}}',
        b'{"game": "chess", "setup": {"\\ud800": 1}}',
        b'{"game": "chess", "turns": ["\\ud800"]}',
        b'{"game": "chess", "turns": [{"0": "e4"}]}',
        b'{"game": "chess", "turns": [["e4"]]}',
        b'{"game": "chess", "turns": [{"seats": ' + b"[" * 900 + b"]" * 900 + b"}]}",
        b'{"game": "chess", "setup": ' + b'{"a":' * 50_000 + b"}" * 50_000 + b"}",
        b'{"game": "chess", "setup": {"fen": ' + b"9" * 6000 + b"}}",
        b'{"game": "ch\\u0000ess"}',
        b'{"game": "chess", "surprise": 1}',
        b'{"game": "chess", "turns": ' + json.dumps(["e4"] * 2001).encode() + b"}",
    ],
)
def test_bodies_that_make_no_sense_are_refused_in_a_line(client, body):
    answer = client.post("sessions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)


def test_what_is_not_json_is_refused(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = client.post(
            "sessions", content=b'{"game":"chess"}', headers={"content-type": kind}
        )
        assert answer.status_code == 422


def test_verbs_that_a_path_does_not_know(client):
    for verb in ("PUT", "PATCH", "TRACE", "OPTIONS"):
        assert client.request(verb, "games").status_code == 405
    assert client.head("games").status_code == 405


def test_records_are_read_and_written(client):
    text = '[White "Anna; filename=x"]\n\n1. e4 e5 2. Nf3 *\n'
    answer = client.post("sessions/read", json={"game": "chess", "record": text})
    session = answer.json()
    assert [turn["name"] for turn in session["turns"]] == ["e4", "e5", "Nf3"]
    record = client.get(f"sessions/{session['id']}/record")
    assert record.headers["content-disposition"] == 'attachment; filename="kedge-chess.pgn"'
    assert "1. e4 e5 2. Nf3 *" in record.text


FINISHED = """[Event "Casual game"]
[Date "1858.??.??"]
[White "Morphy"]
[Black "Count Isouard"]
[WhiteElo "2690"]
[Result "1-0"]
[Termination "Time forfeit"]

1. e4 e5 2. Nf3 d6 1-0
"""


def test_a_finished_game_is_looked_through(client):
    session = opened(client, FINISHED, seats=[{"human": True}, {"dial": 0.0}])
    assert session["outcome"] == "White wins: Time forfeit"
    assert session["recorded"]
    assert (session["deciding"], session["due"], session["thinking"]) == ([], [0], [])
    assert [(seat["player"], seat["rating"]) for seat in session["seats"]] == [
        ("Morphy", 2690),
        ("Count Isouard", None),
    ]
    path = f"sessions/{session['id']}"
    assert client.get(f"{path}/at/1").json()["due"] == [1]
    assert "play from one of its positions" in client.post(f"{path}/undo").json()["detail"]
    record = client.get(f"{path}/record").text
    for tag in FINISHED.splitlines()[:7]:
        assert tag in record
    assert opened(client, record)["outcome"] == session["outcome"]


@pytest.mark.parametrize(
    ("termination", "outcome", "written"),
    [
        ("Time forfeit", "White wins: Time forfeit", '[Termination "Time forfeit"]'),
        ("White wins: Black resigns", "White wins: Black resigns", '[Termination "Black resigns"]'),
        ("White wins", "White wins", None),
        ("Normal", "White wins", None),
    ],
)
def test_a_record_keeps_how_the_game_ended(client, termination, outcome, written):
    """Files of earlier versions repeat the result in the tag."""
    session = opened(client, f'[Result "1-0"]\n[Termination "{termination}"]\n\n1. e4 e5 1-0')
    assert session["outcome"] == outcome
    record = client.get(f"sessions/{session['id']}/record").text
    tags = [line for line in record.splitlines() if line.startswith("[Termination")]
    assert tags == ([] if written is None else [written])
    assert opened(client, record)["outcome"] == outcome


def test_a_resignation_is_recorded(client):
    path = f"sessions/{begin(client, turns=['e4'])['id']}"
    client.post(f"{path}/resign", json={"seat": 0})
    record = client.get(f"{path}/record").text
    assert '[Result "0-1"]' in record
    assert '[Termination "White resigns"]' in record


def test_what_the_rules_end_needs_no_result(client):
    session = opened(client, "1. f3 e5 2. g4 Qh4#")
    assert session["outcome"] == "Black wins: checkmate"
    assert (session["recorded"], session["due"]) == (True, [])


def test_a_record_goes_on_past_a_draw_that_nobody_claimed(client):
    again = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8"
    assert opened(client, f"{again} *")["outcome"] == "Draw: threefold repetition"
    played = opened(client, f"{again} 5. e4 e5 1-0")
    assert (played["outcome"], len(played["turns"])) == ("White wins", 10)
    assert [turn["seats"] for turn in played["turns"][-2:]] == [[0], [1]]
    unfinished = opened(client, f"{again} 5. e4 *", seats=[{"human": True}] * 2)
    assert (unfinished["outcome"], unfinished["deciding"]) == (None, [1])


def test_the_day_of_a_game(client):
    def tag(session):
        record = client.get(f"sessions/{session['id']}/record").text
        return record.partition('[Date "')[2][:10]

    today = time.strftime("%Y.%m.%d")
    assert tag(begin(client)) == today
    assert tag(opened(client, "1. e4 *")) == today
    assert tag(opened(client, '[Date "1999.12.31"]\n\n1. e4 *')) == "1999.12.31"


@pytest.mark.parametrize("record", ["", "hello", "1. e5", "%" * 400_000, "1. e4 " * 60_000])
def test_records_that_are_none_are_refused(client, record):
    answer = client.post("sessions/read", json={"game": "chess", "record": record})
    assert answer.status_code == 400, answer.text


def test_a_long_record_is_refused_by_its_length(client):
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 600
    answer = client.post("sessions/read", json={"game": "chess", "record": shuffle})
    assert answer.status_code == 400
    assert len(answer.json()["detail"]) < 200


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", 1007),
        ("[" * 10_000, 1007),
        ('{"advise": "yes"}', 1008),
        ("null", 1008),
        (b"\x00", 1003),
    ],
)
def test_sockets_that_talk_nonsense_are_told_so_and_harm_nobody(client, message, code):
    session = begin(client, seats=PEOPLE)
    with live(client, session) as other:
        other.receive_json()
        with live(client, session) as socket:
            socket.receive_json()
            (socket.send_text if isinstance(message, str) else socket.send_bytes)(message)
            with pytest.raises(WebSocketDisconnect) as end:
                socket.receive_json()
        assert end.value.code == code
        assert end.value.reason.startswith("send ")
        move(client, session, "e4")
        assert other.receive_json()["session"]["turns"] == [
            {"seats": [0], "name": "e4", "move": "e2e4"}
        ]


def test_a_question_is_given_up_when_nobody_waits_for_the_answer(client):
    """The search stops when its client leaves."""
    asked = json.dumps({"game": "chess", "agent": "puct(chess, playouts=20000)"}).encode()
    app = client.app
    sent = []

    async def leave():
        messages = [{"type": "http.request", "body": asked}, {"type": "http.disconnect"}]

        async def receive():
            if len(messages) == 1:
                await asyncio.sleep(0.2)
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {
            "type": "http", "method": "POST", "path": "/api/v1/policy", "headers": headers,
            "query_string": b"", "scheme": "http", "http_version": "1.1",
        }  # fmt: skip
        async with asyncio.timeout(10):
            await app(scope, receive, send)

    client.portal.call(leave)
    assert sent[0]["status"] == 400


def test_an_undo_gains_no_time(client):
    seats = [{"human": True}, {"human": True}]
    told = {"game": "chess", "setup": {"clock": 180, "increment": 2}, "seats": seats}
    session = client.post("sessions", json=told).json()
    path = f"sessions/{session['id']}"
    for _ in range(5):
        client.post(f"{path}/move", json={"seat": 0, "move": "e4", "turn": 0})
        session = client.post(f"{path}/undo").json()
    assert max(session["clock"]["left"]) <= 180.0


def test_advice_follows_the_dial_of_who_is_played_against(client):
    seats = [{"human": True, "dial": 1.0}, {"dial": 0.0, "settings": {"elo": 1700}}]
    session = client.post("sessions", json={"game": "chess", "seats": seats}).json()
    with live(client, session) as socket:
        socket.send_json({"advise": True})
        while (message := socket.receive_json())["type"] != "advice":
            pass
    assert message["thought"]["agent"] == session["seats"][1]["agent"]


@pytest.mark.parametrize("game", ["chess", "go", "diplomacy", "hanabi", "blotto"])
def test_agents_of_another_game_are_told_from_its_own(client, game):
    for agent in {"chess", "go", "diplomacy", "hanabi"} - {game}:
        answer = client.post("policy", json={"game": game, "agent": agent})
        assert answer.json()["detail"].startswith(f"agent {agent}: does not play {game}; ")


@pytest.mark.parametrize(
    ("game", "moves"), [("chess", 20), ("go", 362), ("blotto", 66), ("diplomacy", 0), ("hanabi", 0)]
)
def test_uniform_plays_games_with_the_usual_verbs(client, game, moves):
    answer = client.post("policy", json={"game": game, "agent": "uniform"}).json()
    if moves:
        assert len(answer["rows"]) + answer["others"] == moves
        assert all(row["policy"] == pytest.approx(1 / moves) for row in answer["rows"])
    else:
        assert answer["detail"].startswith(f"agent uniform: does not play {game}; ")


def test_puct_refuses_games_without_turns(client):
    answer = client.post("policy", json={"game": "blotto", "agent": "puct(uniform)"})
    assert answer.status_code == 400
    assert answer.json() == {"detail": "puct: plays only games of two players who move in turn"}


@pytest.mark.parametrize("playouts", [0, 2.5, 20_001, 2_000_000])
def test_a_limit_is_said_once(client, playouts):
    answer = client.post("policy", json={"game": "chess", "settings": {"playouts": playouts}})
    assert answer.json() == {"detail": "playouts: must be a whole number from 1 to 20,000 here"}


def test_a_socket_of_no_game_is_told_so(client):
    with (
        pytest.raises(WebSocketDisconnect) as gone,
        client.websocket_connect("ws://localhost/api/v1/sessions/x/live") as socket,
    ):
        socket.receive_json()
    assert gone.value.code == 4404


@pytest.mark.parametrize("game", catalogue.names("page"))
def test_the_reference_names_the_fields_of_each_game(client, game):
    [about] = [one for one in client.get("games").json() if one["game"] == game]
    position = begin(client, game=game)["position"]
    heading = f"### {about['title']} on the page\n"
    section = REFERENCE.read_text(encoding="utf-8").split(heading)[1].split("\n##")[0]
    named = {word for code in re.findall("`([^`]+)`", section) for word in code.split()}
    assert {*about["setup"]["properties"], *position} - named == set()


def test_a_seat_names_the_people_whom_its_agent_imitates(client):
    seats = [{"human": True}, {"dial": 0.2, "settings": {"elo": 1800}}]
    session = begin(client, seats=seats)
    assert [seat["rating"] for seat in session["seats"]] == [None, 1800]

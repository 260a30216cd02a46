"""Wrong requests: each gets one plain line that names the field and says what is expected."""

import pytest
from pydantic import BaseModel, ValidationError, field_validator
from starlette.websockets import WebSocketDisconnect

from kedge.interfaces.web.problems import plain_error

PEOPLE = [{"human": True}, {"human": True}]


def begin(client, **fields):
    return client.post("sessions", json={"game": "chess", "seats": PEOPLE, **fields}).json()


def detail(answer, code):
    assert answer.status_code == code, answer.text
    line = answer.json()["detail"]
    assert line == line.strip()
    assert line.isprintable()
    return line


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", "body: missing"),
        (b"null", "body: must be an object"),
        (b"{", "body: not valid JSON at character 1"),
        (b"\xff\xfe", "body: not valid JSON at character 0"),
        (b"{}", "game: missing"),
        (b'{"game": 1}', "game: must be text"),
        (b'{"game": "Chess!"}', "game: must be a name in lower case, such as chess"),
        (b'{"game": "chess", "surprise": 1}', "surprise: unknown field"),
        (b'{"game": "chess", "sur\\nprise": 1}', r"'sur\nprise': unknown field"),
        (b'{"game": "chess", "seats": 7}', "seats: must be a list"),
        (b'{"game": "chess", "seats": [7]}', "seats.0: must be an object"),
        (b'{"game": "chess", "seats": [{"dial": true}]}', "seats.0.dial: must be a number"),
        (b'{"game": "chess", "seats": [{"dial": 2}]}', "seats.0.dial: must be at most 1"),
        (
            b'{"game": "chess", "seats": [{"human": "yes"}]}',
            "seats.0.human: must be true or false",
        ),
        (
            b'{"game": "chess", "seats": [{"settings": {"elo": []}}]}',
            "seats.0.settings.elo: must be a number or a word",
        ),
        (
            b'{"game": "chess", "seats": [{"settings": {"E\\n": 1}}]}',
            r"seats.0.settings.'E\n': must be the name of a setting, such as elo",
        ),
        (
            b'{"game": "chess", "seats": [{"agent": "' + b"a" * 301 + b'"}]}',
            "seats.0.agent: must have at most 300 characters",
        ),
        (b'{"game": "chess", "turns": "e4"}', "turns: must be a list"),
        (
            b'{"game": "chess", "turns": [1]}',
            "turns.0: must be text, a list, or an object with a move per player",
        ),
        (
            b'{"game": "chess", "turns": [' + b"1," * 2000 + b"1]}",
            "turns: must have at most 2,000 items",
        ),
    ],
)
def test_fields_of_the_wrong_kind(client, body, line):
    answer = client.post("sessions", content=body, headers={"content-type": "application/json"})
    assert detail(answer, 422) == line


@pytest.mark.parametrize(
    ("game", "setup", "line"),
    [
        ("chess", {"clock": "x"}, "setup.clock: must be a number"),
        ("chess", {"clock": 1e9}, "setup.clock: must be at most 36,000"),
        ("chess", {"clock": -1}, "setup.clock: must be at least 0"),
        ("chess", {"planets": 1}, "setup.planets: unknown field"),
        ("go", {"size": 10}, "setup.size: must be 9, 13 or 19"),
        ("go", {"first": "me"}, "setup.first: must be 'black' or 'white'"),
        ("go", {"black": "D4"}, "setup.black: must be a list"),
        ("go", {"handicap": 2.5}, "setup.handicap: must be a whole number"),
        ("hanabi", {"seed": 1e30}, "setup.seed: must be a whole number"),
        ("hanabi", {"seed": 2**53}, "setup.seed: must be less than 9,007,199,254,740,992"),
        ("diplomacy", {"position": 3}, "setup.position: must be an object"),
    ],
)
def test_setups_of_the_wrong_kind(client, game, setup, line):
    assert detail(client.post("sessions", json={"game": game, "setup": setup}), 400) == line


@pytest.mark.parametrize("elo", [50, 9999])
def test_ratings_that_the_model_refuses(client, elo):
    line = f"elo: a rating from 100 to 4000, or 0 if unknown, not {elo}; the model tells ratings "
    line += "from 600 to 2800 apart"
    seat = {"dial": 0.5, "settings": {"elo": elo}}
    assert detail(client.post("sessions", json={"game": "chess", "seats": [{}, seat]}), 400) == line
    assert detail(client.post("policy", json={"game": "chess", **seat}), 400) == line
    path = f"sessions/{begin(client)['id']}/seats/1"
    assert detail(client.put(path, json=seat), 400) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("sessions/x", "id: must be the id of a game: 22 letters, digits, - or _"),
        ("sessions/{id}?eyes=x", "eyes: must be a whole number"),
        ("sessions/{id}?eyes=99", "eyes: must be at most 7"),
        ("sessions/{id}/at/-1", "turn: must be at least 0"),
        ("sessions/{id}/at/" + "9" * 5000, "turn: must be a whole number"),
        ("sessions/{id}/record?annotated=x", "annotated: must be true or false"),
        ("dial/chess?x=x", "x: must be a number"),
    ],
)
def test_addresses_of_the_wrong_kind(client, path, line):
    assert detail(client.get(path.format(id=begin(client)["id"])), 422) == line


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        ({"move": 1}, 422, "move: must be text, or a list of texts and whole numbers"),
        ({"move": None}, 422, "move: must be text, or a list of texts and whole numbers"),
        ({"move": [["e4"]]}, 422, "move: must be text, or a list of texts and whole numbers"),
        ({"move": ["e4"]}, 400, "a move in Chess is text, such as b1a3"),
        ({"seat": "0"}, 422, "seat: must be a whole number"),
        ({"seat": True}, 422, "seat: must be a whole number"),
        ({"seat": 10**100}, 422, "seat: must be at most 7"),
        ({"turn": 1.5}, 422, "turn: must be a whole number"),
        ({"turn": 10**30}, 422, "turn: must be at most 2,000"),
    ],
)
def test_moves_of_the_wrong_kind(client, change, code, line):
    body = {"seat": 0, "move": "e4", "turn": 0} | change
    answer = client.post(f"sessions/{begin(client)['id']}/move", json=body)
    assert detail(answer, code) == line


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ("{", "not a game of Blotto: not valid JSON"),
        ('{"game": "blotto"}', "not a game of Blotto: setup: missing"),
        (
            '{"game": "blotto", "setup": {"rounds": 0}, "rounds": []}',
            "not a game of Blotto: setup.rounds: must be at least 1",
        ),
    ],
)
def test_records_of_blotto_of_the_wrong_kind(client, record, line):
    answer = client.post("sessions/read", json={"game": "blotto", "record": record})
    assert detail(answer, 400) == line


def test_a_game_of_another_package_uses_its_own_words():
    class Setup(BaseModel):
        matches: int = 7

        @field_validator("matches")
        @classmethod
        def check(cls, matches):
            if matches % 2 == 0:
                raise ValueError("must be\nodd")
            return matches

    with pytest.raises(ValidationError) as wrong:
        Setup(matches=4)
    assert plain_error(wrong.value.errors(), "setup") == "setup.matches: must be odd"


@pytest.mark.parametrize("query", ["eyes=x", "eyes=99", "eyes=" + "9" * 5000])
def test_a_socket_with_a_wrong_seat_is_refused_in_a_line(client, query):
    address = f"ws://localhost/api/v1/sessions/{begin(client)['id']}/live?{query}"
    with client.websocket_connect(address) as socket, pytest.raises(WebSocketDisconnect) as end:
        socket.receive_json()
    assert end.value.code == 1008
    assert end.value.reason.startswith("eyes: must be ")


def test_no_move_after_the_end(client):
    session = begin(client)
    path = f"sessions/{session['id']}"
    client.post(f"{path}/resign", json={"seat": 0})
    answer = client.post(f"{path}/move", json={"seat": 0, "move": "e4", "turn": 0})
    assert detail(answer, 400) == "the game is over"


@pytest.mark.parametrize(
    "body",
    [
        b'{"game": "chess", "setup": {"fen": ' + b"9" * 6000 + b"}}",
        b'{"game": "chess", "setup": ' + b'{"a":' * 50_000 + b"}" * 50_000 + b"}",
    ],
)
def test_json_that_python_cannot_read(client, body):
    answer = client.post("sessions", content=body, headers={"content-type": "application/json"})
    assert detail(answer, 400) == "body: not valid JSON, or too deep, or a number is too long"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/api/v1/nowhere",
        "/games/chess/",
        "/games/chess/chess.py",
        "/games/chess/chess.js%00",
        "/games/chess/..%2f..%2fapp.py",
        "/games/chess/..%5capp.py",
        "/games/chess/%2e%2e/%2e%2e/app.py",
        "/games/chess/" + "x" * 5000,
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/js",
        "/static/%ff",
        "/static/" + "x" * 5000,
    ],
)
def test_addresses_of_nothing(client, path):
    assert detail(client.get(f"http://localhost{path}"), 404) == "nothing at this address"


def test_a_method_that_a_path_does_not_know(client):
    answer = client.put("games")
    assert detail(answer, 405) == "method not allowed at this address"
    assert answer.headers["allow"] == "GET"


def test_what_is_no_record_of_hanabi(client):
    for record in ("{}", "x", ""):
        answer = client.post("sessions/read", json={"game": "hanabi", "record": record})
        assert detail(answer, 400).startswith("not a game of Hanabi: ")

"""A game of another package, through the API."""

import pytest
import tiny_nim
from starlette.testclient import TestClient

from kedge.errors import InputError, LeftOutWarning
from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.interfaces.web.pages.board import BoardPage
from kedge.interfaces.web.pages.games import page_game, page_games


@pytest.fixture
def nim(monkeypatch, tmp_path):
    tiny_nim.offer(monkeypatch, tmp_path)
    with TestClient(make_app(ServerOptions(rate=1e6)), "http://localhost") as client:
        yield client


def _begin(client, **options):
    answer = client.post("/api/sessions", json={"game": "nim", **options})
    assert answer.status_code == 201, answer.text
    return answer.json()


def _play(client, session, move):
    """The game once it is the person's turn again, or over."""
    path = f"/api/sessions/{session['id']}"
    with client.websocket_connect(f"ws://localhost{path}/live") as socket:
        played = {"seat": 0, "move": move, "turn": len(session["turns"])}
        answer = client.post(f"{path}/move", json=played)
        assert answer.status_code == 200, answer.text
        while True:
            message = socket.receive_json()
            shown = message.get("session")
            assert not (shown and shown["trouble"]), shown["trouble"]
            if shown and len(shown["turns"]) > len(session["turns"]) and shown["deciding"] != [1]:
                return shown


def test_it_is_offered(nim):
    about = nim.get("/api/games").json()[-1]
    assert {key: about[key] for key in ("game", "title", "emblem", "about", "reviews")} == {
        "game": "nim",
        "title": "Nim",
        "emblem": "|",
        "about": "Take one to three matches; the last match wins.",
        "reviews": False,
    }
    assert (about["script"], about["style"]) == ("/games/nim/nim.js", "/games/nim/nim.css")
    assert (about["stops"], about["agents"]) == ([], ["nim-expert", "nim-expert(slow=1)"])
    assert about["seats"] == ["First", "Second"]


@pytest.mark.parametrize(
    ("file", "kind", "text"),
    [
        ("nim.js", "text/javascript", tiny_nim.BOARD),
        ("words.js", "text/javascript", tiny_nim.WORDS),
        ("nim.css", "text/css", tiny_nim.STYLE),
    ],
)
def test_its_files_are_served(nim, file, kind, text):
    answer = nim.get(f"/games/nim/{file}")
    assert (answer.status_code, answer.text) == (200, text)
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"
    again = nim.get(f"/games/nim/{file}", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert nim.get(f"/games/nim/{file}", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("file", ["secret.txt", "..%2fnim.js", "%2e%2e/nim.js", "nim.js/", ""])
def test_no_other_file_is_served(nim, tmp_path, file):
    (tmp_path / "secret.txt").write_text("secret")
    assert nim.get(f"/games/nim/{file}", follow_redirects=False).status_code in (307, 404)


def test_it_is_played_to_the_end(nim):
    session = _begin(nim)
    assert session["position"] == {"heap": 7, "legal": ["take 1", "take 2", "take 3"]}
    seats = session["seats"]
    assert [seat["agent"] for seat in seats] == [None, "nim-expert"]
    assert [seat["dial"] for seat in seats] == [None, None]
    session = _play(nim, session, "take 1")
    assert [turn["name"] for turn in session["turns"]] == ["take 1", "take 2"]
    [thought] = session["thoughts"]
    assert (thought["agent"], thought["done"]) == ("nim-expert", True)
    assert [row["move"] for row in thought["rows"]] == ["take 2", "take 1", "take 3"]
    session = _play(nim, session, "take 3")
    assert (session["position"]["heap"], session["outcome"]) == (0, "Second wins")


def test_illegal_moves_are_refused(nim):
    session = _begin(nim)
    for move, why in (
        ("take 4", "illegal move 'take 4'; play a legal one, such as take 1"),
        (["take 1"], "a move in Nim is text, such as take 1"),
    ):
        played = {"seat": 0, "move": move, "turn": 0}
        answer = nim.post(f"/api/sessions/{session['id']}/move", json=played)
        assert (answer.status_code, answer.json()["detail"]) == (400, why)


def test_resignation_and_options(nim):
    session = _begin(nim, setup={"heap": 1})
    assert session["position"]["legal"] == ["take 1"]
    over = nim.post(f"/api/sessions/{session['id']}/resign", json={"seat": 0}).json()
    assert over["outcome"] == "Second wins: First resigns"
    assert _play(nim, _begin(nim, setup={"heap": 1}), "take 1")["outcome"] == "First wins"
    answer = nim.post("/api/sessions", json={"game": "nim", "setup": {"heap": 21}})
    assert answer.status_code == 400


def test_a_long_search_is_watched_and_stopped(nim):
    session = _begin(nim, seats=[{"agent": "nim-expert(slow=1)"}, {"human": True}])
    path = f"/api/sessions/{session['id']}"
    with nim.websocket_connect(f"ws://localhost{path}/live") as socket:
        while (message := socket.receive_json())["type"] != "thought":
            pass
        assert (message["thought"]["done"], message["thought"]["agent"]) == (
            False,
            "nim-expert(slow=1)",
        )
        nim.put(f"{path}/seats/0", json={"agent": "nim-expert"})
        while len(session["turns"]) == 0:
            session = socket.receive_json().get("session", session)
    assert session["turns"][0]["name"] == "take 3"


@pytest.mark.parametrize("agent", BoardPage.agents)
def test_the_usual_agents_play_it(nim, agent):
    session = _begin(nim, seats=[{"human": True}, {"agent": agent}])
    session = _play(nim, session, "take 1")
    assert (len(session["turns"]), session["thoughts"][0]["agent"]) == (2, agent)
    if agent == "puct(uniform, playouts=200)":
        assert session["thoughts"][0]["rows"][0]["name"] == "take 2"
        assert session["thoughts"][0]["rows"][0]["line"][0] == "take 2"


def test_agents_are_chosen_by_spec(nim):
    policy = nim.post("/api/policy", json={"game": "nim", "turns": ["take 2"]}).json()
    assert policy["rows"][0]["name"] == "take 1"
    assert nim.get("/api/dial/nim").status_code == 400
    for seat, why in (
        ({"settings": {"elo": 1500}}, "settings: Nim has no dial; set agent instead"),
        ({"agent": "/etc/passwd"}, "agent /etc/passwd: use the name of a model, not a file"),
    ):
        seats = [{"human": True}, seat]
        answer = nim.post("/api/sessions", json={"game": "nim", "seats": seats})
        assert (answer.status_code, answer.json()["detail"]) == (400, why)
    seats = [{"human": True}, {"agent": "chess"}]
    answer = nim.post("/api/sessions", json={"game": "chess", "seats": seats})
    assert answer.json()["detail"] == "agent: Chess has a dial; set dial and settings instead"
    foreign = nim.post("/api/policy", json={"game": "nim", "agent": "chess"})
    assert foreign.json()["detail"] == "agent chess: does not play nim"


def test_no_record_and_no_review(nim):
    session = _begin(nim, turns=["take 1"], seats=[{"human": True}] * 2)
    path = f"/api/sessions/{session['id']}"
    assert nim.get(f"{path}/record").json() == {"detail": "Nim has no record files to write"}
    assert nim.post(f"{path}/review").json() == {"detail": "Nim has no reviews"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("script", None), "game 'nim': its page names no script"),
        (("name", "nymph"), "game 'nim': its page must have the same name"),
        (("__init__", None), "game 'nim': its page fails to load: 'NoneType' object"),
    ],
)
def test_a_page_that_fails_is_one_line(monkeypatch, tmp_path, change, why):
    tiny_nim.offer(monkeypatch, tmp_path)
    if change[0] == "script":
        monkeypatch.delattr(tiny_nim.NimPage, "script")
    else:
        monkeypatch.setattr(tiny_nim.NimPage, *change)
    with pytest.raises(InputError) as error:
        page_game("nim")
    assert str(error.value).startswith(why)
    assert "\n" not in str(error.value)
    with pytest.warns(LeftOutWarning, match=f"{why}.*; left out"):
        assert "nim" not in page_games()


def test_a_file_that_is_gone_is_not_found(nim, tmp_path):
    (tmp_path / "words.js").unlink()
    assert nim.get("/games/nim/words.js").status_code == 404

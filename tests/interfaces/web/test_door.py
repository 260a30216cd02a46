"""Limits on clients: hosts, tokens, request rate and request size."""

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from kedge.interfaces.web.app import ServerOptions, make_app

GAMES = "/api/v1/games"


@pytest.fixture(scope="module")
def local():
    with TestClient(make_app(), "http://localhost:8477") as client:
        yield client


@pytest.fixture(scope="module")
def guarded():
    with TestClient(make_app(ServerOptions(hosts=(), token="open-sesame")), "http://box") as client:
        yield client


@pytest.mark.parametrize("host", ["localhost:8477", "LocalHost", "127.0.0.1:1", "[::1]:8477"])
def test_it_answers_to_its_names(local, host):
    assert local.get(GAMES, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8477",
        "localhost.evil.example",
        "localhost:x",
        "::1",
        ":80",
    ],
)
def test_it_answers_to_no_other_name(local, host):
    answer = local.get(GAMES, headers={"host": host})
    assert (answer.status_code, answer.json()) == (403, {"detail": "host not allowed"})


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", ""])
def test_no_other_page_may_ask(local, origin):
    answer = local.post("/api/v1/sessions", json={"game": "chess"}, headers={"origin": origin})
    assert answer.status_code == 403
    live = f"/api/v1/sessions/{'a' * 22}/live"
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        local.websocket_connect(live, headers={"origin": origin, "host": "localhost:8477"}),
    ):
        pass
    assert refused.value.code == 1008


def test_its_own_page_may_ask(local):
    origin = {"origin": "http://localhost:8477"}
    answer = local.post("/api/v1/sessions", json={"game": "chess"}, headers=origin)
    assert answer.status_code == 201


def test_cors_is_closed(local):
    asks = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = local.options("/api/v1/sessions", headers=asks)
    assert answer.status_code == 403
    seen = local.get(GAMES, headers={"origin": "https://evil.example"})
    for headers in (answer.headers, seen.headers):
        assert not [name for name in headers if name.startswith("access-control")]
    assert seen.headers["cross-origin-resource-policy"] == "same-origin"


def test_every_answer_says_what_a_browser_may_do(local):
    for path in (
        "/",
        "/api/docs",
        GAMES,
        "/api/v1/nothing",
        "/static/js/app.js",
        "/games/chess/wN.svg",
    ):
        headers = local.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert local.get(GAMES).headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/js/" + "a" * 5000,
        "/games/chess/..%2f..%2fapp.py.svg",
        "/games/chess/wX.svg",
        "/games/chess/go.js",
        "/games/nothing/chess.js",
    ],
)
def test_no_request_reaches_other_files(local, path):
    assert local.get(path).status_code == 404


def test_without_a_token_nothing_is_shown(guarded):
    for path in ("/", GAMES, "/static/js/app.js", "/api/docs"):
        answer = guarded.get(path)
        assert answer.status_code == 401
        assert "token" in answer.json()["detail"]
    for wrong in ("", "open", "open-sesamé", "open-sesame-and-more"):
        assert guarded.get(GAMES, params={"token": wrong}).status_code == 401
    with (
        pytest.raises(WebSocketDisconnect),
        guarded.websocket_connect(f"/api/v1/sessions/{'a' * 22}/live"),
    ):
        pass


def test_a_token_is_shown_once_and_then_a_cookie(guarded):
    bearer = {"authorization": "Bearer open-sesame"}
    assert guarded.get(GAMES, headers=bearer).status_code == 200
    answer = guarded.get("/", params={"token": "open-sesame"})
    assert answer.status_code == 200
    assert "HttpOnly; SameSite=Strict" in answer.headers["set-cookie"]
    assert guarded.get(GAMES).status_code == 200  # the client keeps cookies
    guarded.cookies.clear()


def test_too_many_requests_have_to_wait():
    with TestClient(make_app(ServerOptions(rate=2.0)), "http://localhost") as client:
        codes = [client.get("/api/v1/agents").status_code for _ in range(10)]
        assert codes[:8] == [200] * 8
        assert codes[-1] == 429
        assert client.get("/").status_code == 200  # the page itself is there


def test_large_requests_are_refused(local):
    told = {"content-type": "application/json"}
    large = local.post("/api/v1/sessions", content=b"x" * 1_000_001, headers=told)
    pieces = local.post(
        "/api/v1/sessions", content=(b"x" * 1000 for _ in range(2000)), headers=told
    )
    for answer in (large, pieces):
        assert (answer.status_code, answer.json()) == (
            413,
            {"detail": "request too large: at most 1,000,000 bytes"},
        )

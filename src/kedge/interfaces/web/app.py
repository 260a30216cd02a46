"""The server: the API and the front end behind one door, which is closed to strangers."""

import hmac
import logging
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kedge.errors import InputError
from kedge.games.diplomacy_drawing import MAP
from kedge.interfaces.web.api import router
from kedge.interfaces.web.chess_page import piece_svg
from kedge.interfaces.web.games import page_games
from kedge.interfaces.web.store import SessionStore
from kedge.interfaces.web.tables import Tables, UnknownSessionError
from kedge.interfaces.web.words import API_VERSION

STATIC = Path(str(files("kedge.interfaces.web") / "static"))
COOKIE = "kedge-token"
_MOST_BYTES = 1_000_000  # of a request
_RATE, _BURST = 50.0, 200.0  # requests a second and client, and how many may come at once
_CLIENTS = 1000
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
log = logging.getLogger("kedge.web")


@dataclass(frozen=True)
class ServerOptions:
    """How the server keeps its door."""

    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]", "testserver")
    """Names by which it may be called; none is any. Else any page could, by a name of its own
    that it points here."""
    token: str | None = None
    """What a client has to show: in a cookie, as ``Authorization: Bearer``, or as ``?token=``."""
    games: Path | None = None
    """The file in which games are kept; memory, if None."""
    seed: int | None = None


def make_app(options: ServerOptions | None = None) -> FastAPI:
    """The server, to be run by uvicorn."""
    options = options or ServerOptions()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = SessionStore(options.games)
        store.expire()
        app.state.tables = Tables(page_games(), store, options.seed)
        yield
        app.state.tables.close()

    app = FastAPI(
        title="kedge",
        version=str(API_VERSION),
        summary="Players that are strong and still play like people.",
        description="Positions in, policies out; and games to play. All of it is under "
        f"`/api/v{API_VERSION}`; `/api` is the newest version. A game's messages come through a "
        f"websocket, `/api/v{API_VERSION}/sessions/{{id}}/live`, as things happen: "
        '`{"type": "session" | "thought" | "advice" | "review" | "trouble", …}`. '
        'Who sends it `{"advise": true}` is told what to play, too.',
        openapi_url=f"/api/v{API_VERSION}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.include_router(router, prefix=f"/api/v{API_VERSION}")
    app.include_router(router, prefix="/api", include_in_schema=False)

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> JSONResponse:
        code = 404 if isinstance(error, UnknownSessionError) else 400
        return JSONResponse({"detail": str(error)}, code)

    @app.get("/api/docs", include_in_schema=False)
    async def documentation() -> FileResponse:
        return FileResponse(STATIC / "api.html")

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse((STATIC / "index.html").read_text())

    @app.get("/art/chess/{piece}.svg", include_in_schema=False)
    async def chess_piece(piece: str) -> Response:
        drawing = piece_svg(piece)
        if drawing is None:
            return Response(status_code=404)
        return Response(drawing, media_type="image/svg+xml")

    @app.get("/art/diplomacy.json", include_in_schema=False)
    async def diplomacy_map() -> FileResponse:
        return FileResponse(MAP, media_type="application/json")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Door, options=options)
    return app


class Door:
    """Who may come in, how often, and with how much."""

    def __init__(self, app: ASGIApp, options: ServerOptions) -> None:
        self._app, self._options = app, options
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            code, why = refusal
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": why})
            else:
                await _with_headers(JSONResponse({"detail": why}, code), scope, receive, send)
            return
        took = 0

        async def bounded() -> Message:
            nonlocal took
            message = await receive()
            took += len(message.get("body", b""))
            if took > _MOST_BYTES:
                raise _TooLarge
            return message

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, scope, self._cookie(scope))
            await send(message)

        try:
            await self._app(scope, bounded, headed)
        except _TooLarge:
            answer = JSONResponse({"detail": f"at most {_MOST_BYTES:,} bytes"}, 413)
            await _with_headers(answer, scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers, options = Headers(scope=scope), self._options
        host = headers.get("host", "")
        if options.hosts and re.sub(r":\d+$", "", host) not in options.hosts:
            return 403, "this server is not called so"
        origin = headers.get("origin")
        active = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if active and origin is not None and origin.partition("://")[2] != host:
            return 403, "another page may not ask this server"
        if options.token is not None and not self._knows_token(scope):
            return 401, "the address that kedge printed has a token, and this request has none"
        if scope["path"].startswith("/api") and not self._in_time(scope):
            return 429, "too many requests; try again in a second"
        return None

    def _knows_token(self, scope: Scope) -> bool:
        assert self._options.token is not None
        connection = HTTPConnection(scope)
        bearer = connection.headers.get("authorization", "").removeprefix("Bearer ")
        shown = (
            connection.query_params.get("token", ""),
            connection.cookies.get(COOKIE, ""),
            bearer,
        )
        return any(hmac.compare_digest(one.encode(), self._options.token.encode()) for one in shown)

    def _cookie(self, scope: Scope) -> str | None:
        token = self._options.token
        if token is None or HTTPConnection(scope).query_params.get("token") != token:
            return None
        return f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"

    def _in_time(self, scope: Scope) -> bool:
        """Whether the client has not asked too often: a bucket that fills by the second."""
        client = (scope.get("client") or ("",))[0]
        now = time.monotonic()
        left, last = self._clients.pop(client, (_BURST, now))
        left = min(_BURST, left + (now - last) * _RATE)
        self._clients[client] = (max(0.0, left - 1.0), now)
        if len(self._clients) > _CLIENTS:
            self._clients.popitem(last=False)
        return left >= 1.0


class _TooLarge(Exception):  # noqa: N818
    pass


def _add_headers(message: Message, scope: Scope, cookie: str | None = None) -> None:
    more: dict[str, Any] = dict(_HEADERS)
    more["Cache-Control"] = "no-cache"
    if scope["path"].startswith("/art"):
        more["Cache-Control"] = "max-age=86400"
    elif scope["path"].startswith("/api"):
        more |= {"Cache-Control": "no-store", "Kedge-API": str(API_VERSION)}
    if cookie is not None:
        more["Set-Cookie"] = cookie
    pairs = [(key.lower().encode(), value.encode()) for key, value in more.items()]
    message.setdefault("headers", [])
    message["headers"] = [*message["headers"], *pairs]


async def _with_headers(answer: JSONResponse, scope: Scope, receive: Receive, send: Send) -> None:
    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add_headers(message, scope)
        await send(message)

    await answer(scope, receive, headed)

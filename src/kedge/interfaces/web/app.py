"""The server: the API and the page, behind checks of host, origin, token and rate."""

import asyncio
import contextlib
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kedge.errors import InputError
from kedge.interfaces.web import assets
from kedge.interfaces.web.api import router
from kedge.interfaces.web.pages.games import page_games
from kedge.interfaces.web.play.agents.worker_threads import BusyError
from kedge.interfaces.web.play.game.store import SessionStore
from kedge.interfaces.web.play.tables import Tables, UnknownGameError, UnknownSessionError
from kedge.interfaces.web.problems import plain_error
from kedge.interfaces.web.schemas import API_VERSION

STATIC = Path(str(assets.STATIC))
COOKIE = "kedge-token"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_MOST_BYTES = 1_000_000  # of a request
_BURST = 4.0  # seconds of the rate that may come at once
_TOO_LARGE = f"request too large: at most {_MOST_BYTES:,} bytes"
_CLIENTS = 1000
_HOUR = 3600.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Status codes of errors; 400 for all others.
_CODES = {UnknownGameError: 404, UnknownSessionError: 404, BusyError: 429}
#: Our words for errors that FastAPI raises on its own.
_FRAMEWORK = {
    400: "body: not valid JSON, or too deep, or a number is too long",
    404: "nothing at this address",
    405: "method not allowed at this address",
}


@dataclass(frozen=True)
class ServerOptions:
    """The clients that the server answers, and the file of saved games."""

    hosts: tuple[str, ...] = LOCAL_HOSTS
    """Allowed hosts; empty for any. Without the check, a foreign page could point a name of its own
    here."""
    token: str | None = None
    """Secret of the clients: in a cookie, as ``Authorization: Bearer``, or as ``?token=``."""
    games: Path | None = None
    """File of saved games; None for memory."""
    rate: float = 50.0
    """Requests per second and client."""
    seed: int | None = None


def make_app(options: ServerOptions | None = None) -> FastAPI:
    """Return the server, for uvicorn to run."""
    options, games = options or ServerOptions(), page_games()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = SessionStore(options.games)
        app.state.tables = Tables(games, store, options.seed)
        expiring = asyncio.create_task(_expire(store))
        yield
        expiring.cancel()
        app.state.tables.close()

    app = FastAPI(
        title="kedge",
        version=str(API_VERSION),
        summary="Players that are strong and still play like people.",
        description="Positions in, policies out; and games to play. All routes are under "
        f"`/api/v{API_VERSION}`; `/api` is the newest version. The websocket "
        f"`/api/v{API_VERSION}/sessions/{{id}}/live` sends a game's messages as things happen: "
        '`{"type": "session" | "thought" | "advice" | "review" | "trouble", …}`. '
        'Send it `{"advise": true}` to get advice, too.',
        openapi_url=f"/api/v{API_VERSION}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.include_router(router, prefix=f"/api/v{API_VERSION}")
    app.include_router(router, prefix="/api", include_in_schema=False)
    _add_problems(app)
    _add_pages(app)
    app.add_middleware(Door, options=options)
    return app


def _add_problems(app: FastAPI) -> None:
    """Answer errors with one line of plain words."""

    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> JSONResponse:
        return _problem(_CODES.get(type(error), 400), str(error))

    @app.exception_handler(RequestValidationError)
    async def misread(request: Request, error: RequestValidationError) -> JSONResponse:
        return _problem(422, plain_error(error.errors()))

    @app.exception_handler(WebSocketRequestValidationError)
    async def misread_socket(socket: WebSocket, error: WebSocketRequestValidationError) -> None:
        await socket.accept()  # else the client does not see the reason
        await socket.close(1008, plain_error(error.errors()))

    @app.exception_handler(HTTPException)
    async def not_served(request: Request, error: HTTPException) -> JSONResponse:
        words = _FRAMEWORK.get(error.status_code, error.detail)
        return _problem(error.status_code, words, error.headers)


def _add_pages(app: FastAPI) -> None:
    """Serve the page, the API's description, and the files of both and of the games."""

    @app.get("/api/docs", include_in_schema=False)
    async def documentation() -> FileResponse:
        return FileResponse(STATIC / "api.html")

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse((STATIC / "index.html").read_text())

    @app.get("/games/{game}/{file}", include_in_schema=False)
    def game_file(request: Request, game: str, file: str) -> Response:
        return assets.game_file(request.app.state.tables.game(game), file, request)

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


class Door:
    """Checks every request: host, origin, token, rate and size."""

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
                await _problem(code, why)(scope, receive, _headed(scope, send))
            return
        took = 0

        async def bounded() -> Message:
            nonlocal took
            message = await receive()
            took += len(message.get("body", b""))
            if took > _MOST_BYTES:  # the request did not announce its length
                raise HTTPException(413, _TOO_LARGE)
            return message

        await self._app(scope, bounded, _headed(scope, send, self._cookie(scope)))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers, options = Headers(scope=scope), self._options
        host = headers.get("host", "").lower()
        if not host or (options.hosts and re.sub(r":\d+$", "", host) not in options.hosts):
            return 403, "host not allowed"
        origin = headers.get("origin")
        active = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if active and origin is not None and origin.lower().partition("://")[2] != host:
            return 403, "origin not allowed"
        if options.token is not None and not self._knows_token(scope):
            return 401, "token missing; use the address that kedge printed"
        if scope["path"].startswith("/api") and not self._within_rate(scope):
            return 429, "too many requests; wait a second"
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > _MOST_BYTES:
            return 413, _TOO_LARGE
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
        return any(
            hmac.compare_digest(text.encode(), self._options.token.encode()) for text in shown
        )

    def _cookie(self, scope: Scope) -> str | None:
        token = self._options.token
        if token is None or HTTPConnection(scope).query_params.get("token") != token:
            return None
        return f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"

    def _within_rate(self, scope: Scope) -> bool:
        """Whether the client keeps the rate: a token bucket."""
        client = (scope.get("client") or ("",))[0]
        now = time.monotonic()
        rate = self._options.rate
        left, last = self._clients.pop(client, (_BURST * rate, now))
        left = min(_BURST * rate, left + (now - last) * rate)
        self._clients[client] = (max(0.0, left - 1.0), now)
        if len(self._clients) > _CLIENTS:
            self._clients.popitem(last=False)
        return left >= 1.0


async def _expire(store: SessionStore) -> None:
    """Delete old games, now and every hour."""
    while True:
        with contextlib.suppress(InputError):  # the disk fails; players see that
            store.expire()
        await asyncio.sleep(_HOUR)


def _problem(code: int, why: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an error as JSON, without lone surrogates from the client's text."""
    return JSONResponse({"detail": why.encode(errors="replace").decode()}, code, headers)


def _headed(scope: Scope, send: Send, cookie: str | None = None) -> Send:
    """Return `send` with the headers of every answer."""
    more = dict(_HEADERS)
    more["Cache-Control"] = "no-cache"
    if scope["path"].startswith("/api"):
        more |= {"Cache-Control": "no-store", "Kedge-API": str(API_VERSION)}
    if cookie is not None:
        more["Set-Cookie"] = cookie
    pairs = [(key.lower().encode(), value.encode()) for key, value in more.items()]

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *pairs]
        await send(message)

    return headed

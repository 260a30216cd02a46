"""The HTTP API: reads requests, and writes answers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response, WebSocket, WebSocketDisconnect
from fastapi import Path as PathParameter
from fastapi.responses import PlainTextResponse
from pydantic import ValidationError
from pydantic_core import to_json

from kedge.agents.dial import dial, people_of, stops
from kedge.errors import InputError
from kedge.interfaces.web.assets import script_url, style_url
from kedge.interfaces.web.pages.page_game import PageGame
from kedge.interfaces.web.pages.thoughts import StopFlag, Thought
from kedge.interfaces.web.play.agents.policy import agent_policy
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.seats import known_names
from kedge.interfaces.web.play.game.views import game_view, position_view
from kedge.interfaces.web.play.table import Table
from kedge.interfaces.web.play.tables import Tables, UnknownSessionError
from kedge.interfaces.web.schemas import (
    MOST_TURNS,
    Advise,
    AtSeat,
    MoveAt,
    Name,
    NewSession,
    PolicyQuestion,
    PositionOut,
    Problem,
    ReadRecord,
    ReviewOut,
    SeatIn,
    SessionId,
    SessionOut,
)
from kedge.models import shipped_models, store

_WRONG: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request is not possible; `detail` says why"},
    401: {"model": Problem, "description": "The token is missing"},
    403: {"model": Problem, "description": "Host not allowed, or request from another page"},
    404: {"model": Problem, "description": "No such game"},
    413: {"model": Problem, "description": "The request is too large"},
    422: {"model": Problem, "description": "The request is not valid; `detail` says where"},
    429: {"model": Problem, "description": "Too many requests, games or watchers"},
}
router = APIRouter(responses=_WRONG)
_MINIMAL = "return=minimal"
#: Answers to a change of a game.
_CHANGE: dict[str, Any] = {
    "response_model": SessionOut,
    "responses": {
        204: {"description": f"Done; after `Prefer: {_MINIMAL}`, only `live` sends the game"}
    },
}
_PAUSE = 0.05  # seconds after each message of a socket, against floods
Eyes = Annotated[int | None, Query(ge=0, le=7, description="The seat to view the game from")]

TurnNumber = Annotated[int, PathParameter(ge=0, le=MOST_TURNS, examples=[0])]
SeatNumber = Annotated[int, PathParameter(examples=[1])]


def _tables(request: Request | WebSocket) -> Tables:
    tables: Tables = request.app.state.tables
    return tables


@router.get("/games", tags=["games, models and agents"])
async def games(request: Request) -> list[dict[str, Any]]:
    """The games: their boards, the options of a new game, and the stops of the dial.

    A game without a dial offers `agents` instead. `people` is the setting of the dial that says
    which people the anchor imitates, such as a rating; null if there is none.
    """
    return [_about(game) for game in _tables(request).games.values()]


@cache
def _about(game: PageGame) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "emblem": game.emblem,
        "about": game.about,
        "script": script_url(game),
        "style": style_url(game),
        "setup": game.setup.model_json_schema(),
        "seats": list(game.seats(game.setup())),
        "files": list(game.files),
        "clocks": game.clocks,
        "reviews": game.reviews,
        "stops": [stop.to_json() for stop in stops(game.name)] if game.has_dial else [],
        "people": _people(game),
        "agents": [] if game.has_dial else list(game.agents),
    }


def _people(game: PageGame) -> dict[str, Any] | None:
    people = people_of(game.name) if game.has_dial else None
    return None if people is None else asdict(people)


@router.get("/models", tags=["games, models and agents"])
async def models() -> list[dict[str, Any]]:
    """The models that ship with kedge, with their cards, and the models stored here."""
    names = [(name, True) for name in shipped_models.names()]
    names += [(name, False) for name in store.stored_names()]
    return [
        {"model": name, "ships": ships, "card": shipped_models.card(name) if ships else None}
        for name, ships in names
    ]


@router.get("/agents", tags=["games, models and agents"])
async def agents() -> list[str]:
    """The names to use in specs such as `puct(chess, c_puct=2)`."""
    return known_names()


@router.get("/dial/{game}", tags=["games, models and agents"])
async def dial_at(
    request: Request,
    game: Annotated[Name, PathParameter(examples=["chess"])],
    x: Annotated[float, Query(ge=0.0, le=1.0)] = 0.5,
) -> dict[str, Any]:
    """The agent at a setting of the dial, its numbers, and the measurements there."""
    return dial(_tables(request).game(game).name, x).to_json()


@router.post("/policy", tags=["policies"])
async def policy(request: Request, question: PolicyQuestion) -> Thought:
    """An agent's policy in a position, with each move's probability among people."""
    tables = _tables(request)
    game = tables.game(question.game)
    async with _stopped_if_left(request) as stop:
        return await agent_policy(question, game, tables.hall.agents, stop)


@contextlib.asynccontextmanager
async def _stopped_if_left(request: Request) -> AsyncIterator[StopFlag]:
    """Yield a flag that is set when the client leaves."""
    stop = StopFlag()

    async def wait() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        stop.stop()

    waiting = asyncio.create_task(wait())
    try:
        yield stop
    finally:
        waiting.cancel()


@router.post("/sessions", status_code=201, tags=["games"])
async def begin(request: Request, new: NewSession) -> SessionOut:
    """Begin a game, or continue one after its turns."""
    return game_view((await _tables(request).open(new)).session)


@router.post("/sessions/read", status_code=201, tags=["games"])
async def read(request: Request, file: ReadRecord) -> SessionOut:
    """Open a record, such as PGN, SGF or JSON.

    A finished game can be looked through and reviewed, with its players' names. Any other game
    continues.
    """
    return game_view((await _tables(request).read(file)).session)


@router.get("/sessions/{id}", tags=["games"])
async def look(request: Request, id: SessionId, eyes: Eyes = None) -> SessionOut:
    """A game so far."""
    return game_view(_tables(request).at(id).session, eyes)


@router.delete("/sessions/{id}", status_code=204, tags=["games"])
async def forget(request: Request, id: SessionId) -> Response:
    """Delete a game."""
    _tables(request).remove(id)
    return Response(status_code=204)


@router.post("/sessions/{id}/move", tags=["games"], **_CHANGE)
async def move(request: Request, id: SessionId, played: MoveAt, eyes: Eyes = None) -> Any:
    """Play a person's move. Agents then answer; `live` reports their moves."""
    table = _tables(request).at(id)
    table.move(played.seat, played.move, played.turn)
    return _answer(request, table, eyes)


@router.post("/sessions/{id}/undo", tags=["games"], **_CHANGE)
async def undo(request: Request, id: SessionId, by: AtSeat | None = None, eyes: Eyes = None) -> Any:
    """Undo a person's last move and everything after it."""
    table = _tables(request).at(id)
    table.undo(None if by is None else by.seat)
    return _answer(request, table, eyes)


@router.post("/sessions/{id}/resign", tags=["games"], **_CHANGE)
async def resign(request: Request, id: SessionId, by: AtSeat) -> Any:
    """Resign a person's game."""
    table = _tables(request).at(id)
    table.resign(by.seat)
    return _answer(request, table)


@router.put("/sessions/{id}/seats/{seat}", tags=["games"], **_CHANGE)
async def sit(
    request: Request, id: SessionId, seat: SeatNumber, player: SeatIn, eyes: Eyes = None
) -> Any:
    """Change who sits at a seat, or the setting of its dial. Possible at any time."""
    table = _tables(request).at(id)
    table.sit(seat, player)
    return _answer(request, table, eyes)


@router.get("/sessions/{id}/at/{turn}", tags=["games"])
async def earlier(
    request: Request, id: SessionId, turn: TurnNumber, eyes: Eyes = None
) -> PositionOut:
    """The position after `turn` turns."""
    return await position_view(_tables(request).at(id).session, turn, eyes)


@router.post("/sessions/{id}/review", status_code=202, tags=["reviews"])
async def review(request: Request, id: SessionId) -> ReviewOut:
    """Review every move so far. Games with secrets must be over; some games have no reviews.

    A review takes some seconds. `live` reports its progress, and the review stops when the last
    client leaves there.
    """
    return _tables(request).at(id).reviews.begin().view()


@router.delete("/sessions/{id}/review", status_code=204, tags=["reviews"])
async def stop_review(request: Request, id: SessionId) -> Response:
    """Stop the review in progress. A finished one stays."""
    _tables(request).at(id).reviews.cancel()
    return Response(status_code=204)


@router.get("/sessions/{id}/review", tags=["reviews"])
async def reviewed(request: Request, id: SessionId) -> ReviewOut:
    """The review so far."""
    return _tables(request).at(id).reviews.current().view()


@router.get(
    "/sessions/{id}/record",
    tags=["games"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def record(
    request: Request,
    id: SessionId,
    annotated: Annotated[bool, Query(description="With the review's comments")] = False,
) -> PlainTextResponse:
    """The game as a record file, such as PGN, SGF or JSON."""
    table = _tables(request).at(id)
    session = table.session
    text = table.reviews.current().record() if annotated else session.record()
    name = f"kedge-{session.game.name}{session.game.files[0]}"
    header = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(text, headers=header)


@router.websocket("/sessions/{id}/live")
async def live(socket: WebSocket, id: str, eyes: Eyes = None) -> None:
    """Send messages as things happen.

    `session` (the game changed), `thought` (an agent thinks), `advice` (the opponent's analysis of
    a person's decision), `review` (its progress) and `trouble`. The client sends
    `{"advise": true}` or `{"advise": false}`; anything else closes the socket.
    """
    await socket.accept()
    try:
        table = _tables(socket).at(id)
        reader = table.subscribe(eyes)
    except InputError as error:
        gone = isinstance(error, UnknownSessionError)
        await socket.close(4404 if gone else 4429, str(error))
        return
    listening = asyncio.create_task(_listen(socket, table, reader))
    speaking = asyncio.create_task(_speak(socket, reader))
    try:
        done, _ = await asyncio.wait({listening, speaking}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the client has left
                task.result()
    finally:
        listening.cancel()
        speaking.cancel()
        table.unsubscribe(reader)


async def _listen(socket: WebSocket, table: Table, reader: Reader) -> None:
    """Take messages until the client leaves; an invalid message closes the socket."""
    while (received := await socket.receive())["type"] == "websocket.receive":
        message = _parsed(received.get("text"))
        if not isinstance(message, Advise):
            await socket.close(*message)
            return
        table.adviser.advise(reader, on=message.advise)
        await asyncio.sleep(_PAUSE)


def _parsed(text: str | None) -> Advise | tuple[int, str]:
    """Return the message, or the code and the reason to close the socket with."""
    if text is None:
        return 1003, "send text, not bytes"
    try:
        return Advise.model_validate_json(text)
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid":
            return 1007, "send JSON"
        return 1008, 'send {"advise": true} or {"advise": false}'


async def _speak(socket: WebSocket, reader: Reader) -> None:
    while (message := await reader.next()) is not None:
        await socket.send_text(to_json(message).decode())
    await socket.close(1001)


def _answer(request: Request, table: Table, eyes: int | None = None) -> Any:
    """Return the changed game; nothing if the client gets it from `live` and says so."""
    if request.headers.get("prefer") == _MINIMAL:
        return Response(status_code=204, headers={"Preference-Applied": _MINIMAL})
    return game_view(table.session, eyes)

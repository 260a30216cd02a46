"""The HTTP API: every route is here, and does no more than ask the tables."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response, WebSocket, WebSocketDisconnect
from fastapi import Path as PathParameter
from fastapi.responses import PlainTextResponse
from pydantic import ValidationError
from pydantic_core import to_json

from kedge.agents.dial import dial, stops
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PageGame, Stop, Thought
from kedge.interfaces.web.play.players import check_spec, dialled, known_names
from kedge.interfaces.web.play.readers import Reader
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
from kedge.interfaces.web.views import position_view
from kedge.models import embedded, store
from kedge.specs import parse

_WRONG: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What was asked for is not possible; `detail` says why"},
    401: {"model": Problem, "description": "The token is missing"},
    403: {"model": Problem, "description": "Not by this name, or not from this page"},
    404: {"model": Problem, "description": "No such game"},
    413: {"model": Problem, "description": "The request is too large"},
    422: {"model": Problem, "description": "Not what this asks for; `detail` says where"},
    429: {"model": Problem, "description": "Too many requests, games or watchers"},
}
router = APIRouter(responses=_WRONG)
_PAUSE = 0.05  # seconds after each message of a socket: who sends more waits
Eyes = Annotated[int | None, Query(ge=0, le=7, description="From whose seat the game is seen")]

TurnNumber = Annotated[int, PathParameter(ge=0, le=MOST_TURNS, examples=[0])]
SeatNumber = Annotated[int, PathParameter(examples=[1])]


def _tables(request: Request | WebSocket) -> Tables:
    tables: Tables = request.app.state.tables
    return tables


@router.get("/games", tags=["what there is"])
async def games(request: Request) -> list[dict[str, Any]]:
    """The games, what a new one is told, and the stops of the dial."""
    return [_about(game) for game in _tables(request).games.values()]


@cache
def _about(game: PageGame) -> dict[str, Any]:
    return {
        "game": game.name,
        "title": game.title,
        "setup": game.setup.model_json_schema(),
        "seats": list(game.seats(game.setup())),
        "files": list(game.files),
        "clocks": game.clocks,
        "reviews": game.reviews,
        "stops": [asdict(stop) for stop in stops(game.name)],
    }


@router.get("/models", tags=["what there is"])
async def models() -> list[dict[str, Any]]:
    """The models that ship with kedge, with their cards, and those that are stored here."""
    names = [(name, True) for name in embedded.names()]
    names += [(name, False) for name in store.stored_names()]
    return [
        {"model": name, "ships": ships, "card": embedded.card(name) if ships else None}
        for name, ships in names
    ]


@router.get("/agents", tags=["what there is"])
async def agents() -> list[str]:
    """The names that specs such as `puct(chess, c_puct=2)` are made of."""
    return known_names()


@router.get("/dial/{game}", tags=["what there is"])
async def dial_at(
    request: Request,
    game: Annotated[Name, PathParameter(examples=["chess"])],
    x: Annotated[float, Query(ge=0.0, le=1.0)] = 0.5,
) -> dict[str, Any]:
    """The agent at a setting of the dial, the numbers behind it, and what was measured there."""
    return asdict(dial(_tables(request).game(game).name, x))


@router.post("/policy", tags=["policies"])
async def policy(request: Request, asked: PolicyQuestion) -> Thought:
    """What an agent would play in a position, each move beside how often people play it."""
    tables = _tables(request)
    game = tables.game(asked.game)
    if asked.agent is not None and asked.dial is not None:
        raise InputError("agent and dial: one of them says who is asked")
    if asked.agent is None:
        x = 0.5 if asked.dial is None else asked.dial
        spec = dialled(game.name, SeatIn(dial=x, settings=asked.settings)).spec
    else:
        check_spec(parse(asked.agent))
        spec = str(parse(asked.agent))
    rng = np.random.default_rng(asked.seed)
    session = await tables.begin(asked.game, asked.setup, None, asked.turns, rng)
    deciding = session.deciding()
    if not deciding:
        raise InputError("the game is over: there is nothing to decide")
    seat = deciding[0] if asked.seat is None else asked.seat
    if seat not in deciding:
        raise InputError(f"seat {seat} has nothing to decide")
    async with _stopped_if_left(request) as stop:
        found = await tables.ask(session, {seat: spec}, lambda thought: None, stop)
        if stop.stopped:
            raise InputError("nobody waits for the answer")
    thought = found[seat].thought
    if thought is None:
        raise InputError("there is nothing to think about here")
    return thought


@contextlib.asynccontextmanager
async def _stopped_if_left(request: Request) -> AsyncIterator[Stop]:
    """What is thought within is given up when the client leaves."""
    stop = Stop()

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
async def begin(request: Request, told: NewSession) -> SessionOut:
    """Begin a game, or go on with one from its turns."""
    return _shown(await _tables(request).open(told))


@router.post("/sessions/read", status_code=201, tags=["games"])
async def read(request: Request, told: ReadRecord) -> SessionOut:
    """Open a record: PGN, SGF or JSON.

    A game that is over is there to be looked through and reviewed, with its players' names; another
    goes on.
    """
    return _shown(await _tables(request).read(told))


@router.get("/sessions/{id}", tags=["games"])
async def look(request: Request, id: SessionId, eyes: Eyes = None) -> SessionOut:
    """A game as it stands."""
    return _shown(_tables(request).at(id), eyes)


@router.delete("/sessions/{id}", status_code=204, tags=["games"])
async def forget(request: Request, id: SessionId) -> Response:
    """Remove a game."""
    _tables(request).remove(id)
    return Response(status_code=204)


@router.post("/sessions/{id}/move", tags=["games"])
async def move(request: Request, id: SessionId, told: MoveAt, eyes: Eyes = None) -> SessionOut:
    """Play for a person. Agents then go on by themselves; `live` tells of it."""
    table = _tables(request).at(id)
    session = table.session
    session.check_person(told.seat)
    if told.turn != len(session.turns):
        raise InputError("the game has gone on meanwhile")
    session.decide(told.seat, told.move)
    table.changed()
    return _shown(table, eyes)


@router.post("/sessions/{id}/undo", tags=["games"])
async def undo(
    request: Request, id: SessionId, told: AtSeat | None = None, eyes: Eyes = None
) -> SessionOut:
    """Take back a person's last decision, and all that came after it."""
    table = _tables(request).at(id)
    if told is not None:
        table.session.check_person(told.seat)
    table.session.undo(table.session.undone_for(None if told is None else told.seat))
    table.changed()
    return _shown(table, eyes)


@router.post("/sessions/{id}/resign", tags=["games"])
async def resign(request: Request, id: SessionId, told: AtSeat) -> SessionOut:
    """Give up."""
    table = _tables(request).at(id)
    table.session.resign(told.seat)
    table.changed()
    return _shown(table)


@router.put("/sessions/{id}/seats/{seat}", tags=["games"])
async def sit(
    request: Request, id: SessionId, seat: SeatNumber, told: SeatIn, eyes: Eyes = None
) -> SessionOut:
    """Who sits there from here on, and at what setting of the dial; at any time."""
    table = _tables(request).at(id)
    session = table.session
    if not 0 <= seat < len(session.seats):
        raise InputError("there is no such seat")
    dialled(session.game.name, told)  # a bad setting changes nothing
    session.sit(seat, told)
    table.changed()
    return _shown(table, eyes)


@router.get("/sessions/{id}/at/{turn}", tags=["games"])
async def earlier(
    request: Request, id: SessionId, turn: TurnNumber, eyes: Eyes = None
) -> PositionOut:
    """The position after so many turns."""
    return PositionOut(**await position_view(_tables(request).at(id).session, turn, eyes))


@router.post("/sessions/{id}/review", status_code=202, tags=["reviews"])
async def review(request: Request, id: SessionId) -> ReviewOut:
    """Judge every move so far; of Hanabi once the game is over, and not of Blotto.

    It takes some seconds, `live` tells how far it is, and it stops when nobody listens there any
    more.
    """
    return ReviewOut(**_tables(request).at(id).review().view())


@router.delete("/sessions/{id}/review", status_code=204, tags=["reviews"])
async def stop_review(request: Request, id: SessionId) -> Response:
    """Give up the review that goes on; one that is done is kept."""
    _tables(request).at(id).stop_review()
    return Response(status_code=204)


@router.get("/sessions/{id}/review", tags=["reviews"])
async def reviewed(request: Request, id: SessionId) -> ReviewOut:
    """The review that was begun, as far as it is."""
    return ReviewOut(**_tables(request).at(id).reviewed().view())


@router.get(
    "/sessions/{id}/record",
    tags=["games"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def record(
    request: Request,
    id: SessionId,
    annotated: Annotated[bool, Query(description="With what its review says of each move")] = False,
) -> PlainTextResponse:
    """The game as a file: PGN, SGF or JSON."""
    table = _tables(request).at(id)
    session = table.session
    text = table.reviewed().record() if annotated else session.record()
    name = f"kedge-{session.game.name}{session.game.files[0]}"
    header = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(text, headers=header)


@router.websocket("/sessions/{id}/live")
async def live(socket: WebSocket, id: str, eyes: Eyes = None) -> None:
    """Messages as things happen.

    `session` (the game changed), `thought` (an agent thinks), `advice` (what the agent that is
    played against would do in a person's place), `review` (one goes on) and `trouble`. The reader
    sends `{"advise": true}` or `{"advise": false}`; who sends anything else is closed upon.
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
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # of who has left
                task.result()
    finally:
        listening.cancel()
        speaking.cancel()
        table.unsubscribe(reader)


async def _listen(socket: WebSocket, table: Table, reader: Reader) -> None:
    """Until the reader leaves, or sends what is no message: then it is told so."""
    while (heard := await socket.receive())["type"] == "websocket.receive":
        told = _told(heard.get("text"))
        if not isinstance(told, Advise):
            await socket.close(*told)
            return
        table.advise(reader, on=told.advise)
        await asyncio.sleep(_PAUSE)


def _told(text: str | None) -> Advise | tuple[int, str]:
    """The message, or the code and the reason with which its sender is let go of."""
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


def _shown(table: Table, eyes: int | None = None) -> SessionOut:
    return SessionOut(**table.view(eyes))

"""Sessions as JSON documents, in which the store saves them."""

from dataclasses import asdict
from typing import Any

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import Heading, PageGame
from kedge.interfaces.web.play.game.clock import Clock
from kedge.interfaces.web.play.game.seats import seated
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.schemas import SeatIn

_BY_SEAT = ("names", "ratings")  # of a heading


def to_document(session: Session) -> dict[str, Any]:
    """Return the game as JSON."""
    clock = session.clock
    return {
        "id": session.id,
        "game": session.game.name,
        "setup": session.setup.model_dump(),
        "seats": [seat.who.model_dump() for seat in session.seats],
        "turns": session.moves(),
        "pending": {
            seat: session.game.text(session.state, action)
            for seat, action in session.pending.items()
        },
        "ended": session.ended,
        "heading": asdict(session.heading),
        "revision": session.revision,
        "clock": None if clock is None else vars(clock),
    }


def from_document(game: PageGame, document: dict[str, Any], awake: float = 0.0) -> Session:
    """Restore what `to_document` returned; clocks stood still before the time `awake`."""
    try:
        session = _read(game, document)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InputError("another version of kedge saved this game") from None
    if session.clock is not None:
        session.clock.since = max(session.clock.since, awake)
    return session


def _read(game: PageGame, document: dict[str, Any]) -> Session:
    setup = game.setup.model_validate(document["setup"])
    seats = [seated(game, SeatIn.model_validate(seat)) for seat in document["seats"]]
    session = Session(document["id"], game, setup, seats, game.begin(setup))
    for turn in document["turns"]:
        session.take(turn)
    session.pending = {
        int(seat): game.parse(session.state, int(seat), move)
        for seat, move in document["pending"].items()
    }
    session.ended = document["ended"]
    heading = document["heading"]
    session.heading = Heading(**heading | {key: tuple(heading[key]) for key in _BY_SEAT})
    session.revision = document["revision"]
    if document["clock"] is not None:
        session.clock = Clock(**document["clock"])
    return session

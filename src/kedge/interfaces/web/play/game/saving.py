"""Sessions as JSON documents, in which the store saves them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import Heading, Outcome, PageGame
from kedge.interfaces.web.play.game.clock import Clock
from kedge.interfaces.web.play.game.seats import seated
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.schemas import SeatIn

_BY_SEAT = ("names", "ratings")  # of a heading


def to_json(session: Session) -> dict[str, Any]:
    """Return the game as JSON."""
    clock = session.clock
    return {
        "id": session.id,
        "game": session.game.name,
        "setup": session.setup.model_dump(),
        "seats": [seat.who.model_dump() for seat in session.seats],
        "turns": session.written_turns(),
        "pending": {
            seat: session.game.text(session.state, action)
            for seat, action in session.pending.items()
        },
        "ended": session.declared_outcome and asdict(session.declared_outcome),
        "heading": asdict(session.heading),
        "revision": session.revision,
        "clock": None if clock is None else vars(clock),
    }


def from_json(game: PageGame, document: dict[str, Any], server_started: float = 0.0) -> Session:
    """Restore what `to_json` returned; clocks stood still before `server_started`."""
    try:
        session = _read(game, document)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InputError("another version of kedge saved this game") from None
    if session.clock is not None:
        session.clock.since = max(session.clock.since, server_started)
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
    session.declared_outcome = _outcome(document["ended"], game.seats(setup))
    heading = document["heading"]
    session.heading = Heading(**heading | {key: tuple(heading[key]) for key in _BY_SEAT})
    session.revision = document["revision"]
    if (clock := document["clock"]) is not None:
        past = {int(turns): left for turns, left in clock["past"].items()}  # JSON's keys are text
        session.clock = Clock(**clock | {"past": past})
    return session


def _outcome(saved: dict[str, Any] | str | None, seats: Sequence[str]) -> Outcome | None:
    """Return a saved outcome; earlier versions saved its words."""
    if saved is None:
        return None
    if isinstance(saved, dict):
        return Outcome(**saved)
    result, _, how = saved.partition(": ")
    winner, _, margin = result.partition(" wins")
    if winner not in seats:
        return Outcome(how=how or None, result=None if result == "Draw" else result)
    loser = next((seat for seat in seats if how.startswith(f"{seat} ")), None)
    return Outcome(
        winner,
        margin=float(margin.removeprefix(" by ")) if margin else None,
        how=how.removeprefix(f"{loser} ") or None,
        loser=loser,
    )

"""Sessions from a setup or from a record file."""

import secrets
import time
from typing import Any

import numpy as np
from pydantic import ValidationError

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PERSON, Heading, PageGame, Record, Turn
from kedge.interfaces.web.play.game.clock import Clock
from kedge.interfaces.web.play.game.seats import seated
from kedge.interfaces.web.play.game.session import UNFINISHED, Session
from kedge.interfaces.web.problems import plain_error
from kedge.interfaces.web.schemas import MOST_TURNS, SeatIn


def new_session(
    game: PageGame,
    setup: dict[str, Any],
    seats: list[SeatIn] | None,
    turns: list[Turn],
    rng: np.random.Generator,
) -> Session:
    """Return a new game after `turns`, or raise `InputError` if something is illegal."""
    sitting = None if seats is None else [seated(game, who) for who in seats]
    dealt = game.dealt(_checked(game, setup), rng)
    session = Session(secrets.token_urlsafe(16), game, dealt, [], game.begin(dealt))
    session.fill_seats(sitting)
    for turn in turns:
        session.take(turn)
    session.heading = Heading(date=time.strftime("%Y-%m-%d"))
    seconds = getattr(dealt, "clock", None)
    if seconds:
        session.clock = Clock([float(seconds)] * len(session.seats), float(dealt.increment))
        session.run_clock()
    return session


def open_record(
    game: PageGame,
    record: Record,
    seats: list[SeatIn] | None,
    rng: np.random.Generator,
) -> Session:
    """Return a game from a file.

    A finished game, or one that others played, is there to look through. `seats` continue any
    other. If no agent can play, people sit at all seats.
    """
    sitting = None if seats is None else [seated(game, who) for who in seats]
    if len(record.turns) > MOST_TURNS:
        raise InputError(
            f"the game has {len(record.turns)} turns; at most {MOST_TURNS} are allowed"
        )
    people = [SeatIn(human=True) for _ in game.seats(_checked(game, record.setup))]
    session = new_session(game, record.setup, people, record.turns, rng)
    if session.outcome is None:
        session.declared_outcome = record.outcome
    if session.outcome is None and _is_of_others(record.heading):
        session.declared_outcome = UNFINISHED
    if session.outcome is not None:
        session.heading = record.heading
        return session
    session.heading = Heading(date=record.heading.date or session.heading.date)
    if game.no_agents(session.setup) is None:
        session.fill_seats(sitting)
    return session


def _is_of_others(heading: Heading) -> bool:
    """Whether a record names players other than those of a game saved here."""
    return any(
        name is not None and name != PERSON and not name.startswith("kedge")
        for name in heading.names
    )


def _checked(game: PageGame, setup: dict[str, Any]) -> Any:
    """Return the setup, or raise `InputError` if it is not valid."""
    try:
        return game.setup.model_validate(setup)
    except ValidationError as error:
        raise InputError(plain_error(error.errors(), "setup")) from None

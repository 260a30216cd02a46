"""Views of a game: what each viewer may know."""

import asyncio
from collections.abc import Iterable

from kedge.interfaces.web.pages.page_game import EVERYTHING
from kedge.interfaces.web.pages.thoughts import Thought
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.schemas import (
    ClockOut,
    PositionOut,
    SeatOut,
    SessionOut,
    TurnOut,
)


def game_view(session: Session, eyes: int | None = None) -> SessionOut:
    """Return the game as the seat `eyes` sees it; if None, as the mover does."""
    game, over = session.game, session.outcome is not None
    eyes = _viewer(session, eyes)
    setup, is_secret = session.setup.model_dump(), bool(game.secret) and not over
    if not over:
        setup = {key: setup[key] for key in setup if key not in game.secret}
    clock = session.clock
    return SessionOut(
        id=session.id,
        game=game.name,
        revision=session.revision,
        setup=setup,
        seats=_seats(session),
        recorded=session.is_recorded,
        deciding=session.deciding(),
        due=session.due,
        reviews=game.reviews and game.no_agents(session.setup) is None,
        thinking=session.agents_deciding() if session.agents_think else [],
        eyes=None if eyes == EVERYTHING else eyes,
        turns=[
            TurnOut(seats=turn.seats, name=turn.name, move=None if is_secret else turn.written)
            for turn in session.turns
        ],
        secret=is_secret,
        position=game.position(session.state, eyes),
        outcome=None if session.outcome is None else str(session.outcome),
        thoughts=[
            thought for thought in session.new_thoughts() if game.shows_thoughts(thought.seat, eyes)
        ],
        clock=None if clock is None else ClockOut(left=clock.now(), running=clock.running),
        trouble=session.trouble,
    )


async def position_view(session: Session, turn: int, eyes: int | None) -> PositionOut:
    """Return the position after `turn` turns, as the seat `eyes` sees it."""
    state = await asyncio.to_thread(session.state_at, turn)
    return PositionOut(
        turn=turn,
        due=session.game.deciding(state),
        position=session.game.position(state, _viewer(session, eyes)),
    )


def send_thought(kind: str, thought: Thought, session: Session, readers: Iterable[Reader]) -> None:
    """Send a thought to those readers who may see it."""
    for reader in readers:
        if session.game.shows_thoughts(thought.seat, _viewer(session, reader.eyes)):
            reader.queue(kind, thought.seat, thought=thought)


def _viewer(session: Session, claimed: int | None) -> int | None:
    """The seat that a client looks from, which it may claim."""
    people = [number for number, seat in enumerate(session.seats) if seat.human]
    if session.game.secret:  # a claim does not reveal what an agent sees
        if session.outcome is not None or not people:
            return EVERYTHING
        return claimed if claimed in people else people[0] if len(people) == 1 else None
    if claimed is not None and claimed < len(session.seats):
        return claimed
    deciding = [seat for seat in session.deciding() if seat in people]
    return next(iter(deciding or people), None)


def _seats(session: Session) -> list[SeatOut]:
    """Return the seats; an agent's has the dial's measurements, if they hold for this game."""
    game, heading, nobody = session.game, session.heading, (None,) * len(session.seats)
    names, is_measured = game.seats(session.setup), game.is_measured(session.setup)
    players, ratings = heading.names or nobody, heading.ratings or nobody
    seats = []
    for number, seat in enumerate(session.seats):
        dial, agent = seat.dial, None if seat.human else seat.agent
        measured = None if seat.human or not is_measured else dial
        view = SeatOut(
            name=names[number],
            human=seat.human,
            player=players[number],
            rating=ratings[number] if session.is_recorded or seat.human else seat.rating,
            dial=None if dial is None else seat.who.dial,
            settings=seat.who.settings,
            agent=None if agent is None else str(agent),
            numbers={} if dial is None else dict(dial.settings),
            likeness=[] if measured is None else [vars(figure) for figure in measured.likeness],
            strength=[] if measured is None else [vars(figure) for figure in measured.strength],
            decided=number in session.pending,
        )
        seats.append(view)
    return seats

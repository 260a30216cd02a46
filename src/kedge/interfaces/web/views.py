"""What is shown of a game, and to whom: no more than may be known from a seat."""

import asyncio
from collections.abc import Iterable
from typing import Any

from kedge.interfaces.web.pages.page_game import EVERYTHING, Thought
from kedge.interfaces.web.play.players import dialled
from kedge.interfaces.web.play.readers import Reader
from kedge.interfaces.web.play.session import Session
from kedge.interfaces.web.schemas import SeatIn


def game_view(session: Session, eyes: int | None) -> dict[str, Any]:
    """The game as it is shown to who sits at `eyes`, or to who decides."""
    game, over = session.game, session.outcome is not None
    eyes = _seen_by(session, eyes)
    thought = _known([session.thought] if session.thought else [], session, eyes)
    setup = session.setup.model_dump()
    if not over:
        setup = {key: setup[key] for key in setup if key not in game.secret}
    return {
        "id": session.id,
        "game": game.name,
        "revision": session.revision,
        "setup": setup,
        "seats": _seats(session),
        "recorded": session.is_recorded,
        "deciding": session.deciding(),
        "due": game.deciding(session.state),
        "reviews": game.reviews and game.no_agents(session.setup) is None,
        "eyes": None if eyes == EVERYTHING else eyes,
        "turns": [{"seats": seats, "name": name} for seats, name in session.names],
        "document": None if game.secret and not over else session.turns,
        "position": game.position(session.state, eyes),
        "outcome": session.outcome,
        "thought": thought[0] if thought else None,
        "thoughts": _known(session.thoughts, session, eyes),
        "clock": None
        if session.clock is None
        else {"left": session.clock.now(), "running": session.clock.running},
    }


async def position_view(session: Session, turn: int, eyes: int | None) -> dict[str, Any]:
    """An earlier position, as it is shown to who sits at `eyes`."""
    state = await asyncio.to_thread(session.state_at, turn)
    return {
        "turn": turn,
        "due": session.game.deciding(state),
        "position": session.game.position(state, _seen_by(session, eyes)),
    }


def tell_thought(kind: str, thought: Thought, session: Session, readers: Iterable[Reader]) -> None:
    """Tell those of a thought who may know it."""
    for reader in readers:
        if _known([thought], session, _seen_by(session, reader.eyes)):
            reader.tell(kind, lambda: {"thought": thought}, thought.seat)


def _known(thoughts: list[Thought], session: Session, eyes: int | None) -> list[Thought]:
    """Those that may be known from a seat."""
    shows = session.game.shows_thoughts
    return [thought for thought in thoughts if shows(thought.seat, eyes)]


def _seen_by(session: Session, told: int | None) -> int | None:
    """Whose eyes someone has who says to sit at a seat, or does not say."""
    people = [seat for seat, one in enumerate(session.seats) if one.human]
    if session.game.secret:  # nobody sees by saying so what an agent sees
        if session.outcome is not None or not people:
            return EVERYTHING
        return told if told in people else people[0] if len(people) == 1 else None
    if told is not None and told < len(session.seats):
        return told
    deciding = [seat for seat in session.deciding() if seat in people]
    return next(iter(deciding or people), None)


def _seats(session: Session) -> list[dict[str, Any]]:
    nobody = (None,) * len(session.seats)
    told = zip(
        session.seat_names(),
        session.seats,
        session.heading.names or nobody,
        session.heading.ratings or nobody,
        strict=True,
    )
    return [
        _seat(session, name, seat)
        | {"player": player, "rating": rating, "decided": number in session.pending}
        for number, (name, seat, player, rating) in enumerate(told)
    ]


def _seat(session: Session, name: str, seat: SeatIn) -> dict[str, Any]:
    """Who sits there, with what was measured at that setting of the dial in such games."""
    set_to = dialled(session.game.name, seat)
    is_measured = session.game.is_measured(session.setup)
    return {
        "name": name,
        "human": seat.human,
        "dial": seat.dial,
        "settings": seat.settings,
        "agent": None if seat.human else set_to.spec,
        "numbers": dict(set_to.settings),
        "likeness": [vars(one) for one in set_to.likeness] if is_measured else [],
        "strength": [vars(one) for one in set_to.strength] if is_measured else [],
    }

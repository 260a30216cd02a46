"""A table where a game is played: agents think, and readers get the news.

Agents think in other threads. All else runs on the event loop's thread and needs no lock.
"""

import asyncio
import logging

from kedge.errors import InputError
from kedge.interfaces.web.pages.thoughts import Move, StopFlag
from kedge.interfaces.web.play.agents.advising import Adviser
from kedge.interfaces.web.play.agents.reviewing import Reviews
from kedge.interfaces.web.play.agents.worker_threads import BusyError
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.saving import to_json
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.play.game.views import game_view, send_thought
from kedge.interfaces.web.play.hall import Hall
from kedge.interfaces.web.schemas import SeatIn

_READERS = 1024  # of all tables
_WATCHED = 0.7  # seconds between two turns without a person

log = logging.getLogger("kedge.web")


class Table:
    """A game, its readers, and the agents that think about it."""

    def __init__(self, session: Session, hall: Hall) -> None:
        self.session = session
        self.readers: set[Reader] = set()
        self._hall = hall
        self._task: asyncio.Task[None] | None = None
        self._asked: list[int] = []
        self._question: object = None
        self._stop = StopFlag()
        self.adviser = Adviser(session, self.readers, hall.agents)
        self.reviews = Reviews(session, self.readers, hall.reviewing)
        self._alarm: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        return bool(self.readers) or self._task is not None

    def subscribe(self, eyes: int | None) -> Reader:
        """Add a reader at a seat, and send it the game."""
        if len(self._hall.readers) >= _READERS:
            raise BusyError("server busy: too many readers; try again later")
        reader = Reader(eyes)
        self.readers.add(reader)
        self._hall.readers.add(reader)
        self.resume()
        self._show(reader)
        self.reviews.show(reader)
        return reader

    def unsubscribe(self, reader: Reader) -> None:
        """Remove a reader; a review stops with the last one."""
        self.readers.discard(reader)
        self._hall.readers.discard(reader)
        self.adviser.advise(reader, on=False)
        if not self.readers:
            self.reviews.stop()

    def move(self, seat: int, move: Move, turn: int) -> None:
        """Play a person's move."""
        self.session.move(seat, move, turn)
        self.changed()

    def undo(self, seat: int | None) -> None:
        """Undo the last move of `seat`, or of any person, and everything after it."""
        self.session.undo(seat)
        self.changed()

    def resign(self, seat: int) -> None:
        """End the game with a person's resignation."""
        self.session.resign(seat)
        self.changed()

    def sit(self, seat: int, who: SeatIn) -> None:
        """Change who sits at `seat`."""
        self.session.sit(seat, who)
        self.changed()

    def changed(self) -> None:
        """After a change of the session: save it, send it to the readers, and let agents go on."""
        if self._question_to(self._asked) != self._question:
            self._stop.stop()
        self.adviser.stop()
        self._let_agents_play()  # first: then one message also says that they think
        self._settle()

    def resume(self) -> None:
        """Go on after a pause: look at the clock, and let agents decide if they are to move."""
        if self.session.flag():
            self.changed()
        else:
            self._set_alarm()
            self._let_agents_play()

    def publish(self) -> None:
        """Send the game to all readers."""
        for reader in self.readers:
            self._show(reader)

    def close(self) -> None:
        """Stop everything here; a saved game may continue at another table."""
        self._closed = True
        self._stop.stop()
        self.adviser.close()
        self.reviews.stop()
        if self._alarm is not None:
            self._alarm.cancel()
        for reader in self.readers:
            reader.close()
            self._hall.readers.discard(reader)

    def _show(self, reader: Reader) -> None:
        reader.queue("session", session=game_view(self.session, reader.eyes))

    def _settle(self) -> None:
        """Save the game, and send it to all readers."""
        self.session.trouble = None
        try:
            self._hall.store.save(self.session.id, to_json(self.session))
        except InputError as error:  # a full disk ends no game
            self.session.trouble = str(error)
        self._set_alarm()
        self.publish()

    def _set_alarm(self) -> None:
        """Come back when the flag falls, even without a request."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        clock = self.session.clock
        if clock is not None and clock.running is not None:
            left = clock.now()[clock.running]
            self._alarm = asyncio.get_running_loop().call_later(left + 0.01, self.resume)

    def _let_agents_play(self) -> None:
        if self._task is None and (self._awaits_referee() or self._agents()):
            self._task = asyncio.create_task(self._run_agents())
            self.session.agents_think, self.session.trouble = True, None
        self.adviser.begin()

    def _agents(self) -> list[int]:
        """The seats where an agent is to move. Agents alone play only for readers."""
        if self._closed or not (self.readers or self._has_people()):
            return []
        return self.session.agents_deciding()

    def _awaits_referee(self) -> bool:
        return not self._closed and self.session.awaits_referee()

    def _has_people(self) -> bool:
        return any(seat.human for seat in self.session.seats)

    def _is_only_watched(self) -> bool:
        """Whether no person took part in the last turn, so that viewers need time to see it."""
        seats, turns = self.session.seats, self.session.turns
        return bool(turns) and not any(seats[seat].human for seat in turns[-1].seats)

    def _question_to(self, seats: list[int]) -> object:
        """The question to the agents at `seats`; moves of other seats do not change it."""
        session = self.session
        return len(session.turns), session.outcome, [session.seats[seat] for seat in seats]

    async def _run_agents(self) -> None:
        trouble = None
        try:
            while (seats := self._agents()) or self._awaits_referee():
                await (self._decide(seats) if seats else self._hear_referee())
        except InputError as error:
            trouble = str(error)
        except Exception:
            log.exception("an agent failed")
            trouble = "the agent failed; undo a turn or change the agent to try again"
        finally:
            self._task, self.session.agents_think = None, False
        if trouble is not None:
            self.session.trouble = trouble
            self.publish()
        self.adviser.begin()

    async def _hear_referee(self) -> None:
        """Take the referee's turn."""
        session, before = self.session, self.session.revision
        action = await self._hall.agents.referee(session)
        if session.revision == before and not self._closed:
            session.hear_referee(action)
            self._settle()

    async def _decide(self, seats: list[int]) -> None:
        session, stop = self.session, StopFlag()
        self._asked, self._question, self._stop = seats, self._question_to(seats), stop
        if self._is_only_watched():
            await asyncio.sleep(_WATCHED)
        decisions = {}
        try:
            specs = {seat: session.seats[seat].required_agent() for seat in seats}
            left = None if session.clock is None else session.clock.now()
            async for decision in self._hall.agents.think(session, specs, stop, left):
                if decision.action is not None:
                    decisions[decision.seat] = decision
                elif decision.thought is not None and not stop.stopped:
                    send_thought("thought", decision.thought, session, self.readers)
        except Exception:
            if not stop.stopped:  # else nobody waits for the answer
                raise
        if not stop.stopped:  # else the position or the agent has changed meanwhile
            for seat in seats:
                session.decide(seat, decisions[seat].action, decisions[seat].thought)
            self._settle()

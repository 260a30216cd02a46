"""A table where a game is played: agents think, and readers get the news.

Agents think in other threads. All else runs on the event loop's thread and needs no lock.
"""

import asyncio
import logging
from typing import Any

from kedge.errors import InputError
from kedge.interfaces.web.pages.thoughts import StopFlag, Thought
from kedge.interfaces.web.play.advising import Adviser
from kedge.interfaces.web.play.hall import Hall
from kedge.interfaces.web.play.readers import Reader
from kedge.interfaces.web.play.reviewing import ReviewJob
from kedge.interfaces.web.play.saving import to_document
from kedge.interfaces.web.play.session import Session
from kedge.interfaces.web.play.thinkers import BusyError
from kedge.interfaces.web.play.views import game_view, tell_thought

_READERS = 1024  # of all tables
_WATCHED = 0.7  # seconds between two turns without a person

log = logging.getLogger("kedge.web")


class Table:
    """A game, its readers, and the agents that think about it."""

    def __init__(self, session: Session, hall: Hall) -> None:
        self.session = session
        self.trouble: str | None = None
        self.readers: set[Reader] = set()
        self.thinking: list[int] = []
        self._hall = hall
        self._task: asyncio.Task[None] | None = None
        self._asked: object = None
        self._stop = StopFlag()
        self._adviser = Adviser(session, self.readers, hall.thinking)
        self._review: ReviewJob | None = None
        self._flag_fall: asyncio.TimerHandle | None = None
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
        self.go_on()
        self._show(reader)
        if self._review is not None and self._review.is_of(self.session):
            reader.tell("review", self._review.message)
        return reader

    def unsubscribe(self, reader: Reader) -> None:
        """Remove a reader; a review stops with the last one."""
        self.readers.discard(reader)
        self._hall.readers.discard(reader)
        self.advise(reader, on=False)
        if not self.readers and self._review is not None:
            self._review.stop()

    def advise(self, reader: Reader, *, on: bool) -> None:
        """Switch advice for this reader on or off."""
        self._adviser.advise(reader, on=on)

    def review(self) -> ReviewJob:
        """Return the review of the game so far; begin it if there is none."""
        session = self.session
        if not session.game.reviews:
            raise InputError(f"{session.game.title} has no reviews")
        if (why := session.game.no_agents(session.setup)) is not None:
            raise InputError(why)
        if not session.turns:
            raise InputError("there is no move to review yet")
        if session.game.secret and session.outcome is None:
            raise InputError("a review would reveal secrets; finish the game first")
        if self._review is None or self._review.failed or not self._review.is_of(session):
            if self._review is not None:
                self._review.stop()
            self._review = ReviewJob(session, self._publish_review)
            self._review.begin(self._hall.reviewing)
        return self._review

    def stop_review(self) -> None:
        """Stop the review in progress, if any."""
        if self._review is None or self._review.finished:
            return
        self._review.stop()
        self._review = None
        for reader in self.readers:
            reader.tell("review", lambda: {"review": None})

    def reviewed(self) -> ReviewJob:
        """Return the review of the game so far, which must have begun."""
        if self._review is None or not self._review.is_of(self.session):
            raise InputError("the game so far has no review; POST begins one")
        return self._review

    def changed(self) -> None:
        """After any change: save the game, tell the readers, and let agents go on."""
        if self.thinking and self._question(self.thinking) != self._asked:
            self._stop.stop()
        self._adviser.stop()
        self.trouble = None
        self._settle()
        self.go_on()

    def publish(self) -> None:
        """Send the game to all readers."""
        for reader in self.readers:
            self._show(reader)

    def go_on(self) -> None:
        """Let agents decide if they are to move, after a look at the clock."""
        self._watch_clock()
        if self._task is None and (self._awaits_referee() or self._agents()):
            self._task = asyncio.create_task(self._play())
        self._adviser.begin()

    def view(self, eyes: int | None) -> dict[str, Any]:
        """Return the game as the seat `eyes` sees it; if None, as the mover does."""
        return game_view(self.session, eyes) | {"thinking": self.thinking, "trouble": self.trouble}

    def close(self) -> None:
        """Stop everything here; a saved game may continue at another table."""
        self._closed = True
        self._stop.stop()
        self._adviser.close()
        if self._review is not None:
            self._review.stop()
        if self._flag_fall is not None:
            self._flag_fall.cancel()
        for reader in self.readers:
            reader.close()
            self._hall.readers.discard(reader)

    def _show(self, reader: Reader) -> None:
        reader.tell("session", lambda: {"session": self.view(reader.eyes)})

    def _settle(self) -> None:
        """Save the game, and send it to all readers."""
        try:
            self._hall.store.save(self.session.id, to_document(self.session))
        except InputError as error:  # a full disk ends no game
            self.trouble = str(error)
        self._watch_clock()
        self.publish()

    def _watch_clock(self) -> None:
        """End the game when a flag falls, even without a request."""
        if self._flag_fall is not None:
            self._flag_fall.cancel()
            self._flag_fall = None
        session = self.session
        if session.flagged() is not None:
            session.flag()
            self.changed()
        elif session.clock is not None and session.clock.running is not None:
            left = session.clock.now()[session.clock.running]
            loop = asyncio.get_running_loop()
            self._flag_fall = loop.call_later(left + 0.01, self._watch_clock)

    def _agents(self) -> list[int]:
        """The seats where an agent is to move. Agents alone play only for readers."""
        session = self.session
        if self._closed or not (self.readers or self._has_people()):
            return []
        return [seat for seat in session.deciding() if not session.seats[seat].human]

    def _awaits_referee(self) -> bool:
        return not self._closed and self.session.awaits_referee()

    def _has_people(self) -> bool:
        return any(seat.human for seat in self.session.seats)

    def _is_only_watched(self) -> bool:
        """Whether no person took part in the last turn, so that viewers need time to see it."""
        seats = self.session.seats
        return bool(self.session.names) and not any(
            seats[seat].human for seat in self.session.names[-1][0]
        )

    def _question(self, seats: list[int]) -> object:
        """The question to the agents at `seats`; moves of other seats do not change it."""
        session = self.session
        agents = [session.seats[seat] for seat in seats]
        return len(session.turns), session.outcome, [seat.model_dump_json() for seat in agents]

    async def _play(self) -> None:
        try:
            while self._awaits_referee() or self._agents():
                await self._hear_referee()
                if self._is_only_watched():
                    await asyncio.sleep(_WATCHED)
                if seats := self._agents():
                    await self._decide(seats)
        except InputError as error:
            self.trouble = str(error)
        except Exception:
            log.exception("an agent failed")
            self.trouble = "the agent failed; undo a turn or change the agent to try again"
        finally:
            self._task = None
            self.publish()
            self._adviser.begin()

    async def _hear_referee(self) -> None:
        """Take the referee's turns, if there are any."""
        session = self.session
        while self._awaits_referee():
            before = session.revision
            turn = await self._hall.thinking.hear_referee(session)
            if session.revision == before:
                session.hear_referee(turn)
                self._settle()

    async def _decide(self, seats: list[int]) -> None:
        session, stop = self.session, StopFlag()
        self.thinking, self._asked, self._stop = seats, self._question(seats), stop
        self.trouble = None
        self.publish()
        try:
            decisions = await self._hall.thinking.think(session, seats, self._publish_thought, stop)
            if stop.stopped:
                return  # the position or the agent has changed meanwhile
            for seat in seats:
                session.decide(seat, decisions[seat].move, decisions[seat].thought)
        except Exception:
            if not stop.stopped:  # else nobody waits for the answer
                raise
        finally:
            self.thinking = []
        self._settle()

    def _publish_thought(self, thought: Thought) -> None:
        tell_thought("thought", thought, self.session, self.readers)

    def _publish_review(self, review: ReviewJob) -> None:
        if review is self._review:
            for reader in self.readers:
                reader.tell("review", review.message)

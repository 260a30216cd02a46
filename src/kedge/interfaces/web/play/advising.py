"""Advice for people: what the agent that is played against would do in their place."""

import asyncio
import logging

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import Stop, Thought
from kedge.interfaces.web.play.hall import Hall
from kedge.interfaces.web.play.readers import Reader
from kedge.interfaces.web.play.session import Session
from kedge.interfaces.web.schemas import SeatIn
from kedge.interfaces.web.views import tell_thought

log = logging.getLogger("kedge.web")


class Adviser:
    """Tells those `readers` of a game who want to know, whenever a person decides."""

    def __init__(self, session: Session, readers: set[Reader], hall: Hall) -> None:
        self._session, self._readers, self._hall = session, readers, hall
        self._task: asyncio.Task[None] | None = None
        self._stop = Stop()
        self._closed = False

    def advise(self, reader: Reader, *, on: bool) -> None:
        """Whether this reader wants to know."""
        reader.advised = on
        if not self._advised():
            self.stop()
        elif on:
            self.begin()

    def begin(self) -> None:
        """Think about what people decide now, if somebody wants to know; once at a time."""
        session = self._session
        people = [seat for seat in session.deciding() if session.seats[seat].human]
        if self._advised() and people and self._task is None and not self._closed:
            self._task = asyncio.create_task(self._advise(people))

    def stop(self) -> None:
        """Give up what is thought about; it begins anew while somebody wants to know."""
        self._stop.stop()

    def close(self) -> None:
        self._closed = True
        self.stop()

    def _advised(self) -> list[Reader]:
        return [reader for reader in self._readers if reader.advised]

    def _opponent(self) -> SeatIn | None:
        """Whose dial advice follows: that of who is played against, or one's own if None."""
        return next((one for one in self._session.seats if not one.human), None)

    async def _advise(self, seats: list[int]) -> None:
        """Tell all people who decide now what to do; they share a search."""
        stop = self._stop = Stop()

        def tell(thought: Thought) -> None:
            tell_thought("advice", thought, self._session, self._advised())

        try:
            found = await self._hall.think(self._session, seats, tell, stop, self._opponent())
            for decision in found.values():
                if not stop.stopped and decision.thought is not None:
                    tell(decision.thought)
        except InputError as error:
            trouble = {"detail": str(error)}
            for reader in self._advised():
                reader.tell("trouble", lambda: trouble)
        except Exception:
            log.exception("an adviser failed")
        finally:
            self._task = None
        if stop.stopped:  # there is something else to advise on, or someone else to advise
            self.begin()

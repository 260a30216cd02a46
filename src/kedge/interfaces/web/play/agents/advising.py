"""Advice for people: what their opponent's agent would play in their place."""

import asyncio
import logging

from kedge.errors import InputError
from kedge.interfaces.web.pages.thoughts import StopFlag, Thought
from kedge.interfaces.web.play.agents.agent_pool import AgentPool
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.play.game.views import send_thought
from kedge.specs import Spec

log = logging.getLogger("kedge.web")


class Adviser:
    """Sends advice to the readers who want it, whenever a person is to move."""

    def __init__(self, session: Session, readers: set[Reader], agents: AgentPool) -> None:
        self._session, self._readers, self._agents = session, readers, agents
        self._task: asyncio.Task[None] | None = None
        self._stop = StopFlag()
        self._newest: dict[int, Thought] = {}  # by seat, while it thinks
        self._closed = False

    def advise(self, reader: Reader, *, on: bool) -> None:
        """Switch advice for this reader on or off."""
        reader.advised = on
        if not self._advised():
            self.stop()
        elif on:
            for thought in self._newest.values():  # a search that ends now has no more to send
                send_thought("advice", thought, self._session, [reader])
            self.begin()

    def begin(self) -> None:
        """Begin to think for the people to move, if a reader wants advice; once at a time."""
        session = self._session
        people = [seat for seat in session.deciding() if session.seats[seat].human]
        if self._advised() and people and self._task is None and not self._closed:
            self._task = asyncio.create_task(self._advise(people))

    def stop(self) -> None:
        """Stop thinking; it begins again as long as a reader wants advice."""
        self._newest = {}
        self._stop.stop()

    def close(self) -> None:
        """Stop for good."""
        self._closed = True
        self.stop()

    def _advised(self) -> list[Reader]:
        return [reader for reader in self._readers if reader.advised]

    def _spec(self, seat: int) -> Spec:
        """The agent that advises the person at `seat`: the opponent's or, without one, its own."""
        seats = self._session.seats
        return next((other for other in seats if not other.human), seats[seat]).required_agent()

    async def _advise(self, seats: list[int]) -> None:
        """Advise all people to move with one search."""
        session, stop = self._session, StopFlag()
        self._stop = stop
        try:
            specs = {seat: self._spec(seat) for seat in seats}
            async for decision in self._agents.think(session, specs, stop):
                if not stop.stopped and decision.thought is not None:
                    self._newest[decision.seat] = decision.thought
                    send_thought("advice", decision.thought, session, self._advised())
        except InputError as error:
            for reader in self._advised():
                reader.queue("trouble", detail=str(error))
        except Exception:
            log.exception("an adviser failed")
        finally:
            self._task, self._newest = None, {}
        if stop.stopped:  # the position or the readers have changed
            self.begin()

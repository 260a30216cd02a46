"""What a table needs from the server; `tables.Tables` has it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from kedge.interfaces.web.pages.page_game import Decision, Stop, Thought, Turn
from kedge.interfaces.web.play.session import Session
from kedge.interfaces.web.play.store import SessionStore
from kedge.interfaces.web.schemas import SeatIn


class Hall(Protocol):
    """The server as a table sees it."""

    store: SessionStore
    reviewing: asyncio.Semaphore

    def readers(self) -> int:
        """The number of clients that follow games."""
        ...

    async def think(
        self,
        session: Session,
        seats: list[int],
        watch: Callable[[Thought], None],
        stop: Stop,
        adviser: SeatIn | None = None,
    ) -> dict[int, Decision]: ...

    async def hear_referee(self, session: Session) -> Turn: ...

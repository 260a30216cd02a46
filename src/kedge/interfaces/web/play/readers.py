"""Who follows a game as it is played."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


class Reader:
    """Someone who watches from a seat.

    However slowly it reads, only the newest message of each kind waits for it, or of each kind
    about a seat; and that is made when it is read, so that what nobody reads costs nothing.
    """

    def __init__(self, eyes: int | None) -> None:
        self.eyes = eyes
        self.advised = False
        """Whether it wants to know what its opponent would do in a person's place."""
        self._waiting: dict[tuple[str, int | None], Callable[[], Message]] = {}
        self._news = asyncio.Event()
        self._closed = False

    def tell(self, kind: str, make: Callable[[], Message], seat: int | None = None) -> None:
        self._waiting.pop((kind, seat), None)  # the newest comes last
        self._waiting[kind, seat] = make
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def next(self) -> Message | None:
        """The next message; None once there are no more."""
        while not self._waiting:
            if self._closed:
                return None
            self._news.clear()
            await self._news.wait()
        kind, seat = next(iter(self._waiting))
        return {"type": kind, **self._waiting.pop((kind, seat))()}

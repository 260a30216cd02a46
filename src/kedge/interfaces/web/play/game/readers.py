"""Clients that follow a game as it is played."""

import asyncio
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


class Reader:
    """A client that watches from a seat.

    Only the newest message of each kind and seat waits for a slow client.
    """

    def __init__(self, eyes: int | None) -> None:
        self.eyes = eyes
        self.advised = False
        """Whether it wants advice."""
        self._waiting: dict[tuple[str, int | None], Message] = {}
        self._news = asyncio.Event()
        self._closed = False

    def queue(self, kind: str, seat: int | None = None, **content: Any) -> None:
        """Queue a message in place of the last one of this kind and seat."""
        self._waiting.pop((kind, seat), None)  # the newest comes last
        self._waiting[kind, seat] = {"type": kind, **content}
        self._news.set()

    def close(self) -> None:
        """End the messages."""
        self._closed = True
        self._news.set()

    async def next(self) -> Message | None:
        """Wait for the next message; None at the end."""
        while not self._waiting:
            if self._closed:
                return None
            self._news.clear()
            await self._news.wait()
        return self._waiting.pop(next(iter(self._waiting)))

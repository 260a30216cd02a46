"""Threads that work, while the event loop answers."""

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import TypeVar

from kedge.errors import InputError

T = TypeVar("T")

_PATIENCE = 5.0  # seconds for threads that still work when the program ends
_working: set[threading.Thread] = set()


class BusyError(InputError):
    """The server is busy."""


class WorkerThreads:
    """At most `threads` threads and a queue of at most `queue` calls.

    Unlike the threads of an executor, these do not keep the program from ending.
    """

    def __init__(self, threads: int, queue: int) -> None:
        self._free = asyncio.Semaphore(threads)
        self._under_way, self._most = 0, threads + queue

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread."""
        async with self._place():
            return await _in_thread(work)

    async def each(self, results: Iterator[T]) -> AsyncIterator[T]:
        """Yield results, none of them None, that threads take from an iterator one by one."""
        async with self._place():
            while (result := await _in_thread(partial(next, results, None))) is not None:
                yield result

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Wait until a thread is free, or raise `BusyError` if too many calls wait already."""
        if self._under_way >= self._most:
            raise BusyError("server busy: too many requests; try again later")
        self._under_way += 1
        try:
            async with self._free:
                yield
        finally:
            self._under_way -= 1


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Return the result of `work` in a new thread, as a future of the event loop."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a caller that stops waiting does not end the work

    def run() -> None:
        _working.add(threading.current_thread())
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        finally:
            _working.discard(threading.current_thread())

    threading.Thread(target=run, name="work", daemon=True).start()
    return asyncio.wrap_future(future)


@atexit.register
def _let_end() -> None:
    """Wait a while for the threads that still work.

    Python cuts such threads off as it ends, and one in native code then crashes the process. If a
    thread does not come back in time, leave without Python's own ending.
    """
    end = monotonic() + _PATIENCE
    for thread in tuple(_working):
        thread.join(max(0.0, end - monotonic()))
    if _working:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

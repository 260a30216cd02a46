"""Threads that work, while the event loop answers."""

import asyncio
import atexit
import contextlib
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
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
        (result,) = [result async for result in self.each(call() for call in (work,))]
        return result

    async def each(self, results: Iterator[T]) -> AsyncIterator[T]:
        """Yield results as a thread takes them from an iterator."""
        if self._under_way >= self._most:
            raise BusyError("server busy: too many requests; try again later")
        self._under_way += 1
        try:
            async with self._free:
                made = _in_thread(results)
                while isinstance(result := await made.get(), tuple):
                    yield result[0]
                if result is not None:
                    raise result
        finally:
            self._under_way -= 1


def _in_thread(results: Iterator[T]) -> asyncio.Queue[tuple[T] | Exception | None]:
    """Return a queue that gets the results from a thread; then None, or what went wrong."""
    loop = asyncio.get_running_loop()
    made: asyncio.Queue[tuple[T] | Exception | None] = asyncio.Queue()

    def put(result: tuple[T] | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(made.put_nowait, result)

    def run() -> None:
        end = None
        _working.add(threading.current_thread())
        try:
            for result in results:
                put((result,))
        except Exception as error:
            end = error
        finally:
            _working.discard(threading.current_thread())
        put(end)

    threading.Thread(target=run, name="work", daemon=True).start()
    return made


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

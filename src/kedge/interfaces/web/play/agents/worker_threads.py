"""Threads that work, while the event loop answers."""

import asyncio
import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

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
        if self._under_way >= self._most:
            raise BusyError("server busy: too many requests; try again later")
        self._under_way += 1
        try:
            async with self._free:
                return await _in_thread(work)
        finally:
            self._under_way -= 1


async def _in_thread(work: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(how: Callable[[Any], None], what: Any) -> None:
        if not result.done():  # cancelled
            how(what)

    def run() -> None:
        how: Callable[[Any], None] = result.set_result
        _working.add(threading.current_thread())
        try:
            what: Any = work()
        except Exception as error:
            how, what = result.set_exception, error
        finally:
            _working.discard(threading.current_thread())
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, how, what)

    threading.Thread(target=run, name="work", daemon=True).start()
    return await result


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

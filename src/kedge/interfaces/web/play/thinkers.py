"""Threads that think, while the event loop answers."""

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

_PATIENCE = 5.0  # seconds for those that still think when the program ends
_thinking: set[threading.Thread] = set()


class BusyError(InputError):
    """More is asked for than the server does at once."""


class Thinkers:
    """So many threads at once; who comes later stands in line, and no more than `line` may.

    Unlike those of an executor they do not keep the program from ending.
    """

    def __init__(self, threads: int, line: int) -> None:
        self._free = asyncio.Semaphore(threads)
        self._under_way, self._most = 0, threads + line

    async def run(self, think: Callable[[], T]) -> T:
        """What `think` returns, or raises."""
        if self._under_way >= self._most:
            raise BusyError("too many are asking at once; try again in a while")
        self._under_way += 1
        try:
            async with self._free:
                return await _in_thread(think)
        finally:
            self._under_way -= 1


async def _in_thread(think: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[T] = loop.create_future()

    def settle(how: Callable[[Any], None], what: Any) -> None:
        if not found.done():  # cancelled
            how(what)

    def work() -> None:
        how: Callable[[Any], None] = found.set_result
        _thinking.add(threading.current_thread())
        try:
            what: Any = think()
        except Exception as error:
            how, what = found.set_exception, error
        finally:
            _thinking.discard(threading.current_thread())
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, how, what)

    threading.Thread(target=work, name="think", daemon=True).start()
    return await found


@atexit.register
def _let_end() -> None:
    """Wait a while for those that think.

    Python cuts such threads off as it ends, and one that is in native code then takes the process
    down with it. So who does not come back in time is left behind, and Python with it.
    """
    end = monotonic() + _PATIENCE
    for thread in tuple(_thinking):
        thread.join(max(0.0, end - monotonic()))
    if _thinking:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

"""Analyses by agents that play states with a sequence of moves.

Searches over networks share batches with those of all other games on the server.
"""

import atexit
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kedge.agents.agent import Analysis
from kedge.agents.board.shared_search import SharedSearches
from kedge.errors import InputError
from kedge.interfaces.web.pages.thoughts import StopFlag

_EVERY = 0.1  # seconds between two analyses
_shared = SharedSearches()
atexit.register(_shared.close)  # Python would cut their thread off in native code
_alone = threading.Semaphore(2)  # each search keeps a core busy


def analyses(agent: Any, state: Any, seat: int, stop: StopFlag) -> Iterator[Analysis]:
    """Yield ever better analyses; the last is the result. None if stopped before.

    Nobody may change `state` meanwhile.
    """
    if not getattr(agent, "shares_network", False):
        return _own_analyses(agent.analyse(state, seat), stop)
    search = _shared.submit(agent, state, every=_EVERY, copy=False)
    stop.then(search.stop)
    return iter(search)


@contextmanager
def turn_to_search(stop: StopFlag) -> Iterator[None]:
    """Wait until few enough searches run, or until `stop`."""
    while not (admitted := _alone.acquire(timeout=_EVERY)) and not stop.stopped:
        pass
    try:
        yield
    finally:
        if admitted:
            _alone.release()


def _own_analyses(analyses: Iterator[Analysis], stop: StopFlag) -> Iterator[Analysis]:
    """Yield the last of an agent's analyses, and before it one now and then."""
    last, due = None, 0.0
    with turn_to_search(stop):
        while not stop.stopped and (analysis := next(analyses, None)) is not None:
            if last is not None and time.monotonic() >= due:
                due = time.monotonic() + _EVERY
                yield last
            last = analysis
    if last is not None:
        yield last
    elif not stop.stopped:
        raise InputError("the agent has no analysis of this position")

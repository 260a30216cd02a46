"""Searches of many players that run together, so that the network sees full batches."""

import threading
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from dataclasses import replace
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from kedge.agents.agent import Analysis
from kedge.agents.board.grove import Grove, allowed_moves, check_not_over
from kedge.agents.board.puct import ModelAgent, PuctAgent
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.search.puct import Allowed, NativeForest, root_result

_FEW = 4  # searches that make analyses as often as they are asked to


class SharedSearch(Future[Analysis]):
    """One search among others: a future, and an iterable of its analyses so far.

    The last analysis is the result. An error of the network is the search's exception. A search
    that is stopped while it waits in the queue is cancelled, and has no analysis.
    In asyncio: ``await asyncio.wrap_future(search)``.
    """

    def __init__(
        self, agent: ModelAgent, board: Any, allowed: Allowed | None, every: float | None
    ) -> None:
        super().__init__()
        self.agent, self.board, self.allowed = agent, board, allowed
        self.stopped = False
        self._every = every
        self._due = 0.0  # time of the next analysis
        analyses: SimpleQueue[Analysis | None] = SimpleQueue()
        self._analyses = analyses
        self.add_done_callback(lambda _: analyses.put(None))

    def __iter__(self) -> Iterator[Analysis]:
        """Yield each analysis as soon as it is made; for one thread, once."""
        yield from iter(self._analyses.get, None)
        if not self.cancelled():
            self.result()  # raises if the search failed

    def stop(self) -> None:
        """End the search after the current batch; its result is the analysis by then."""
        self.stopped = True

    def update(self, forest: NativeForest, tree: int, done: bool, searches: int) -> bool:
        """Make an analysis if one is due; return whether the search has ended.

        Analyses take time from searching, so each of many `searches` makes them less often.
        """
        now = perf_counter()
        if not done and (self._every is None or now < self._due):
            return False
        self._due = now + (self._every or 0.0) * max(1.0, searches / _FEW)
        try:
            analysis = self.agent.analysis(root_result(forest, tree, self.agent.settings))
        except Exception as error:  # the other searches go on
            self.set_exception(error)
            return True
        self._analyses.put(analysis)
        if done:
            self.set_result(analysis)
        return done


class SharedSearches:
    """Takes searches from any thread, and runs them in one thread of its own.

    Each search gives exactly the result that it would give alone. A batch takes the next leaf of
    every tree that has the same network and prior temperature, whatever its other settings. So a
    long search does not delay short ones.

    Parameters
    ----------
    together
        Most leaves that wait for the networks at once; a search takes as many as its ``batch``.
        Further searches wait in a queue.
    most
        Most searches, including waiting ones; further searches are refused.
    idle
        Seconds without a search after which the thread ends.
    """

    def __init__(self, together: int = 64, most: int = 512, idle: float = 5.0) -> None:
        self._together, self._most, self._idle = together, most, idle
        self._changed = threading.Condition()  # guards all but the groves: only the thread's
        self._queue: deque[SharedSearch] = deque()
        self._active = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._groves: dict[tuple[Network, float], _SharedGrove] = {}

    def submit(
        self,
        agent: ModelAgent,
        state: Any,
        *,
        every: float | None = None,
        only: Collection[int] | None = None,
        playouts: int | None = None,
        copy: bool = True,
    ) -> SharedSearch:
        """Search a state with `playouts`, by default those of the agent.

        With `every`, the search makes an analysis after the first batch, then at most one per
        `every` seconds (fewer among many searches), and one at the end; else only the last. With
        `only`, the root tries no other moves. Without `copy`, leave `state` as it is until the
        search has ended.
        """
        if playouts is not None:
            if not isinstance(agent, PuctAgent):
                raise InputError("playouts: a model alone does not search")
            agent = replace(agent, settings=replace(agent.settings, playouts=playouts))
        if agent.settings.batch > self._together:
            raise InputError(f"batch: at most {self._together} when searches share the network")
        agent = agent.on_board_of(state)
        check_not_over(state.board)
        allowed = allowed_moves(state.board, only)
        board = (state.clone() if copy else state).board
        search = SharedSearch(agent, board, allowed, every)
        with self._changed:
            if self._closed:
                raise InputError("closed: no more searches")
            if self._active >= self._most:
                raise InputError(f"busy with {self._most} searches: try again later")
            self._active += 1
            self._queue.append(search)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="searches", daemon=True)
                self._thread.start()
            self._changed.notify()
        search.add_done_callback(self._count_off)
        return search

    def close(self) -> None:
        """Stop all searches, and wait until they have ended."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _count_off(self, _: Future[Analysis]) -> None:
        with self._changed:
            self._active -= 1

    def _run(self) -> None:
        while self._is_wanted():
            for search in self._next_searches():
                self._plant(search)
            for key, grove in list(self._groves.items()):
                grove.grow()
                if not grove.searches:
                    del self._groves[key]  # frees the memory of its trees

    def _is_wanted(self) -> bool:
        with self._changed:
            if not self._groves:
                self._changed.wait_for(lambda: self._queue or self._closed, self._idle)
            if not self._groves and not self._queue:
                self._thread = None
                return False
            return True

    def _next_searches(self) -> list[SharedSearch]:
        """Take from the queue the searches that there is room for, first come first served."""
        running = [search for grove in self._groves.values() for search in grove.searches.values()]
        free = self._together - sum(search.agent.settings.batch for search in running)
        with self._changed:
            if self._closed:
                for search in (*running, *self._queue):
                    search.stop()
            for search in [search for search in self._queue if search.stopped]:
                search.cancel()
                self._queue.remove(search)
            searches = []
            while self._queue and self._queue[0].agent.settings.batch <= free:
                search = self._queue.popleft()
                if search.set_running_or_notify_cancel():
                    free -= search.agent.settings.batch
                    searches.append(search)
            return searches

    def _plant(self, search: SharedSearch) -> None:
        key = search.agent.network, search.agent.prior_temperature
        try:
            if key not in self._groves:
                self._groves[key] = _SharedGrove(search.agent.grove(self._together))
            self._groves[key].plant(search)
        except Exception as error:
            search.set_exception(error)


class _SharedGrove:
    """The searches over one network and prior temperature, by their trees."""

    def __init__(self, grove: Grove) -> None:
        self.searches: dict[int, SharedSearch] = {}
        self._grove = grove

    def plant(self, search: SharedSearch) -> None:
        tree = self._grove.plant(search.board, search.agent.settings, search.allowed)
        self.searches[tree] = search

    def grow(self) -> None:
        """Advance all searches by one batch and drop the finished ones, or all on an error."""
        try:
            self._grove.grow()
        except Exception as error:
            for search in self.searches.values():
                search.set_exception(error)
            self.searches.clear()
        forest, count = self._grove.forest, len(self.searches)
        for tree, search in list(self.searches.items()):
            done = search.stopped or forest.finished(tree)
            if search.update(forest, tree, done, count):
                self._grove.remove(tree)
                del self.searches[tree]

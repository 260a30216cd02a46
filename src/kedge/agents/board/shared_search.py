"""Searches of many players that run together, so that the network sees full batches."""

import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias

from kedge.agents.agent import Analysis
from kedge.agents.board.grove import Grove
from kedge.agents.board.puct import ModelAgent, PuctAgent, allowed_moves, check_not_over
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.search.puct import Allowed, NativeForest, result

#: Receives the current analysis, and whether it is the last.
OnUpdate: TypeAlias = Callable[[Analysis, bool], None]

_FEW = 4  # searches that get updates as often as they ask for


class SharedSearch(Future[Analysis]):
    """One search among others: a future whose result is the last analysis.

    An error of its network or of its `on_update` is its exception. A search that is stopped while
    it waits in the queue is cancelled. In asyncio: ``await asyncio.wrap_future(search)``.
    """

    def __init__(
        self,
        agent: ModelAgent,
        board: Any,
        allowed: Allowed | None,
        on_update: OnUpdate | None,
        every: float,
    ) -> None:
        super().__init__()
        self.agent, self.board, self.allowed = agent, board, allowed
        self.stopped = False
        self._on_update, self._every = on_update, every
        self._due = 0.0  # time of the next update

    def stop(self) -> None:
        """End the search after the current batch; its result is the analysis by then."""
        self.stopped = True

    def update(self, forest: NativeForest, tree: int, done: bool, searches: int) -> bool:
        """Call `on_update` if it is due; return whether the search has ended.

        Updates take time from searching, so each of many `searches` gets them less often.
        """
        now = perf_counter()
        try:
            if done or (self._on_update is not None and now >= self._due):
                self._due = now + self._every * max(1.0, searches / _FEW)
                analysis = self.agent.analysis(result(forest, tree, self.agent.settings))
                if self._on_update is not None:
                    self._on_update(analysis, done)
                if done:
                    self.set_result(analysis)
        except Exception as error:  # the other searches go on
            self.set_exception(error)
            return True
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
        on_update: OnUpdate | None = None,
        *,
        every: float = 0.1,
        only: Collection[int] | None = None,
        playouts: int | None = None,
        copy: bool = True,
    ) -> SharedSearch:
        """Search a state with `playouts`, by default those of the agent.

        `on_update` is called in the searches' thread: after the first batch, then at most once per
        `every` seconds (less often among many searches), and at the end. It must be quick. With
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
        search = SharedSearch(agent, board, allowed, on_update, every)
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
                self._groves[key] = _SharedGrove(search.agent, self._together)
            self._groves[key].plant(search)
        except Exception as error:
            search.set_exception(error)


class _SharedGrove:
    """The searches over one network and prior temperature, by their trees."""

    def __init__(self, agent: ModelAgent, rows: int) -> None:
        self.searches: dict[int, SharedSearch] = {}
        self._grove = Grove(agent, rows)

    def plant(self, search: SharedSearch) -> None:
        self.searches[self._grove.plant(search.agent, search.board, search.allowed)] = search

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

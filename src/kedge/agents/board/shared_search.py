"""Searches of many players that grow together, so that the network sees full batches."""

import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

from kedge.agents.agent import Analysis
from kedge.agents.board.puct import Allowed, ModelAgent, PuctAgent, evaluate
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.models.board.lanes import open_lanes
from kedge.search.puct import admit

#: Is told what is known by now, and whether that is the end.
OnUpdate: TypeAlias = Callable[[Analysis, bool], None]

_FEW = 4  # searches that are all told of as often as they ask for


class SharedSearch(Future[Analysis]):
    """One search among others; a future, whose result is what is known at the end.

    It fails with what went wrong in its network or in whoever follows it, and is cancelled if it
    is stopped while it stands in line. In asyncio: ``await asyncio.wrap_future(search)``.
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
        self._due = 0.0  # when there is next something to tell

    def stop(self) -> None:
        """End it after the batch under way; what is known by then is the result."""
        self.stopped = True

    def follow(self, told: Callable[[], Analysis], done: bool, crowd: int) -> bool:
        """Tell who follows, if it is time; returns whether the search has ended.

        Telling takes time from searching: in a `crowd` each is told less often.
        """
        now = perf_counter()
        try:
            if done or (self._on_update is not None and now >= self._due):
                self._due = now + self._every * max(1.0, crowd / _FEW)
                analysis = told()
                if self._on_update is not None:
                    self._on_update(analysis, done)
                if done:
                    self.set_result(analysis)
        except Exception as error:  # this one's trouble alone
            self.set_exception(error)
            return True
        return done


class SharedSearches:
    """Takes searches from any thread, and grows them in one of its own while there are some.

    Each is exactly the sequential search, whoever else is there: a batch takes the next leaf of
    every tree over one network and prior temperature, whatever their dials. So a long search does
    not hold up the short ones.

    Parameters
    ----------
    together
        Leaves that may wait for the networks at once; a search takes as many as its ``batch``. Who
        comes later stands in line.
    most
        Searches under way, those in line among them; beyond that they are refused.
    idle
        Seconds without a search after which the thread ends.
    """

    def __init__(self, together: int = 64, most: int = 512, idle: float = 5.0) -> None:
        self._together, self._most, self._idle = together, most, idle
        self._changed = threading.Condition()  # guards all but the groves, which are the thread's
        self._line: deque[SharedSearch] = deque()
        self._under_way = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._groves: dict[tuple[Network, float], _Grove] = {}

    def submit(
        self,
        agent: ModelAgent,
        state: Any,
        on_update: OnUpdate | None = None,
        *,
        every: float = 0.1,
        only: Collection[int] | None = None,
        playouts: int | None = None,
    ) -> SharedSearch:
        """Have a state searched, by so many `playouts` or as many as the agent makes.

        `on_update` is called in the searches' thread after the first batch, then at most `every` so
        many seconds, less often among many, and at the end; it must be quick. With `only` no other
        move is tried.
        """
        if playouts is not None:
            if not isinstance(agent, PuctAgent):
                raise InputError("playouts: a model by itself looks once, and does not search")
            agent = replace(agent, settings=replace(agent.settings, playouts=playouts))
        if agent.settings.batch > self._together:
            raise InputError(f"batch: at most {self._together} where searches share the network")
        agent = agent.on_board_of(state)
        allowed = agent.allowed(state, only)
        search = SharedSearch(agent, state.clone().board, allowed, on_update, every)
        with self._changed:
            if self._closed:
                raise InputError("no more searches are taken: they are closed")
            if self._under_way >= self._most:
                raise InputError(f"busy with {self._most} searches: try again later")
            self._under_way += 1
            self._line.append(search)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="searches", daemon=True)
                self._thread.start()
            self._changed.notify()
        search.add_done_callback(self._count_off)
        return search

    def close(self) -> None:
        """Stop all, and wait until they have ended."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _count_off(self, _: Future[Analysis]) -> None:
        with self._changed:
            self._under_way -= 1

    def _run(self) -> None:
        while self._is_wanted():
            for search in self._next_in_line():
                self._plant(search)
            for key, grove in list(self._groves.items()):
                grove.grow()
                if not grove.searches:
                    del self._groves[key]  # and with it the memory of its trees

    def _is_wanted(self) -> bool:
        with self._changed:
            if not self._groves:
                self._changed.wait_for(lambda: self._line or self._closed, self._idle)
            if not self._groves and not self._line:
                self._thread = None
                return False
            return True

    def _next_in_line(self) -> list[SharedSearch]:
        """Those whose turn it is, first come first served."""
        growing = [search for grove in self._groves.values() for search in grove.searches.values()]
        free = self._together - sum(search.agent.settings.batch for search in growing)
        with self._changed:
            if self._closed:
                for search in (*growing, *self._line):
                    search.stop()
            for search in [search for search in self._line if search.stopped]:
                search.cancel()
                self._line.remove(search)
            found = []
            while self._line and self._line[0].agent.settings.batch <= free:
                search = self._line.popleft()
                if search.set_running_or_notify_cancel():
                    free -= search.agent.settings.batch
                    found.append(search)
            return found

    def _plant(self, search: SharedSearch) -> None:
        key = search.agent.network, search.agent.prior_temperature
        try:
            if key not in self._groves:
                self._groves[key] = _Grove(search.agent, self._together)
            self._groves[key].plant(search)
        except Exception as error:
            search.set_exception(error)


class _Grove:
    """The trees over one network and prior temperature."""

    def __init__(self, agent: ModelAgent, rows: int) -> None:
        self.searches: dict[int, SharedSearch] = {}  # by their trees
        self._forest = agent.new_forest()
        (self._lane,) = open_lanes(agent.network, rows, most=1)
        self._temperature = agent.prior_temperature

    def plant(self, search: SharedSearch) -> None:
        tree = admit(self._forest, search.board, search.agent.settings)
        self.searches[tree] = search

    def grow(self) -> None:
        """By a batch; those that end with it leave, all of them if the network fails."""
        forest = self._forest
        try:
            self._evaluate()
        except Exception as error:
            for search in self.searches.values():
                search.set_exception(error)
            self.searches.clear()
        crowd = len(self.searches)
        for tree, search in list(self.searches.items()):
            done = search.stopped or forest.playouts(tree) >= search.agent.settings.playouts
            if search.follow(partial(search.agent.told, forest, tree), done, crowd):
                forest.remove(tree)
                del self.searches[tree]

    def _evaluate(self) -> None:
        forest, allowed = self._forest, {}
        for tree, search in self.searches.items():
            settings, made = search.agent.settings, forest.playouts(tree)
            # A batch at a time, as `Search.run` does and for its reason.
            forest.set_playouts(tree, min(settings.playouts, made + settings.batch))
            if made == 0 and search.allowed is not None:
                allowed[tree] = search.allowed
        if forest.collect():
            evaluate(forest, self._lane, self._temperature, allowed)

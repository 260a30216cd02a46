"""Agents that think about games, in other threads than the event loop's."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from kedge.interfaces.web.pages.thoughts import Action, Decision, Question, StopFlag, Thought
from kedge.interfaces.web.play.agents.worker_threads import WorkerThreads
from kedge.interfaces.web.play.game.players import Players
from kedge.interfaces.web.play.game.session import Session

_THREADS = 64  # most only wait for a search that shares the network with others


class AgentPool:
    """All agents of a server, each loaded once; `queue` is the most questions that wait."""

    def __init__(self, rng: np.random.Generator, queue: int) -> None:
        self._players = Players()
        self._threads = WorkerThreads(_THREADS, queue)
        self._rng = rng

    async def decide(
        self,
        session: Session,
        specs: Mapping[int, str],
        watch: Callable[[Thought], None],
        stop: StopFlag,
    ) -> dict[int, Decision]:
        """Return these agents' decisions by seat; fewer only if they are stopped.

        Calls `watch` on the event loop.
        """
        loop, game = asyncio.get_running_loop(), session.game
        state, turn, rng = session.state, len(session.turns), self._rng.spawn(1)[0]

        def report(thought: Thought) -> None:
            if not stop.stopped:
                watch(thought)

        def report_from_thread(thought: Thought) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(report, thought)

        def work() -> dict[int, Decision]:
            if stop.stopped:
                return {}
            agents = {
                seat: (spec, self._players.get(spec, game.name)) for seat, spec in specs.items()
            }
            return game.think(Question(state, agents, turn, rng, report_from_thread, stop))

        return await self._threads.run(work)

    async def referee(self, session: Session) -> Action:
        """Return the referee's action."""
        return await self._threads.run(partial(session.game.referee, session.state))

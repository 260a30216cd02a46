"""Agents that think about games, in other threads than the event loop's."""

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kedge.agents import make_player
from kedge.interfaces.web.pages.thoughts import Action, Decision, Question, StopFlag
from kedge.interfaces.web.play.agents.worker_threads import WorkerThreads
from kedge.interfaces.web.play.game.session import Session
from kedge.specs import Spec

_THREADS = 64  # most only wait for a search that shares the network with others
_KEPT = 24  # agents; each may hold a network of its own


class AgentPool:
    """All agents of a server, each loaded once; `queue` is the most questions that wait."""

    def __init__(self, rng: np.random.Generator, queue: int) -> None:
        self._agents: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._loading = threading.Lock()
        self._threads = WorkerThreads(_THREADS, queue)
        self._rng = rng

    def think(
        self,
        session: Session,
        specs: Mapping[int, Spec],
        stop: StopFlag,
        left: Sequence[float] | None = None,
    ) -> AsyncIterator[Decision]:
        """Yield the decisions of these agents, as `PageGame.think` does, until `stop`.

        With `left`, the seconds of each seat, agents that take a clock as input get theirs.
        """
        game, setup, state, turn = session.game, session.setup, session.state, len(session.turns)
        rng = self._rng.spawn(1)[0]

        def load(seat: int, spec: Spec) -> tuple[str, Any]:
            timed = spec if left is None else game.timed_spec(spec, setup, left[seat])
            return self._agent(timed, game.name)

        def work() -> Iterator[Decision]:
            if not stop.stopped:
                agents = {seat: load(seat, spec) for seat, spec in specs.items()}
                yield from game.think(Question(state, agents, turn, rng, stop))

        return self._threads.each(work())

    async def referee(self, session: Session) -> Action:
        """Return the referee's action."""
        return await self._threads.run(partial(session.game.referee, session.state))

    def _agent(self, spec: Spec, game: str) -> tuple[str, Any]:
        """Return the spec as text, and the `Player` of `game` that it names.

        Clients' specs are checked before.
        """
        text = str(spec)
        with self._loading:
            if (text, game) not in self._agents:
                self._agents[text, game] = make_player(spec, game)
                while len(self._agents) > _KEPT:
                    self._agents.popitem(last=False)
            self._agents.move_to_end((text, game))
            return text, self._agents[text, game]

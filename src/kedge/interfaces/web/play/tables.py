"""All tables of a server: games are begun, found again and thought about here."""

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from kedge.agents.agent import Agent, plays
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import Decision, PageGame, Question, Stop, Thought, Turn
from kedge.interfaces.web.play.players import Players, dialled
from kedge.interfaces.web.play.session import Session
from kedge.interfaces.web.play.store import SessionStore
from kedge.interfaces.web.play.table import Table
from kedge.interfaces.web.play.thinkers import BusyError, Thinkers
from kedge.interfaces.web.schemas import NewSession, ReadRecord, SeatIn

_LIVE = 512  # tables in memory; more cannot be busy at once
_THREADS = 64  # those of chess and Go only wait for a search that they share
_LINE = 2 * _LIVE  # an agent and an adviser a table


class UnknownGameError(InputError):
    """The page does not play it."""


class UnknownSessionError(InputError):
    """No game has this id: it never had, or it has expired."""


class Tables:
    """All games of a server."""

    def __init__(
        self, games: Mapping[str, PageGame], store: SessionStore, seed: int | None = None
    ) -> None:
        self.games, self.store = games, store
        self.players = Players()
        self._rng = np.random.default_rng(seed)
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._thinkers = Thinkers(_THREADS, _LINE)
        self._awake = time.time()
        self.reviewing = asyncio.Semaphore(1)
        """A review keeps the machine busy by itself: one at a time."""

    def game(self, name: str) -> PageGame:
        try:
            return self.games[name]
        except KeyError:
            known = ", ".join(self.games)
            raise UnknownGameError(f"game {name}: not one of {known}") from None

    def readers(self) -> int:
        return sum(len(table.readers) for table in self._tables.values())

    async def open(self, told: NewSession) -> Table:
        """A table for a new game."""
        for seat in told.seats or []:
            dialled(told.game, seat)  # a bad setting is told of before anyone plays
        table = self._seat(await self.begin(told.game, told.setup, told.seats, told.turns))
        table.changed()
        return table

    async def read(self, told: ReadRecord) -> Table:
        """A table for a game from a file."""
        game, rng = self.game(told.game), self._rng.spawn(1)[0]
        for seat in told.seats or []:
            dialled(told.game, seat)

        def opened() -> Session:
            return Session.open(game, game.read(told.record), told.seats, rng)

        table = self._seat(await asyncio.to_thread(opened))
        table.changed()
        return table

    async def begin(
        self,
        game: str,
        setup: dict[str, Any],
        seats: list[SeatIn] | None,
        turns: list[Any],
        rng: np.random.Generator | None = None,
    ) -> Session:
        """A session at no table. Its turns are taken in a thread: there may be thousands."""
        rng = rng or self._rng.spawn(1)[0]
        return await asyncio.to_thread(
            Session.begin, self.game(game), setup, seats, list(turns), rng
        )

    def at(self, id: str) -> Table:
        """The table of a game that was begun, maybe by a server before this one."""
        table = self._tables.get(id)
        if table is None:
            table = self._seat(self._kept(id))
            table.go_on()
        self._tables.move_to_end(id)
        return table

    def remove(self, id: str) -> None:
        table = self.at(id)
        table.close()
        del self._tables[id]
        self.store.remove(id)

    async def think(
        self,
        session: Session,
        seats: list[int],
        watch: Callable[[Thought], None],
        stop: Stop,
        adviser: SeatIn | None = None,
    ) -> dict[int, Decision]:
        """What the agents of some seats, or one in their place, decide.

        `watch` is called on the event loop.
        """
        specs = {
            seat: dialled(session.game.name, adviser or session.seats[seat]).spec for seat in seats
        }
        return await self.ask(session, specs, watch, stop)

    async def ask(
        self,
        session: Session,
        specs: Mapping[int, str],
        watch: Callable[[Thought], None],
        stop: Stop,
    ) -> dict[int, Decision]:
        """What these agents would decide at some seats; less than that only if it is stopped."""
        loop, game = asyncio.get_running_loop(), session.game
        state, turn, rng = session.state.clone(), len(session.turns), self._rng.spawn(1)[0]

        def tell(thought: Thought) -> None:
            if not stop.stopped:
                watch(thought)

        def watched(thought: Thought) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(tell, thought)

        def think() -> dict[int, Decision]:
            if stop.stopped:
                return {}
            agents = {seat: (spec, self._player(game, spec)) for seat, spec in specs.items()}
            return game.think(Question(state, agents, turn, rng, watched, stop))

        return await self._thinkers.run(think)

    async def hear_referee(self, session: Session) -> Turn:
        """The turn that none of the seats takes."""
        return await self._thinkers.run(partial(session.game.referee, session.state.clone()))

    def close(self) -> None:
        for table in self._tables.values():
            table.close()
        self.store.close()

    def _player(self, game: PageGame, spec: str) -> Agent:
        """The agent that `spec` names, if it plays this game."""
        agent = self.players.get(spec)
        if not plays(agent, game.states):
            raise InputError(f"agent {spec}: does not play {game.title}")
        return agent

    def _kept(self, id: str) -> Session:
        document = self.store.load(id)
        if document is None or document.get("game") not in self.games:
            raise UnknownSessionError("no such game here; it may have expired")
        try:
            return Session.from_document(self.games[document["game"]], document, self._awake)
        except InputError as error:
            raise UnknownSessionError(str(error)) from None

    def _seat(self, session: Session) -> Table:
        """A table, in place of the one at which nothing has happened for longest."""
        if len(self._tables) >= _LIVE:
            idle = next((id for id, table in self._tables.items() if not table.busy), None)
            if idle is None:
                raise BusyError(f"{_LIVE} games are being played here; try again in a while")
            self._tables.pop(idle).close()
        table = self._tables[session.id] = Table(session, self)
        return table

"""All tables of a server. Begins and restores games."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import numpy as np

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PageGame
from kedge.interfaces.web.play.agents.agent_pool import AgentPool
from kedge.interfaces.web.play.agents.worker_threads import BusyError
from kedge.interfaces.web.play.game.opening import new_session, open_record
from kedge.interfaces.web.play.game.saving import from_json
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.play.game.store import SessionStore
from kedge.interfaces.web.play.hall import Hall
from kedge.interfaces.web.play.table import Table
from kedge.interfaces.web.schemas import NewSession, ReadRecord

_LIVE = 512  # tables in memory, and so the most that can be busy at once


class UnknownGameError(InputError):
    """The page does not have this game."""


class UnknownSessionError(InputError):
    """No game has this id, or it has expired."""


class Tables:
    """All games of a server."""

    def __init__(
        self, games: Mapping[str, PageGame], store: SessionStore, seed: int | None = None
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self.games = games
        self.hall = Hall(store, AgentPool(self._rng.spawn(1)[0], queue=2 * _LIVE))
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._server_started = time.time()

    def game(self, name: str) -> PageGame:
        """Return the game called `name`."""
        try:
            return self.games[name]
        except KeyError:
            known = ", ".join(self.games)
            raise UnknownGameError(f"unknown game {name}; known: {known}") from None

    async def open(self, new: NewSession) -> Table:
        """Return a table for a new game."""
        game, rng = self.game(new.game), self._rng.spawn(1)[0]

        def opened() -> Session:
            return new_session(game, new.setup, new.seats, new.turns, rng)

        return await self._begin(opened)

    async def read(self, file: ReadRecord) -> Table:
        """Return a table for a game from a file."""
        game, rng = self.game(file.game), self._rng.spawn(1)[0]

        def opened() -> Session:
            return open_record(game, game.read(file.record), file.seats, rng)

        return await self._begin(opened)

    def at(self, id: str) -> Table:
        """Return the table of a game that exists, perhaps since an earlier run of the server."""
        table = self._tables.get(id)
        if table is None:
            table = self._new_table(self._restored(id))
            table.resume()
        self._tables.move_to_end(id)
        return table

    def remove(self, id: str) -> None:
        """Delete a game."""
        table = self.at(id)
        table.close()
        del self._tables[id]
        self.hall.store.remove(id)

    def close(self) -> None:
        for table in self._tables.values():
            table.close()
        self.hall.store.close()

    async def _begin(self, opened: Callable[[], Session]) -> Table:
        """Return a new table. A thread opens the session: there may be many turns."""
        table = self._new_table(await asyncio.to_thread(opened))
        table.changed()
        return table

    def _restored(self, id: str) -> Session:
        document = self.hall.store.load(id)
        if document is None or document.get("game") not in self.games:
            raise UnknownSessionError("unknown game; it may have expired")
        try:
            return from_json(self.games[document["game"]], document, self._server_started)
        except InputError as error:
            raise UnknownSessionError(str(error)) from None

    def _new_table(self, session: Session) -> Table:
        """Return a new table; if there are too many, it replaces the one idle for longest."""
        if len(self._tables) >= _LIVE:
            idle = next((id for id, table in self._tables.items() if not table.busy), None)
            if idle is None:
                raise BusyError(f"server busy: {_LIVE} games in play; try again later")
            self._tables.pop(idle).close()
        table = self._tables[session.id] = Table(session, self.hall)
        return table

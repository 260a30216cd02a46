"""Parts that all tables of a server share."""

import asyncio
from dataclasses import dataclass, field

from kedge.interfaces.web.play.agents.agent_pool import AgentPool
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.store import SessionStore


@dataclass(frozen=True)
class Hall:
    """The store, the threads and the limits of a server's tables."""

    store: SessionStore
    agents: AgentPool
    reviewing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """One review at a time: it keeps the machine busy alone."""
    readers: set[Reader] = field(default_factory=set)
    """The clients that follow games, at all tables."""

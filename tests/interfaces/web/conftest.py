import asyncio

import pytest
from slow_chess import SlowChess
from starlette.testclient import TestClient

from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.interfaces.web.store import SessionStore
from kedge.interfaces.web.tables import Tables


@pytest.fixture
def client():
    """Of the server as it is, its games in memory."""
    with TestClient(make_app(ServerOptions(rate=1e6)), "http://localhost") as client:
        client.base_url = client.base_url.join("/api/v1/")
        yield client


@pytest.fixture
def chess():
    return SlowChess()


@pytest.fixture
def hall(chess):
    """Tables of slow chess; to be used within an event loop."""
    made = []

    def make(path=None):
        made.append(Tables({"chess": chess}, SessionStore(path), seed=0))
        return made[-1]

    yield make
    for tables in made:
        tables.close()


@pytest.fixture
def until():
    """Waits for what other tasks do."""

    async def wait(is_so, seconds=10.0):
        async with asyncio.timeout(seconds):
            while not is_so():
                await asyncio.sleep(0.005)

    return wait

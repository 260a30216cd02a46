"""A server of the page, and Chromium to view it."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from command import KEDGE
from slow_chess import SlowChess
from starlette.testclient import TestClient

from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.interfaces.web.play.game.store import SessionStore
from kedge.interfaces.web.play.tables import Tables

_QUIET = (  # it asks nobody but the page
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_PATIENCE = 20_000  # milliseconds: agents think, and machines are busy


@pytest.fixture(scope="session")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a ``kedge play`` that runs for all tests, without the last slash."""
    server = subprocess.Popen(
        [KEDGE, "play", "--no-browser", "--port", "0"],
        env={**os.environ, "KEDGE_HOME": str(tmp_path_factory.mktemp("page")), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    assert server.stdout is not None
    told = server.stdout.readline()
    assert told.startswith("kedge plays at http://"), told
    yield told.split()[-1].rstrip("/")
    server.send_signal(signal.SIGINT)
    try:
        assert server.wait(10) == 130
    finally:
        server.kill()
        server.stdout.close()


@pytest.fixture(scope="module")
def browser():
    """Chromium; the tests that need it skip where it, or Playwright, is missing.

    Not for the whole session: as long as there is one, its event loop runs in this thread.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium")
    playwright.expect.set_options(timeout=_PATIENCE)
    with playwright.sync_playwright() as library:
        found = library.chromium.launch(executable_path=program, args=list(_QUIET))
        yield found
        found.close()


@pytest.fixture
def new_page(browser, page_server):
    """``new_page(width=360)``: a browser of its own each; at the end nothing may have gone wrong.

    Errors in the console or in scripts, and requests that leave the machine, fail the test.
    """
    wrong, contexts = [], []
    here = urlsplit(page_server).netloc

    def make(width=1280, height=850, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, base_url=page_server, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: leaves(one.url) and wrong.append(one.url))
        page.on("websocket", lambda one: leaves(one.url) and wrong.append(one.url))
        return page

    def leaves(url):
        return urlsplit(url).scheme not in ("blob", "data") and urlsplit(url).netloc != here

    yield make
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture
def page(new_page):
    """One page, 1280 by 850."""
    return new_page()


@pytest.fixture
def client():
    """A client of a server that keeps its games in memory."""
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
    """``await until(condition)``: wait until other tasks make a condition true."""

    async def wait(is_so, seconds=10.0):
        async with asyncio.timeout(seconds):
            while not is_so():
                await asyncio.sleep(0.005)

    return wait

"""The page as a browser has it: a server of its own, and Chromium to look at it."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from command import KEDGE

_QUIET = (  # it asks nobody but the page
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


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
        assert server.wait(10) == 0
    finally:
        server.kill()
        server.stdout.close()


@pytest.fixture(scope="session")
def browser():
    """Chromium; the tests that need it skip where it, or Playwright, is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium")
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
        page.set_default_timeout(10_000)
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

"""A game of another package, in a browser."""

import socket
import threading

import pytest
import tiny_nim
import uvicorn

from kedge.interfaces.web.app import ServerOptions, make_app

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect

BROKEN = "import { nothing } from './nowhere.js';"


class _Server(uvicorn.Server):
    """A server in a thread of this program, where the catalogue is patched."""

    def __enter__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.thread = threading.Thread(target=self.run, kwargs={"sockets": [self.listener]})
        self.thread.start()
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __exit__(self, *error):
        self.should_exit = True
        self.thread.join()
        self.listener.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("nim")


@pytest.fixture(scope="module")
def page_server(folder):
    with pytest.MonkeyPatch.context() as patch:
        tiny_nim.offer(patch, folder)
        app = make_app(ServerOptions(rate=1e6, seed=0))
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        with _Server(config) as address:
            yield address


def test_it_is_offered(page):
    page.goto("/")
    expect(page.locator(".games li").last).to_contain_text("Take one to three matches")
    page.get_by_role("navigation").get_by_role("link", name="Nim").click()
    expect(page.get_by_role("heading", name="Nim")).to_be_visible()
    expect(page.get_by_label("Opponent")).to_have_value("nim-expert")
    expect(page.locator("input[type=range]")).to_have_count(0)


def test_it_is_played_to_the_end(page):
    page.goto("/#/nim")
    page.get_by_label("Matches").fill("6")
    page.get_by_role("button", name="Begin").click()
    heap = page.locator(".heap")
    expect(heap).to_have_text("||||||")
    assert heap.evaluate("node => getComputedStyle(node).textAlign") == "center"
    expect(page.locator("main")).to_have_class("table game-nim")
    expect(heap).to_be_visible()
    expect(page.locator(".side .who").first).to_have_text("nim-expert")
    page.get_by_role("switch").check()
    expect(page.locator(".why tbody th").first).to_have_text("take 2")
    expect(page.locator(".why .key")).to_contain_text("chance")
    page.get_by_role("button", name="take 1").click()
    expect(page.get_by_role("img", name="4 matches")).to_be_visible()
    # Advice is there, though it overtakes the answer to the move.
    expect(page.locator(".why h2")).to_have_text("Your move")
    expect(page.locator(".why tbody th").first).to_have_text("take 1")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("img", name="6 matches")).to_be_visible()
    page.get_by_role("button", name="take 3").click()
    expect(page.locator("p.status")).to_have_text("Second wins")
    assert [turn.inner_text() for turn in page.locator(".turns .move").all()] == [
        "take 3",
        "take 3",
    ]
    expect(page.get_by_role("button", name="Review the game")).to_have_count(0)
    # The next game remembers the choices.
    page.get_by_role("link", name="New game").click()
    expect(page.get_by_label("Matches", exact=True)).to_have_value("6")


def test_the_agent_is_changed_and_sides_are_switched(page):
    seats = [{"human": True}, {"agent": "nim-expert"}]
    game = page.request.post("/api/v1/sessions", data={"game": "nim", "seats": seats}).json()
    page.goto(f"/#/s/{game['id']}")
    page.get_by_label("How Second plays").select_option("nim-expert(slow=1)")
    expect(page.locator(".side .who").first).to_have_text("nim-expert(slow=1)")
    page.get_by_label("How Second plays").select_option("nim-expert")
    expect(page.locator(".side .who").first).to_have_text("nim-expert")
    page.get_by_role("button", name="Switch sides").click()
    expect(page.locator("p.status")).to_contain_text("Second to move")
    expect(page.get_by_role("img", name="4 matches")).to_be_visible()
    page.get_by_role("button", name="take 1").click()
    expect(page.locator("p.status")).to_have_text("First wins")
    page.locator(".turns .move").first.click()
    page.get_by_role("button", name="Ask kedge").click()
    expect(page.locator(".why tbody tr")).to_have_count(3)


def test_a_telephone_has_room_for_it(new_page):
    page = new_page(width=360, height=740)
    page.goto("/#/nim")
    page.get_by_role("button", name="Begin").click()
    page.locator(".heap").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_board_that_fails_takes_no_other_game_down(browser, page_server, folder):
    (folder / "nim.js").write_text(BROKEN)
    page = browser.new_page(base_url=page_server)
    try:
        page.goto("/")
        expect(page.get_by_role("alert")).to_contain_text("The board of Nim does not load")
        expect(page.get_by_role("link", name="Chess").first).to_be_visible()
        assert page.get_by_role("link", name="Nim").count() == 0
    finally:
        page.close()
        (folder / "nim.js").write_text(tiny_nim.BOARD)

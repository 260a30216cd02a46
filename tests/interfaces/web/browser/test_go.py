"""Go on the page, as a person with a browser plays it."""

import pytest

LINES = "ABCDEFGHJKLMNOPQRST"
MARGIN = 1.25  # as the board has it


@pytest.fixture
def expect():
    return pytest.importorskip("playwright.sync_api").expect


class Board:
    """The board of a page, by the names of its points."""

    def __init__(self, page, size):
        self.page, self.size = page, size
        self.svg = page.get_by_role("application")
        self.svg.wait_for()

    def place(self, name):
        box = self.svg.bounding_box()
        unit = box["width"] / (self.size - 1 + 2 * MARGIN)
        x, y = LINES.index(name[0]), self.size - int(name[1:])
        return box["x"] + (MARGIN + x) * unit, box["y"] + (MARGIN + y) * unit

    def click(self, name):
        self.page.mouse.click(*self.place(name))


def begin(page, size=19, **chosen):
    page.goto("/#/go")
    page.get_by_label(f"{size}×{size}", exact=True).check()
    for name, value in chosen.items():
        page.get_by_label(name.title(), exact=True).fill(value)
    page.get_by_role("button", name="Begin").click()
    return Board(page, size)


def test_two_people_play_to_the_count(page, expect):
    page.goto("/#/go")
    page.get_by_label("everyone").check()
    board = begin(page, 9, komi="6.5")
    turns, status = page.locator(".turns .move"), page.locator(".status")
    moves = [f"{column}{row}" for row in range(1, 10) for column in "EF"] + ["B5"]
    for count, name in enumerate(moves, 1):
        board.click(name)
        expect(turns).to_have_count(count)
    board.click("B5")
    expect(turns).to_have_count(len(moves))  # a stone is there
    page.get_by_role("button", name="Pass", exact=True).click()
    expect(status).to_have_text("White passes. Black to move")
    page.get_by_role("button", name="Pass", exact=True).click()
    expect(status).to_have_text("Black is ahead by 2.5. White: click dead groups, then accept")
    expect(board.svg.locator(".territory.w")).to_have_count(27)
    board.click("E5")
    expect(board.svg.locator(".stone.dead")).to_have_count(10)
    expect(status).to_contain_text("White is ahead by")
    board.click("B5")
    expect(board.svg.locator(".stone.dead")).to_have_count(0)
    page.get_by_role("button", name="Accept").click()
    expect(status).to_contain_text("Black: click dead groups")
    page.get_by_role("button", name="Accept").click()
    expect(status).to_have_text("Black wins by 2.5")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save .sgf").click()
    assert "RE[B+2.5]" in saved.value.path().read_text()


def test_a_small_board_against_the_model(page, expect):
    page.goto("/#/go")
    page.get_by_label("9×9", exact=True).check()
    expect(page.get_by_text("The model learned on 19×19")).to_be_visible()
    page.get_by_role("slider").fill("0")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("not measured")).to_have_count(2)
    Board(page, 9).click("E5")
    expect(page.locator(".turns .move")).to_have_count(2)
    expect(page.get_by_role("region", name="Why White").locator("tbody tr")).to_have_count(8)


def test_keys_against_the_model(page, expect):
    page.goto("/#/go")
    page.get_by_role("slider").fill("0")
    page.get_by_role("button", name="Begin").click()
    board, turns = Board(page, 19), page.locator(".turns .move")
    board.svg.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_text("L12", exact=True)).to_be_attached()
    page.keyboard.press("Enter")
    expect(turns).to_have_count(2)
    expect(turns.first).to_have_text("L12")
    expect(page.get_by_role("region", name="Why White").locator("tbody tr")).to_have_count(8)
    page.get_by_role("switch").check()
    mine = page.get_by_role("region", name="Your move")
    expect(mine.locator("tbody tr")).to_have_count(8)
    expect(board.svg.locator(".heat .people").first).to_be_attached()
    mine.locator("tbody tr").first.hover()
    expect(board.svg.locator(".line-stone text").first).to_have_text("1")
    board.svg.focus()
    page.keyboard.press("p")
    expect(turns).to_have_count(4)
    expect(turns.nth(2)).to_have_text("pass")


def test_a_finger_aims_first(new_page, expect):
    page = new_page(width=360, height=740, has_touch=True)
    page.goto("/#/go")
    page.get_by_label("everyone").check()
    page.get_by_role("button", name="Begin").click()
    board, turns = Board(page, 19), page.locator(".turns .move")
    for name in ("Q16", "D4"):
        page.touchscreen.tap(*board.place(name))
        expect(page.get_by_role("button", name=f"Play {name}")).to_be_visible()
    expect(turns).to_have_count(0)
    page.touchscreen.tap(*board.place("D4"))
    expect(turns).to_have_count(1)
    page.touchscreen.tap(*board.place("Q16"))
    page.get_by_role("button", name="Play Q16").tap()
    expect(turns).to_have_count(2)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, "nothing hangs over the edge"


def test_a_small_board_from_a_file(page, expect, tmp_path):
    (tmp_path / "small.sgf").write_text("(;SZ[9];B[ee];W[ec])")
    page.goto("/#/go")
    page.get_by_label("Open a file").set_input_files(tmp_path / "small.sgf")
    expect(page.locator(".status")).to_contain_text("Black to move")
    expect(Board(page, 9).svg.locator(".stone")).to_have_count(2)


def test_an_opponent_of_a_rank(page, expect):
    page.goto("/#/go")
    rank = page.get_by_label("Like people of the rank")
    expect(rank).to_have_value("")
    rank.select_option("3d")
    expect(page.locator(".new .hint")).to_contain_text("larger model")
    page.get_by_label("kedge plays at").fill("0")
    begin(page, 9)
    expect(page.locator(".spec")).to_have_text('go-large(rank="3d", temperature=1)')
    expect(page.locator(".side .who").first).to_have_text("kedge at 0, like 3d")
    expect(page.get_by_text("not measured")).to_have_count(2)
    expect(page.get_by_text("Measured with the dial")).to_have_count(0)
    page.get_by_text("The numbers behind it").click()
    behind = page.locator(".numbers").get_by_label("Like people of the rank")
    behind.select_option("pro")
    expect(page.locator(".spec")).to_have_text('go-large(rank="pro", temperature=1)')
    behind.select_option("")
    expect(page.locator(".spec")).to_have_text("go(temperature=1)")
    expect(page.locator(".side .who").first).to_have_text("kedge at 0")


def test_a_review_for_people_of_a_rank(page, expect):
    seats = [{"human": True}, {"settings": {"rank": "3d"}}]
    told = {"game": "go", "setup": {"size": 9}, "seats": seats, "turns": ["E5", "C3"]}
    id = page.request.post("/api/v1/sessions", data=told).json()["id"]
    page.goto(f"/#/s/{id}")
    page.get_by_role("button", name="Review the game").click()
    expect(page.locator(".chosen")).to_contain_text("% of 3d players", timeout=60_000)
    annotated = page.request.get(f"/api/v1/sessions/{id}/record?annotated=true").text()
    assert "% of 3d players" in annotated

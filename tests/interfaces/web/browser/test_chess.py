"""Chess on the page, as a person with a browser plays it."""

import io
import re

import chess
import chess.pgn
import pytest

#: White queens and mates; black never has a choice.
_ENDING = "8/4P3/8/8/8/5K2/7p/7k w - - 0 1"
_SCHOLAR = ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]
_PERSON = {"human": True}
_LIKE_A_PERSON = {"dial": 0}


class Table:
    """A page with a game on it."""

    def __init__(self, page):
        self.page = page
        self.board = page.get_by_role("application")
        self.board.wait_for()

    def moves(self):
        return [name.strip() for name in self.page.locator("button.move").all_inner_texts()]

    def wait_for_moves(self, count):
        """Wait for so many moves, and return them."""
        for _ in range(200):
            if len(moves := self.moves()) == count:
                return moves
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{moves}, not {count} moves")

    def square(self, name):
        box = self.board.bounding_box()
        size = box["width"] / 8
        column, row = "abcdefgh".index(name[0]), 8 - int(name[1])
        return box["x"] + (column + 0.5) * size, box["y"] + (row + 0.5) * size

    def click(self, start, end):
        self.page.mouse.click(*self.square(start))
        self.page.mouse.click(*self.square(end))

    def drag(self, start, end):
        self.page.mouse.move(*self.square(start))
        self.page.mouse.down()
        self.page.mouse.move(*self.square(end), steps=4)
        self.page.mouse.up()

    def says(self, words):
        self.page.get_by_role("status").filter(has_text=words).wait_for()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def sit(new_page):
    """``sit(turns=[…])``: a page with a game after these turns; a person has White."""

    def make(page=None, *, setup=None, turns=(), seats=(_PERSON, _LIKE_A_PERSON)):
        page = page or new_page()
        told = {"game": "chess", "setup": setup or {}, "turns": list(turns), "seats": list(seats)}
        answer = page.request.post("/api/v1/sessions", data=told)
        assert answer.ok, answer.text()
        page.goto(f"/#/s/{answer.json()['id']}")
        return Table(page)

    return make


def test_game_to_its_end(page):
    page.goto("/")
    page.get_by_role("link", name="Chess With").click()
    page.get_by_label("kedge plays").press("Home")
    page.get_by_label("From a position").fill(_ENDING)
    page.get_by_role("button", name="Begin").click()
    table = Table(page)
    table.drag("e7", "e8")
    page.get_by_role("dialog", name="Promote to").wait_for()
    page.keyboard.press("Enter")  # the queen is offered first
    table.wait_for_moves(2)
    table.says("White to move")
    table.click("e8", "e1")
    table.says("White wins: checkmate")
    assert table.moves() == ["e8=Q", "Kg1", "Qe1#"]
    mated = page.locator(".check")
    assert (mated.get_attribute("cx"), mated.get_attribute("cy")) == ("6.5", "7.5")
    assert page.locator(".sheet li").count() == 2


def test_a_refused_move_goes_back(sit):
    table = sit()
    pawn = table.page.locator('.piece[style*="translate(4px, 6px)"]')
    table.page.evaluate("() => { window.kept = fetch; window.fetch = () => Promise.reject(); }")
    table.click("e2", "e4")
    table.page.get_by_role("alert").filter(has_text="does not answer").wait_for()
    pawn.wait_for()
    table.page.evaluate("() => { window.fetch = window.kept; }")
    table.click("e2", "e4")
    table.wait_for_moves(2)
    assert not pawn.count()


def test_keys_alone(page):
    page.goto("/#/chess")
    page.get_by_role("heading", name="Chess").wait_for()
    _tab_to(page, "Begin")
    page.keyboard.press("Enter")
    table = Table(page)
    _tab_to(page, "Chess board")
    for key in ("Enter", "ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    assert table.wait_for_moves(2)[0] == "e4"
    _tab_to(page, "Undo")
    page.keyboard.press("Space")
    table.wait_for_moves(0)


def _tab_to(page, name):
    focused = "document.activeElement.ariaLabel || document.activeElement.innerText || ''"
    for _ in range(40):
        if page.evaluate(focused).startswith(name):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {name}")


def test_dial_within_a_game(sit):
    table = sit(turns=["e2e4", "e7e5"])
    table.page.get_by_role("slider", name=re.compile("How Black plays")).press("End")
    table.page.get_by_text("kedge at 100").wait_for()
    table.page.get_by_text("The numbers behind it").click()
    assert "c_puct=0.5" in table.page.locator(".spec").inner_text()
    playouts = table.page.get_by_label("playouts per move")
    playouts.fill("2")
    playouts.press("Enter")
    table.page.locator(".spec", has_text="playouts=2").wait_for()
    table.click("g1", "f3")
    table.wait_for_moves(4)


def test_reload_loses_nothing(sit):
    table = sit(turns=["e2e4", "c7c5"])
    table.click("g1", "f3")
    moves = table.wait_for_moves(4)
    table.page.reload()
    again = Table(table.page)
    assert again.wait_for_moves(4) == moves
    again.says("White to move")
    again.drag("f1", "e2")
    again.wait_for_moves(6)


def test_two_browsers_at_one_game(sit, new_page):
    one = sit(seats=(_PERSON, _PERSON))
    other = new_page(width=360, height=740)
    other.goto(one.page.url)
    other = Table(other)
    one.click("d2", "d4")
    assert other.wait_for_moves(1) == ["d4"]
    other.page.get_by_text("Flip").click()  # black to move has the board turned
    other.drag("g8", "f6")
    assert one.wait_for_moves(2) == ["d4", "Nf6"]
    other.press("Undo")
    assert one.wait_for_moves(1) == ["d4"]


@pytest.mark.parametrize("seat", [0, 1])
def test_the_board_is_turned_for_the_seat_that_looks(sit, seat):
    table = sit(seats=(_PERSON, _PERSON))
    table.page.goto(f"{table.page.url}/{seat}")
    table = Table(table.page)
    table.says("White to move")
    king = table.page.locator("image[href$='wK.svg']").bounding_box()
    board = table.board.bounding_box()
    assert (king["y"] < board["y"] + board["height"] / 2) == (seat == 1)


def test_promoting_by_mouse_and_keys(sit):
    table = sit(setup={"fen": "8/P6k/8/8/8/8/7K/8 w - - 0 1"}, seats=(_PERSON, _PERSON))
    chooser = table.page.get_by_role("dialog", name="Promote to")
    table.drag("a7", "a8")
    chooser.wait_for()
    table.page.mouse.click(*table.square("e4"))  # beside the pieces: it is not meant
    chooser.wait_for(state="hidden")
    assert table.moves() == []
    table.click("a7", "a8")
    queen = chooser.get_by_role("button", name="queen").bounding_box()
    x, y = table.square("a8")
    assert queen["x"] < x < queen["x"] + queen["width"]
    assert queen["y"] < y < queen["y"] + queen["height"]
    table.page.keyboard.press("Shift+Tab")  # which stays among the pieces
    assert table.page.evaluate("document.activeElement.ariaLabel") == "bishop"
    table.page.keyboard.press("Tab")
    table.page.keyboard.press("Enter")
    assert table.wait_for_moves(1) == ["a8=Q"]
    assert table.page.evaluate("document.activeElement.getAttribute('role')") == "application"


def test_pointing_at_a_move_shows_its_position(sit):
    table = sit(seats=(_PERSON, {"dial": 1}))
    table.drag("e2", "e4")
    table.wait_for_moves(2)
    pieces = (
        "[...document.querySelectorAll('.piece')].map((one) => one.style.transform).sort().join()"
    )
    now = table.page.evaluate(pieces)
    row = table.page.locator(".why tbody tr").first
    row.hover()
    table.page.wait_for_function(f"(now) => {pieces} !== now", arg=now)
    assert len(table.moves()) == 2
    table.page.mouse.move(5, 5)
    table.page.wait_for_function(f"(now) => {pieces} === now", arg=now)


def test_resigning_is_asked_about(sit):
    table = sit()
    table.press("Resign")
    table.press("Cancel")
    assert not table.page.get_by_role("dialog").is_visible()
    table.press("Resign")
    table.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    table.says("Black wins: White resigns")


def test_undoing_a_resignation_keeps_the_last_move(sit):
    table = sit(turns=_SCHOLAR[:4])
    table.press("Resign")
    table.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    table.says("Black wins: White resigns")
    table.press("Undo")
    table.says("White to move")
    assert len(table.moves()) == 4


def test_unfinished_game_of_others_is_looked_through(new_page, tmp_path):
    text = '[White "Ann"]\n[Black "Ben"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 *\n'
    (tmp_path / "game.pgn").write_text(text)
    page = new_page()
    page.goto("/#/chess")
    page.get_by_label("Open a file").set_input_files(tmp_path / "game.pgn")
    table = Table(page)
    table.says("the record ends here")
    assert table.wait_for_moves(3) == ["e4", "e5", "Nf3"]
    assert page.locator(".side .who").all_inner_texts() == ["Ben", "Ann"]
    with page.expect_download() as saving:
        table.press("Save .pgn")
    saving.value.save_as(tmp_path / "again.pgn")
    assert '[Result "*"]' in (tmp_path / "again.pgn").read_text()
    page.get_by_role("button", name="Play from here").click()
    page.get_by_text("From the position after 2. Nf3").wait_for()


def test_link_restores_the_position(sit, new_page):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    table = sit(page, turns=_SCHOLAR[:4])
    table.press("Copy link")
    table.page.get_by_role("button", name="Copied").wait_for()
    link = table.page.evaluate("navigator.clipboard.readText()")
    elsewhere = new_page()
    elsewhere.goto(link)
    restored = Table(elsewhere)
    assert restored.wait_for_moves(4) == table.moves()
    assert restored.page.url != table.page.url


def test_record_out_and_in(sit, tmp_path):
    table = sit(turns=_SCHOLAR)
    with table.page.expect_download() as saving:
        table.press("Save .pgn")
    saving.value.save_as(tmp_path / "game.pgn")
    game = chess.pgn.read_game(io.StringIO((tmp_path / "game.pgn").read_text()))
    assert [move.uci() for move in game.mainline_moves()] == _SCHOLAR
    assert game.headers["Result"] == "1-0"
    table.page.get_by_role("link", name="New game").click()
    table.page.get_by_label("Open a file").set_input_files(tmp_path / "game.pgn")
    again = Table(table.page)
    assert again.wait_for_moves(7)[-1] == "Qxf7#"
    again.says("White wins: checkmate")


def test_finished_game_of_others(new_page, tmp_path):
    """Names and the result are shown; it is played on from any position, in a game of its own."""
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    (tmp_path / "game.pgn").write_text(
        '[White "Morphy"]\n[WhiteElo "2690"]\n[Black "Count Isouard"]\n[Result "1-0"]\n\n'
        "1. e4 e5 2. Nf3 d6 1-0\n"
    )
    page.goto("/#/chess")
    page.get_by_label("Open a file").set_input_files(tmp_path / "game.pgn")
    table = Table(page)
    table.says("White wins")
    for who in ("Morphy (2690)", "Count Isouard"):
        page.locator(".side", has_text=who).wait_for()
    assert page.get_by_role("button", name="Undo").count() == 0
    page.get_by_role("button", name="Nf3").click()
    page.get_by_role("button", name="Ask kedge").click()
    page.get_by_role("heading", name="Black to move").wait_for()
    page.locator(".why tbody tr").first.wait_for()
    table.press("Copy link")
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    table.press("Play from here")
    page.get_by_text("From the position after 2. Nf3.").wait_for()
    page.get_by_label("everyone").check()
    page.get_by_role("button", name="Begin").click()
    Table(page).says("Black to move")
    other = new_page()
    other.goto(link)
    Table(other).says("White wins")


def test_earlier_positions(sit):
    table = sit(turns=_SCHOLAR[:6])
    page = table.page
    page.get_by_role("button", name="Bc4").click()
    table.says("After 2. Bc4")
    assert page.locator(".move[aria-current]").inner_text() == "Bc4"
    table.click("b8", "c6")  # only looked at
    page.get_by_role("list", name="Moves").press("ArrowRight")
    table.says("After 2… Nc6")
    page.get_by_role("list", name="Moves").press("Home")
    table.says("Before the first move")
    table.press("Back to the game")
    table.says("White to move")
    table.click("h5", "f7")
    assert table.wait_for_moves(7)[-1] == "Qxf7#"


def test_review(sit, tmp_path):
    table = sit(turns=_SCHOLAR)
    page = table.page
    table.press("Review the game")
    page.get_by_role("img", name="Expected score").wait_for(timeout=30_000)
    assert table.moves()[5] == "Nf6??"
    page.get_by_role("button", name="Nf6??").click()
    table.says("After 3… Nf6")
    chosen = page.locator(".chosen")
    assert "of a win" in chosen.inner_text()
    assert "2400" in chosen.inner_text()
    assert "plays like" in page.locator(".players").inner_text()
    box = page.locator(".curve svg").bounding_box()
    page.mouse.click(box["x"] + 1, box["y"] + 5)
    table.says("Before the first move")
    with page.expect_download() as saving:
        table.press("Save review")
    saving.value.save_as(tmp_path / "review.pgn")
    assert "$4" in (tmp_path / "review.pgn").read_text()


def test_nothing_jumps_while_it_thinks(sit):
    """Thoughts come and go, and all that can be clicked stays where it is."""
    strong = {"dial": 1, "settings": {"playouts": 3000}}
    table = sit(turns=["e2e4", "e7e5", "g1f3", "b8c6"], seats=(_PERSON, strong))
    page = table.page
    places, visits = page.locator(".actions, .switch, .why"), page.locator(".why td.visits")
    before = [place.bounding_box()["y"] for place in places.all()]
    table.click("f1", "b5")
    page.locator(".working").wait_for()
    seen = {
        sum(map(int, visits.all_inner_texts())) for _ in range(8) if not page.wait_for_timeout(60)
    }
    assert len(seen) > 2  # they fill in
    assert [place.bounding_box()["y"] for place in places.all()] == before
    table.wait_for_moves(6)
    assert [place.bounding_box()["y"] for place in places.all()] == before


def test_new_game_remembers(page):
    page.goto("/#/chess")
    page.get_by_label("Black").check()
    page.get_by_label("kedge plays").press("Home")
    rating = page.get_by_label("Like people rated")
    rating.press("Home")
    page.get_by_role("button", name="Begin").click()
    Table(page).wait_for_moves(1)
    assert "elo=800" in page.locator(".spec").text_content()
    page.get_by_role("link", name="New game").click()
    assert page.get_by_label("Black").is_checked()
    assert page.get_by_label("Like people rated").input_value() == "800"


def test_score_sheet_of_a_tablet_takes_what_it_needs(sit, new_page):
    page = sit(new_page(820, 1180), turns=_SCHOLAR[:6]).page
    sheet, dial = page.locator(".turns").bounding_box(), page.locator(".dial").bounding_box()
    assert sheet["height"] < 150
    assert sheet["y"] == dial["y"]  # beside it


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 850), (2560, 1400)])
def test_fits(sit, new_page, width, height):
    table = sit(new_page(width, height), turns=_SCHOLAR[:6])
    page = table.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    board, buttons = table.board.bounding_box(), page.locator(".actions").bounding_box()
    assert buttons["y"] + buttons["height"] <= height
    assert board["width"] >= min(0.9 * width, 0.6 * height)

"""Hanabi and Blotto in Chromium, as people play them."""

import re

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect


# The game is over, or it is one's own turn again.
NEXT = """seen => document.querySelector('.ending') ||
    (document.querySelector('.hand.to-move .who')?.textContent === 'you' &&
     document.querySelectorAll('.turns li').length > seen)"""


def choose(page, hand, slot, move):
    """Click a card, and then what to do with it."""
    page.locator(".hand").nth(hand).locator(".slot").nth(slot).click()
    page.locator(".choices button:enabled").filter(has_text=re.compile(move)).last.click()


def test_a_game_of_hanabi_to_its_end(page):
    page.goto("/#/hanabi")
    page.locator("form.new input[type=range]").fill("0")
    page.get_by_role("button", name="Begin").click()
    bob, mine = page.locator(".hand").nth(0), page.locator(".hand").nth(1)
    expect(mine.locator(".face.hidden")).to_have_count(5)
    expect(bob.locator(".face.hidden")).to_have_count(0)
    bob.locator(".slot").first.click()
    hint = page.locator(".choices button").first
    hint.hover()
    touched = bob.locator(".slot.pointed").count()
    assert f"(touches {touched})" in hint.inner_text()
    hint.click()
    page.wait_for_function(NEXT, arg=1)
    while not page.locator(".ending").count():
        seen = page.locator(".turns li").count()
        # Bob may have discarded, and then nobody else may while all hints are there.
        choose(page, 1, 0, "Play|Discard" if seen == 2 else "Play")
        page.wait_for_function(NEXT, arg=seen + 1)
    expect(page.locator(".face.hidden")).to_have_count(0)  # all is seen at the end
    score = page.locator(".ending strong").inner_text()
    expect(page.locator("p.status")).to_contain_text(f"{score} of 25")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save .json").click()
    assert saved.value.suggested_filename == "kedge-hanabi.json"


def test_review_of_hanabi(page, tmp_path):
    cards = [(rank, colour) for rank in (5, 4, 4, 3, 3, 2, 2, 1, 1, 1) for colour in "RYGWB"]
    told = {
        "game": "hanabi",
        "setup": {"deck": " ".join(f"{colour}{rank}" for rank, colour in cards)},
        "seats": [{"human": True}] * 2,
        "turns": ["tell player 1 4s", "play card 1", "play card 1", "play card 1"],
    }
    id = page.request.post("/api/v1/sessions", data=told).json()["id"]
    page.goto(f"/#/s/{id}")
    page.get_by_role("button", name="Review the game").click()
    page.get_by_role("img", name="Expected result").wait_for(timeout=30_000)
    page.locator(".turns button").nth(1).click()
    decided = page.locator(".decided")
    expect(decided).to_contain_text("2. Bob: play card 1")
    expect(decided).to_contain_text("of people")
    expect(decided.locator("tbody tr").first.locator("td")).to_have_count(3)
    expect(page.locator(".players tbody tr")).to_have_count(2)
    if page.locator(".moments button").count():
        page.locator(".moments button").first.click()
        # After that move, which may be the one that ended the game.
        expect(page.locator("p.status")).to_contain_text(re.compile("After |the last life is lost"))
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save review").click()
    saving.value.save_as(tmp_path / "review.json")
    assert '"notes"' in (tmp_path / "review.json").read_text()


def test_hanabi_by_keys_alone_and_covered_between_people(new_page):
    page = new_page(width=360, height=740)
    page.goto("/#/hanabi")
    page.get_by_label("Players").select_option("3")
    page.get_by_role("button", name="Begin").click()
    for name in ("Alice", "Bob"):
        page.get_by_role("button", name=f"I am {name}, show").press("Enter")
        own = page.locator(".hand").nth(2).locator(".slot").first
        expect(page.locator(".hand").nth(2)).to_contain_text(f"{name} you")
        own.press("Enter")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        page.locator(":focus", has_text="Play card 1").press("Enter")
        page.locator(".cover").wait_for()
        expect(page.locator(".hand")).to_have_count(0)
    table = page.url
    cathy = new_page()
    cathy.goto(f"{table}/2")
    expect(cathy.locator(".hand").nth(2).locator(".face.hidden")).to_have_count(5)
    choose(cathy, 0, 0, "Tell Alice")
    page.get_by_role("button", name="I am Alice, show").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_advice_is_hidden_from_others_at_the_same_screen(page):
    """Advice depends on the cards that one sees, which are the other's."""
    seats = [{"human": True, "dial": 0}] * 2
    id = page.request.post("/api/v1/sessions", data={"game": "hanabi", "seats": seats}).json()["id"]
    page.goto(f"/#/s/{id}")
    page.get_by_role("switch").check()
    page.get_by_role("button", name="I am Alice, show").click()
    page.locator(".why tbody tr").first.wait_for()
    choose(page, 1, 0, "Play")
    page.get_by_role("button", name="I am Bob, show").click()
    page.get_by_role("heading", name="Your move").wait_for()
    page.get_by_label("First position").click()
    expect(page.locator(".why")).to_contain_text("once the game is over")
    expect(page.locator(".why tbody tr")).to_have_count(0)


def test_a_match_of_blotto(page, tmp_path):
    page.goto("/#/blotto")
    page.get_by_label("Rounds").fill("2")
    page.get_by_role("button", name="Begin").click()
    counts = page.locator(".field output")
    page.get_by_role("button", name="Field 1: one more").click()
    expect(counts).to_have_text(["4", "3", "3"])
    page.get_by_label("Field 2", exact=True).press("End")
    expect(counts).to_have_text(["0", "10", "0"])
    page.get_by_label("Field 2", exact=True).press("ArrowLeft")
    expect(counts).to_have_text(["1", "9", "0"])
    for last in (1, 2):
        page.get_by_role("button", name="Send the troops").click()
        page.locator(".turns li").nth(last - 1).wait_for()
    expect(page.locator(".turns li").first).to_contain_text("1-9-0 : ")
    expect(page.locator("p.status")).to_have_text(re.compile("wins|Draw"))
    expect(page.locator(".troops")).to_have_count(1)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save .json").click()
    saved.value.save_as(tmp_path / "match.json")
    page.goto("/#/blotto")
    page.get_by_label("Open a file").set_input_files(tmp_path / "match.json")
    expect(page.locator(".turns li").first).to_contain_text("1-9-0 : ")

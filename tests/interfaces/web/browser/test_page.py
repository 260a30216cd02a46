"""Parts that all games' pages share: new game form, the dial's figures, links, widths, focus."""

import pytest

from kedge import catalogue

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect

GAMES = catalogue.names("page")
SHIFTS = """
() => new Promise((resolve) => {
  const seen = new PerformanceObserver((list) => {
    resolve(list.getEntries().reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0));
  });
  seen.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(0), 300);
})
"""


@pytest.mark.parametrize(("game", "clock"), [("chess", "5 + 0"), ("go", "10 + 10")])
def test_clocks_are_chosen(page, game, clock):
    page.goto(f"/#/{game}")
    page.get_by_label("Clock").select_option(clock)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("timer").first).to_contain_text(f"{clock.split()[0]}:00")
    # The next game is offered the same, and says so.
    page.get_by_role("link", name="New game").click()
    expect(page.get_by_label("Clock")).to_have_value(clock)


def test_remembered_options_are_shown(page):
    page.goto("/#/diplomacy")
    page.get_by_label("It ends").select_option("1903")
    page.get_by_role("button", name="Begin").click()
    page.locator("svg.map .unit").first.wait_for()
    page.get_by_role("link", name="New game").click()
    expect(page.get_by_label("It ends")).to_have_value("1903")


def test_figures_say_on_what_they_were_measured(page):
    """Between two settings both figures stand, each with its own sample."""
    seats = [{"human": True}] + [{"dial": 0.5}] * 6
    told = page.request.post("/api/v1/sessions", data={"game": "diplomacy", "seats": seats}).json()
    page.goto(f"/#/s/{told['id']}")
    strength = told["seats"][1]["strength"]
    assert len({(one["sample"], one["counted"]) for one in strength}) == 2
    small = page.locator(".measured small").nth(1)
    for one in strength:
        expect(small).to_contain_text(f"{one['sample']:,} {one['counted']}")
    page.goto("/#/chess")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".measured small").nth(1)).to_contain_text("draws as half; 200 games")
    expect(page.locator(".dial .hint")).to_have_count(0)
    page.get_by_text("The numbers behind it").click()
    page.get_by_label("playouts per move").fill("8")
    page.get_by_label("playouts per move").press("Enter")
    expect(page.locator(".dial .hint")).to_contain_text("not with those of this game")


def test_the_people_that_the_dial_imitates(page):
    page.goto("/#/blotto")
    expect(page.locator(".ends")).to_contain_text("like chance")


@pytest.mark.parametrize("game", GAMES)
def test_forms_and_tables_fit_a_telephone(new_page, game):
    page = new_page(width=360, height=740)
    page.goto(f"/#/{game}")
    begin = page.get_by_role("button", name="Begin")
    begin.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    begin.click()
    page.get_by_role("switch").check()
    page.locator(".why tbody tr").first.wait_for(timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("game", GAMES)
def test_nothing_shifts_as_a_game_is_opened(new_page, game):
    page = new_page(width=360, height=740)
    seats = {"seats": [{"human": True}] * 7} if game == "diplomacy" else {}
    id = page.request.post("/api/v1/sessions", data={"game": game, **seats}).json()["id"]
    page.goto(f"/#/s/{id}")
    page.locator("p.status").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate(SHIFTS) < 0.05


def test_a_damaged_link(new_page):
    page = new_page()
    page.goto("/#/link/xxxx")
    expect(page.get_by_role("alert").first).to_contain_text("damaged")
    page.get_by_role("link", name="Chess").first.click()
    expect(page.get_by_role("heading", name="Chess")).to_be_visible()
    expect(page.get_by_text("damaged")).to_have_count(0)


def test_what_a_browser_keeps_may_be_damaged(new_page):
    page = new_page()
    page.goto("/")
    page.evaluate(
        "localStorage.setItem('kedge-games', '{['); localStorage.setItem('kedge-new-chess', '7')"
    )
    page.reload()
    expect(page.get_by_role("link", name="Chess").first).to_be_visible()
    page.goto("/#/chess")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("application").wait_for()
    page.goto("/#/")
    expect(page.locator(".recent li")).to_contain_text("Chess after 0 turns")


def test_blotto_offers_no_more_troops_than_can_be_weighed(page):
    page.goto("/#/blotto")
    page.get_by_label("Fields").fill("8")
    page.get_by_label("Fields").press("Tab")
    troops = page.get_by_label("Troops")
    assert int(troops.get_attribute("max")) == int(troops.input_value()) < 10
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".blotto-table")).to_be_visible()


def test_focus_is_not_lost(page):
    page.goto("/#/chess")
    page.get_by_role("button", name="Begin").press("Enter")
    expect(page.locator("main.table h1")).to_be_focused()
    undo = page.get_by_role("button", name="Undo")
    undo.focus()
    assert undo.get_attribute("aria-disabled") == "true"
    undo.press("Enter")
    expect(undo).to_be_focused()
    page.get_by_role("link", name="New game").press("Enter")
    expect(page.locator("form.new h1")).to_be_focused()


def test_sides_are_switched(page):
    page.goto("/#/chess")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Switch sides").click()
    expect(page.locator("p.status")).to_contain_text("Black to move")
    expect(page.locator(".turns .move")).to_have_count(1)  # which kedge has played as White
    expect(page.locator(".dial h2")).to_have_text("How White plays 50")
    page.goto("/#/hanabi")
    page.get_by_role("button", name="Begin").click()
    page.locator(".hand").first.wait_for()
    assert page.get_by_role("button", name="Switch sides").count() == 0  # cards were seen


def test_viewers_of_two_agents_see_whose_move_it_is(page):
    data = {"game": "chess", "seats": [{"dial": 0.0}, {"dial": 0.0}]}
    id = page.request.post("/api/v1/sessions", data=data).json()["id"]
    page.goto(f"/#/s/{id}")
    page.locator(".turns button").nth(3).wait_for()
    for _ in range(10):
        assert page.locator("p.status").inner_text().strip() != ""
        page.wait_for_timeout(50)


def test_an_address_with_a_seat_that_there_is_not(page):
    seats = [{"human": True}, {"human": True}]
    game = page.request.post("/api/v1/sessions", data={"game": "chess", "seats": seats}).json()
    page.goto(f"/#/s/{game['id']}/99")
    expect(page.get_by_role("alert").first).to_contain_text("eyes: must be at most 7")

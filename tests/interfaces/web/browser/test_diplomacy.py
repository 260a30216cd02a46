"""Diplomacy on the page, as people with a browser play it."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="needs Playwright").expect

PEOPLE = ("Austria", "France", "Turkey")
RETREAT = {
    "name": "S1902R",
    "units": {"GERMANY": ["A BUR", "A RUH"]},
    "centers": {"FRANCE": ["BRE", "MAR", "PAR"], "GERMANY": ["BER", "KIE", "MUN"]},
    "dislodged": {"FRANCE": ["A BUR"]},
    "retreats": {"FRANCE": {"A BUR": ["PAR", "GAS"]}},
}
COASTS = {
    "name": "S1902M",
    "units": {"FRANCE": ["F MAO"], "ENGLAND": ["A LON", "F ENG"]},
    "centers": {"FRANCE": ["BRE"], "ENGLAND": ["LON"]},
}


@pytest.fixture
def table(page):
    """``table(setup, "France", …)``: a game of these people, who play at one browser."""

    def begin(setup, *people):
        names = ["Austria", "England", "France", "Germany", "Italy", "Russia", "Turkey"]
        seats = [{"human": name in people, "dial": 0} for name in names]
        told = {"game": "diplomacy", "setup": setup, "seats": seats}
        id = page.request.post("/api/v1/sessions", data=told).json()["id"]
        page.goto(f"/#/s/{id}")
        page.locator("svg.map .unit").first.wait_for()
        return id

    return begin


def order(page, power, *places):
    """Give orders with clicks on provinces and keys for the modes, then submit them."""
    panel = page.get_by_label(f"Orders of {power}")
    panel.wait_for()
    for place in places:
        if len(place) == 1:
            page.keyboard.press(place)
        else:
            page.locator(f'svg.map [data-province="{place}"]').last.click(force=True)
    panel.get_by_role("button", name="Submit").click()


def phase(page, name):
    page.locator("svg.map .phase", has_text=name).wait_for()


def orders(page, id, turn=-1):
    return page.request.get(f"/api/v1/sessions/{id}").json()["turns"][turn]["move"]


def test_a_year_of_three_people(page):
    page.goto("/#/diplomacy")
    for name in PEOPLE[1:]:
        page.get_by_label(name).check()
    page.get_by_label("kedge plays").fill("0")
    page.get_by_role("button", name="Begin").click()
    phase(page, "Spring 1901")
    order(page, "Austria", "VIE", "GAL", "BUD", "s", "VIE", "GAL", "TRI", "h")
    order(page, "France", "PAR", "BUR", "MAR", "s", "PAR", "BUR", "BRE", "MAO")
    page.get_by_label("Order of F ANK", exact=True).select_option("F ANK - BLA")
    page.get_by_label("Order of A CON", exact=True).select_option("A CON - BUL")
    page.get_by_label("Remove the order of F ANK").click()
    order(page, "Turkey")
    id = page.url.rpartition("/")[2]
    page.get_by_role("combobox", name="Whose decision").wait_for()
    given = orders(page, id, 0)
    assert sorted(given["AUSTRIA"]) == ["A BUD S A VIE - GAL", "A VIE - GAL", "F TRI H"]
    assert sorted(given["FRANCE"]) == ["A MAR S A PAR - BUR", "A PAR - BUR", "F BRE - MAO"]
    assert given["TURKEY"] == ["A CON - BUL"]

    # The orders that are pointed at are drawn where they were thought of.
    page.get_by_role("combobox", name="Whose decision").select_option("Germany, S1901M")
    page.get_by_role("heading", name="Why Germany").wait_for()
    page.locator(".why tbody tr").first.hover()
    page.locator("svg.map .orders.pointed").first.wait_for()
    phase(page, "Spring 1901")

    # Until it is Spring again everyone submits whatever is asked of them.
    deciding = page.locator(".status").text_content
    while not (now := deciding()).startswith("Spring 1902"):
        page.get_by_role("button", name="Submit").click()
        page.wait_for_function(
            "now => { const next = document.querySelector('.status').textContent; "
            "return next !== now && !next.includes('thinking'); }",
            arg=now,
        )
    assert page.locator("svg.map .orders .line").count() > 0

    # Earlier phases are looked at, and the last one is taken back.
    page.get_by_label("First position").click()
    phase(page, "Spring 1901")
    page.get_by_label("Forward").click()
    phase(page, "Fall 1901, movement")
    page.get_by_label("Last position").click()
    phase(page, "Spring 1902")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(
        "() => !document.querySelector('svg.map .phase').textContent.startsWith('Spring')"
    )


def test_an_agent_goes_on_for_who_resigns(page, table):
    id = table({}, "Austria", "France")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog", name="Resign Austria? An agent takes over.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_label("Orders of France").wait_for()
    order(page, "France")
    phase(page, "Fall 1901")
    assert len(orders(page, id)["AUSTRIA"]) == 3
    answer = page.request.post(f"/api/v1/sessions/{id}/resign", data={"seat": 2})
    assert "seat an agent instead" in answer.json()["detail"]


def test_orders_that_are_being_written_outlive_a_reload(page, table):
    table({}, "France")
    for place in ("PAR", "BUR"):
        page.locator(f'svg.map [data-province="{place}"]').last.click(force=True)
    written = page.get_by_label("Orders of France").get_by_text("A PAR - BUR")
    count = written.count()
    assert count
    page.reload()
    page.locator("svg.map .unit").first.wait_for()
    expect(written).to_have_count(count)


def test_clicks_leave_a_choice_of_coasts(page, table):
    id = table({"position": COASTS}, "France", "England")
    order(page, "England", "LON", "BRE", "ENG", "c", "LON", "BRE")
    page.get_by_label("Orders of France").wait_for()
    page.locator('svg.map .unit[data-province="MAO"]').click(force=True)
    page.locator('svg.map polygon[data-province="SPA"]').click(force=True)
    page.get_by_role("dialog").get_by_role("button", name="F MAO - SPA/SC").click()
    order(page, "France")
    phase(page, "Fall 1902")
    assert sorted(orders(page, id)["ENGLAND"]) == ["A LON - BRE VIA", "F ENG C A LON - BRE"]
    assert orders(page, id)["FRANCE"] == ["F MAO - SPA/SC"]


def test_retreats_and_builds_by_clicks(page, table):
    id = table({"position": RETREAT}, "France", "Germany")
    order(page, "France", "BUR", "PAR")
    phase(page, "Fall 1902")
    assert orders(page, id) == {"FRANCE": ["A BUR R PAR"]}
    order(page, "France")
    order(page, "Germany")
    phase(page, "Winter 1902")
    order(page, "France", "MAR", "f", "BRE")
    order(page, "Germany")
    phase(page, "Spring 1903")
    assert orders(page, id)["FRANCE"] == ["A MAR B", "F BRE B"]


def test_keys_alone_order_everything(page, table):
    id = table({}, "France")
    page.get_by_label("Order of F BRE", exact=True).focus()
    page.keyboard.type("moves to m")
    page.keyboard.press("Tab")  # what removes it
    page.keyboard.press("Tab")
    page.keyboard.type("supports")
    page.get_by_role("button", name="Submit").press("Enter")
    phase(page, "Fall 1901")
    given = orders(page, id)["FRANCE"]
    assert given[0] == "F BRE - MAO"
    assert given[1].startswith("A MAR S ")
    focused = page.evaluate("document.activeElement.textContent")
    assert "Submit" in focused or "Waiting" in focused


def test_the_last_orders_are_drawn_and_failed_moves_are_dashed(page):
    turns = [
        {"FRANCE": [" A PAR  - BUR", "F BRE - MAO"], "GERMANY": ["A MUN - BUR"]},
        {"FRANCE": ["A PAR - PIC"]},
    ]
    told = {"game": "diplomacy", "turns": turns, "seats": [{"human": True}] * 7}
    id = page.request.post("/api/v1/sessions", data=told).json()["id"]
    page.goto(f"/#/s/{id}")
    moves, failed = page.locator("svg.map path.line.move"), page.locator("path.line.failed")
    expect(moves).to_have_count(1)
    expect(failed).to_have_count(0)
    page.get_by_role("button", name="Back").click()
    expect(moves).to_have_count(3)
    expect(failed).to_have_count(2)


def test_nothing_is_wider_than_the_screen(new_page):
    page = new_page(width=360, height=740, color_scheme="dark")
    page.goto("/#/diplomacy")
    page.get_by_role("button", name="Begin").click()
    page.locator("svg.map .unit").first.wait_for()
    for width in (360, 900, 2560):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_review(page, tmp_path):
    names = ["AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY"]
    turn = {"FRANCE": ["A MAR - SPA", "A PAR - BUR", "F BRE H"], "ITALY": ["A VEN - TYR"]}
    told = {"game": "diplomacy", "turns": [turn], "seats": [{"human": True}] * len(names)}
    id = page.request.post("/api/v1/sessions", data=told).json()["id"]
    page.goto(f"/#/s/{id}")
    page.get_by_role("button", name="Review the game").click()
    page.get_by_role("img", name="Expected result").wait_for(timeout=30_000)
    chosen = page.locator(".chosen")
    assert chosen.inner_text() == "Austria ordered nothing in S1901M."
    page.get_by_label("Whose orders are reviewed").select_option("France")
    assert page.locator(".parts .rare").inner_text().startswith("BRE H")
    assert page.locator(".parts li").count() == 3
    assert "instead" in chosen.inner_text()
    assert page.locator(".curve polyline").count() == len(names)
    page.locator(".moments button").first.click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save review").click()
    saving.value.save_as(tmp_path / "review.json")
    assert '"review"' in (tmp_path / "review.json").read_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Review the game").wait_for()


def test_every_person_is_advised_and_may_ask_about_earlier_positions(page, table):
    table({}, "Austria", "England")
    page.get_by_role("switch").check()
    whose = page.get_by_role("combobox", name="Whose decision")
    whose.select_option("England")
    page.get_by_role("heading", name="Your move: England").wait_for()
    page.locator(".why tbody th", has_text="LON-").first.wait_for()
    assert (
        page.locator("svg.map .orders.advised .line.ENGLAND").count() > 0
    )  # what search would order
    page.get_by_role("switch").uncheck()
    expect(page.locator("svg.map .orders.advised")).to_have_count(0)
    order(page, "Austria")
    order(page, "England")
    page.locator(".turns .move").wait_for()

    page.get_by_label("First position").click()
    phase(page, "Spring 1901")
    assert page.get_by_text("Waiting for the others").count() == 0
    whose.select_option("Italy")  # which an agent has thought of
    page.locator(".why tbody th", has_text="VEN").first.wait_for()
    page.reload()
    page.locator(".turns .move").wait_for()
    page.get_by_label("First position").click()
    whose.select_option("England")  # which nobody has, since the page was opened
    page.get_by_role("button", name="Ask kedge").click()
    page.locator(".why tbody th", has_text="LON-").first.wait_for()

"""Chess on the page, as a person with a browser plays it."""


def test_offer(page):
    page.goto("/")
    page.get_by_role("link", name="Chess With").click()
    page.get_by_role("button", name="Begin").click()
    page.locator(".chess-board svg").wait_for()

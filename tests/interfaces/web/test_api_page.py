"""The API's own page, and the how-to's program that asks it."""

import re
from pathlib import Path

HOWTO = Path(__file__).resolve().parents[3] / "docs" / "howto.md"


def _route(page, words):
    found = page.locator("details.route", has=page.locator("summary", has_text=words)).first
    found.locator("summary").first.click()
    return found


def _try(route):
    route.get_by_role("button", name="Try").click()
    route.locator(".answer").wait_for()
    return route.locator(".answer").inner_text()


def test_examples_run(page):
    page.goto("/api/docs")
    assert '"stops"' in _try(_route(page, "The games: their boards"))
    assert '"anchor"' in _try(_route(page, "An agent's policy"))
    move = _route(page, "Play a person's move")
    assert move.get_by_role("button", name="Try").is_disabled()  # there is no game yet
    began = _try(_route(page, "Begin a game, or continue"))
    game = re.search(r'"id": "([^"]+)"', began)[1]
    assert game in move.locator(".curl").inner_text()
    assert '"name": "e4"' in _try(move)
    # What is asked for needs nothing filled in, from the first to the last.
    assert '"likeness"' in _try(_route(page, "The agent at a setting"))
    assert '"revision"' in _try(_route(page, "Change who sits at a seat"))
    methods = page.locator("details.route .method").all_inner_texts()
    assert methods[-1] == "DELETE", "what is gone cannot be asked for"


def test_program_of_the_howto(page_server, capsys):
    blocks = re.findall(r"```python\n(.*?)```", HOWTO.read_text(encoding="utf-8"), re.S)
    (program,) = (block for block in blocks if "/api/v1/" in block)
    exec(program.replace("http://127.0.0.1:8477", page_server), {})
    printed = capsys.readouterr().out
    assert "Nf3 people" in printed
    assert f"{page_server}/#/s/" in printed

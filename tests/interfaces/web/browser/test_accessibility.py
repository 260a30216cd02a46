"""Accessibility of the page: names of all controls, contrast, and a visible focus."""

import re
from pathlib import Path

import pytest

from kedge.interfaces.web.app import STATIC

#: Text, and what it stands on.
_PAIRS = [
    ("ink", "ground"),
    ("ink", "card"),
    ("quiet", "ground"),
    ("quiet", "card"),
    ("people", "card"),
    ("search", "card"),
    ("people", "ground"),
    ("search", "ground"),
    ("accent", "card"),
    ("accent", "ground"),
    ("on-accent", "accent"),
    ("warn", "card"),
    ("warn", "ground"),
]
_CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex], [role=application]"
#: Those without a name of any kind, as far as browsers compute one.
_NAMELESS = """nodes => nodes.filter(node => {
  const labels = [...(node.labels || [])].map(label => label.innerText).join("");
  const image = [...node.querySelectorAll("img[alt]")].map(one => one.alt).join("");
  const named = node.getAttribute("aria-labelledby");
  const found = [node.ariaLabel, named && document.getElementById(named)?.innerText, labels,
    node.matches("input, select, textarea") ? "" : node.innerText, image, node.title];
  return !found.some(text => text && text.trim());
}).map(node => node.outerHTML.slice(0, 200))"""
_OUTLINE = """() => {
  const node = document.activeElement;
  const near = [node.nextElementSibling, node.closest("label"), node.querySelector(".cursor")];
  return node === document.body || [node, ...near].filter(Boolean).some(one => {
    const style = getComputedStyle(one);
    return style.outlineStyle !== "none" || (one.matches(".cursor") && style.stroke !== "none");
  }) || node.outerHTML.slice(0, 200);
}"""


def _themes():
    """Return the stylesheet's colours by theme; the dark theme inherits from the light one."""
    sheet = Path(STATIC / "css" / "page.css").read_text()
    light, system, dark = (
        dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block))
        for block in (
            re.search(r"^:root \{(.*?)\}", sheet, re.S | re.M)[1],
            re.search(r":root:not\(\[data-theme=\"light\"\]\) \{(.*?)\}", sheet, re.S)[1],
            re.search(r":root\[data-theme=\"dark\"\] \{(.*?)\}", sheet, re.S)[1],
        )
    )
    assert system == dark  # by the system's wish, and by the page's own button
    return {"light": light, "dark": light | dark}


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), _PAIRS)
def test_contrast(theme, text, ground):
    colours = _themes()[theme]
    low, high = sorted(_luminance(colours[name]) for name in (text, ground))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def _game(page):
    seats = [{"human": True}, {"dial": 0}]
    told = {"game": "chess", "turns": ["e2e4", "e7e5"], "seats": seats}
    page.goto(f"/#/s/{page.request.post('/api/v1/sessions', data=told).json()['id']}")
    page.get_by_role("application").wait_for()
    page.get_by_text("The numbers behind it").click()


def _offer(page):
    page.goto("/")
    page.locator(".games").wait_for()


def _new(page):
    page.goto("/#/chess")
    page.locator("form.new").wait_for()


def _api(page):
    page.goto("/api/docs")
    page.locator(".route summary").first.wait_for()
    for route in page.locator(".route > summary").all():
        route.click()


_VIEWS = pytest.mark.parametrize("view", [_offer, _new, _game, _api])


@_VIEWS
def test_controls_have_names(page, view):
    view(page)
    controls = page.locator(_CONTROLS)
    assert controls.count() > 3
    assert controls.evaluate_all(_NAMELESS) == []
    order = controls.evaluate_all("nodes => nodes.map(node => node.tabIndex)")
    assert max(order) == 0  # as it stands on the page, and no other
    assert page.locator("html[lang]").count() == 1
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1
    assert page.locator("img:not([alt])").count() == 0


@_VIEWS
def test_focus_is_seen(page, view):
    view(page)
    for _ in range(14):
        page.keyboard.press("Tab")
        assert page.evaluate(_OUTLINE) is True

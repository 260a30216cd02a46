"""The games on the page."""

from kedge import catalogue
from kedge.catalogue import GameEntry
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PageGame


def page_games() -> dict[str, PageGame]:
    """Return the games by name, in the order in which the page offers them."""
    return {entry.name: _page(entry) for entry in catalogue.entries("page")}


def _page(entry: GameEntry) -> PageGame:
    try:
        page: PageGame = entry.load("page")()
    except Exception as error:  # code of another package
        raise InputError(f"game {entry.name!r}: its page fails to load: {error}") from error
    if getattr(page, "name", None) != entry.name:
        raise InputError(f"game {entry.name!r}: its page must have the same name")
    if not hasattr(page, "script"):
        raise InputError(f"game {entry.name!r}: its page names no script")
    return page

"""The games on the page."""

from kedge import catalogue
from kedge.catalogue import GameEntry
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PageGame


def page_games() -> dict[str, PageGame]:
    """Return the games by name, in the order in which the page offers them."""
    pages = catalogue.loaded("page", _page)
    return {entry.name: page for entry, page in pages.items()}


def page_game(name: str) -> PageGame:
    """Return the game called `name`."""
    return _page(catalogue.find(name, "page"))


def _page(entry: GameEntry) -> PageGame:
    kind = entry.load("page")
    try:
        page: PageGame = kind()
    except Exception as error:  # code of another package
        raise InputError(f"game {entry.name!r}: its page fails to load: {error}") from error
    if getattr(page, "name", None) != entry.name:
        raise InputError(f"game {entry.name!r}: its page must have the same name")
    if not hasattr(page, "script"):
        raise InputError(f"game {entry.name!r}: its page names no script")
    return page

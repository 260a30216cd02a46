"""The games that the page plays."""

from kedge import catalogue
from kedge.interfaces.web.pages.page_game import PageGame


def page_games() -> dict[str, PageGame]:
    """Return the games by name, in the order in which the page offers them."""
    return {entry.name: entry.load("page")() for entry in catalogue.entries("page")}

"""The games that the page plays."""

from kedge.interfaces.web.pages.blotto import BlottoPage
from kedge.interfaces.web.pages.chess import ChessPage
from kedge.interfaces.web.pages.diplomacy import DiplomacyPage
from kedge.interfaces.web.pages.go import GoPage
from kedge.interfaces.web.pages.hanabi import HanabiPage
from kedge.interfaces.web.pages.page_game import PageGame


def page_games() -> dict[str, PageGame]:
    """By name, in the order in which the page offers them."""
    games: tuple[PageGame, ...] = (
        ChessPage(),
        GoPage(),
        DiplomacyPage(),
        HanabiPage(),
        BlottoPage(),
    )
    return {game.name: game for game in games}

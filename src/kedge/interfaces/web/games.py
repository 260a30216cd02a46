"""The games that the page plays."""

from kedge.interfaces.web.blotto_page import BlottoPage
from kedge.interfaces.web.chess_page import ChessPage
from kedge.interfaces.web.diplomacy_page import DiplomacyPage
from kedge.interfaces.web.go_page import GoPage
from kedge.interfaces.web.hanabi_page import HanabiPage
from kedge.interfaces.web.page_game import PageGame


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

"""Connect Four for kedge: rules, a match and a page, found through one catalogue entry."""

from kedge.catalogue import GameEntry

ENTRY = GameEntry(
    "connect-four",
    "Connect Four",
    game="kedge_connect_four.game:ConnectFour",
    state="kedge_connect_four.game:ConnectFourState",
    compete="kedge_connect_four.match:ConnectFourMatch",
    page="kedge_connect_four.page:ConnectFourPage",
)

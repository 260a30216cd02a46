"""Connect Four on the page of ``kedge play``."""

from importlib.resources import files
from typing import Any

from kedge.interfaces.web.pages.board import BoardPage
from kedge_connect_four.game import ROWS, ConnectFourState


class ConnectFourPage(BoardPage):
    """The server's side: what the board needs to know. ``board.js`` draws it."""

    name = "connect-four"
    emblem = "●"
    about = "Four discs in a line win."
    sides = ("Red", "Yellow")
    script = files(__package__) / "board.js"
    style = files(__package__) / "board.css"
    agents = (
        "puct(uniform, playouts=1000, temperature=0)",
        "puct(uniform, playouts=100)",
        "uniform",
    )

    def position(self, state: ConnectFourState, eyes: int | None) -> dict[str, Any]:
        """The discs of each column from the bottom up, and the columns that are not full."""
        return {
            "columns": state.columns,
            "rows": ROWS,
            "player": state.current_player(),
            "legal": [state.action_to_string(action) for action in state.legal_actions()],
            "last": state.history[-1] if state.history else None,
        }

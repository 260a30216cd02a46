"""``kedge match connect-four``."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from kedge.experiments.board.any_match import AnyMatch


@dataclass(frozen=True, kw_only=True)
class ConnectFourMatch(AnyMatch):
    """Play a match of Connect Four: the score of A against B, its standard error, and Elo.

    **Examples**

    - `kedge match connect-four "puct(uniform, playouts=200)" "puct(uniform, playouts=20)"`
    """

    colours: ClassVar[tuple[str, str]] = ("red", "yellow")

    game: Literal["connect-four"] = "connect-four"

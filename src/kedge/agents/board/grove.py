"""Search trees over one network, which grow together."""

from typing import TYPE_CHECKING, Any

from kedge.models.board.lanes import open_lanes
from kedge.search.puct import Allowed, admit, evaluate_leaves

if TYPE_CHECKING:
    from kedge.agents.board.puct import ModelAgent


class Grove:
    """The trees over the network of `agent`, at its prior temperature; `rows` leaves may wait."""

    def __init__(self, agent: "ModelAgent", rows: int) -> None:
        self.forest = agent.new_forest()
        (self._lane,) = open_lanes(agent.network, rows, most=1)
        self._temperature = agent.prior_temperature
        self._allowed: dict[int, Allowed] = {}  # of the roots that are not evaluated yet

    def plant(self, agent: "ModelAgent", board: Any, allowed: Allowed | None) -> int:
        """Add the tree of a search, and return its number; the root tries `allowed` moves alone."""
        tree = admit(self.forest, board, agent.settings)
        if allowed is not None:
            self._allowed[tree] = allowed
        return tree

    def grow(self) -> None:
        """Advance every tree by at most one batch of playouts."""
        if self.forest.collect(one_batch=True):
            evaluate_leaves(self.forest, self._lane, self._temperature, self._allowed)
            self._allowed.clear()  # a tree's first batch is its root

    def advance(self, tree: int, action: int) -> None:
        """Play `action` at the root of a tree; all moves are allowed after it."""
        self.forest.advance(tree, action)
        self._allowed.pop(tree, None)

    def remove(self, tree: int) -> None:
        self.forest.remove(tree)
        self._allowed.pop(tree, None)

"""Search trees over one network, which grow together."""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kedge.errors import InputError
from kedge.search.puct import Allowed, Settings, admit

if TYPE_CHECKING:
    from kedge import _core

_OVER = "the game is over: no move to play"


class Grove:
    """The trees of a forest; `evaluate` gives their leaves to a network in one batch."""

    def __init__(self, forest: "_core.EncodingForest", evaluate: Callable[..., None]) -> None:
        self.forest = forest
        self._evaluate = evaluate
        self._allowed: dict[int, Allowed] = {}  # of the roots that are not evaluated yet

    def plant(self, board: Any, settings: Settings, allowed: Allowed | None = None) -> int:
        """Add the tree of a search, and return its number; the root tries `allowed` moves alone."""
        tree = admit(self.forest, board, settings)
        if allowed is not None:
            self._allowed[tree] = allowed
        return tree

    def grow(self) -> None:
        """Advance every tree by at most one batch of playouts."""
        if self.forest.collect(one_batch=True):
            self._evaluate(self.forest, allowed=self._allowed)
            self._allowed.clear()  # a tree's first batch is its root

    def run(self, tree: int) -> Iterator[int]:
        """Grow until a tree has its playouts.

        Yields their number after every batch, and once if there is nothing to do. A caller may
        stop at any time and run it again.
        """
        forest = self.forest
        try:
            while True:
                self.grow()
                made = forest.playouts(tree)
                if not made:  # `advance` ended the game
                    raise InputError(_OVER)
                yield made
                if forest.finished(tree):
                    break
        finally:
            forest.cancel()  # what an error left waiting

    def advance(self, tree: int, action: int) -> None:
        """Play `action` at the root of a tree; all moves are allowed after it."""
        self.forest.advance(tree, action)
        self._allowed.pop(tree, None)

    def remove(self, tree: int) -> None:
        self.forest.remove(tree)
        self._allowed.pop(tree, None)


def check_not_over(board: Any) -> None:
    """Raise an `InputError` if there is no move to play."""
    if not board.legal_actions():
        raise InputError(_OVER)


def allowed_moves(board: Any, only: Collection[int] | None) -> Allowed | None:
    """Return the mask of legal moves in `only`, at least one; None if all are allowed."""
    if only is None:
        return None
    allowed = np.array([action in only for action in board.legal_actions()])
    if not allowed.any():
        raise InputError("none of the moves to search is legal")
    return allowed

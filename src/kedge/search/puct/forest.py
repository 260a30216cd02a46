"""Driving a native forest: collect leaves, evaluate them in a batch, update, until done."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kedge.regularize import Array
from kedge.search.puct.result import SearchResult, Settings

#: Evaluates the leaves that wait in a forest and gives it the answer.
EvaluateBatch: TypeAlias = Callable[["NativeForest"], None]


class NativeForest(Protocol):
    """What every game's native forest is (``_core.ChessForest``, …)."""

    def __len__(self) -> int: ...
    def add(self, root: Any, c_puct: float, playouts: int, constant_lambda: float = 0.0) -> int: ...
    def remove(self, tree: int) -> None: ...
    def advance(self, tree: int, action: int) -> None: ...
    def set_playouts(self, tree: int, playouts: int) -> None: ...
    def collect(self, most: int = ...) -> int: ...
    def waiting(self) -> list[int]: ...
    def leaf(self, tree: int) -> Any: ...
    def leaf_actions(self, tree: int) -> list[int]: ...
    def update(self, priors: Array, values: Array) -> None: ...
    def update_logits(
        self,
        logits: npt.NDArray[np.float32],
        values: npt.NDArray[np.float32],
        temperature: float = 1.0,
    ) -> None: ...
    def playouts(self, tree: int) -> int: ...
    def finished(self, tree: int) -> bool: ...
    def line(self, tree: int, first: int) -> list[int]: ...
    def root(
        self, tree: int
    ) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64], Array, float]: ...


def admit(forest: NativeForest, root: Any, settings: Settings) -> int:
    """Add a root to search; returns the tree's number."""
    return forest.add(root, settings.c_puct, settings.playouts, settings.constant_lambda)


def result(forest: NativeForest, tree: int, settings: Settings) -> SearchResult:
    """What the tree knows now; it may still be growing."""
    actions, prior, visits, totals, value = forest.root(tree)
    lines = [forest.line(tree, action) for action in range(len(actions))]
    return SearchResult(settings, actions, prior, visits, totals, value, lines)


def search_many(
    forest: NativeForest, roots: Sequence[Any], evaluate: EvaluateBatch, settings: Settings
) -> list[SearchResult]:
    """Search every root, each exactly as if it were alone, the evaluator seeing full batches."""
    trees = [admit(forest, root, settings) for root in roots]
    while forest.collect():
        evaluate(forest)
    found = [result(forest, tree, settings) for tree in trees]
    for tree in trees:
        forest.remove(tree)
    return found

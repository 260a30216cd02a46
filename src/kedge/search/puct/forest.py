"""Driving a native forest: collect leaves, evaluate them in a batch, update, until done."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kedge import _core
from kedge.search.puct.result import SearchResult, Settings

#: A game's native forest, such as ``_core.ChessForest``.
NativeForest: TypeAlias = "_core.Forest"
#: Evaluates the leaves that wait in a forest and gives it the answer.
EvaluateBatch: TypeAlias = Callable[["NativeForest"], None]


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

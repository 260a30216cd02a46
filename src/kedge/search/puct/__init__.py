"""PUCT over an anchor: Monte Carlo tree search for games of perfect information."""

from kedge.search.puct.forest import (
    EvaluateBatch,
    ForestLane,
    NativeForest,
    admit,
    root_result,
    search_chunks,
    search_many,
)
from kedge.search.puct.leaves import Allowed, Lane, evaluate_leaves
from kedge.search.puct.plain import search
from kedge.search.puct.result import SearchResult, Settings, sharpened

__all__ = [
    "Allowed",
    "EvaluateBatch",
    "ForestLane",
    "Lane",
    "NativeForest",
    "SearchResult",
    "Settings",
    "admit",
    "evaluate_leaves",
    "root_result",
    "search",
    "search_chunks",
    "search_many",
    "sharpened",
]

"""PUCT over an anchor: Monte Carlo tree search for games of perfect information."""

from kedge.search.puct.forest import NativeForest, admit, result, search_many
from kedge.search.puct.plain import search
from kedge.search.puct.result import SearchResult, Settings

__all__ = [
    "NativeForest",
    "SearchResult",
    "Settings",
    "admit",
    "result",
    "search",
    "search_many",
]

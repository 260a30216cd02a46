"""Timing, shared by the benchmarks."""

import time
from collections.abc import Callable


def rate(call: Callable[[], int], repeats: int) -> float:
    """The best rate of `call` in items per second; `call` returns its number of items."""
    best = 0.0
    for _ in range(repeats):
        start = time.perf_counter()
        count = call()
        best = max(best, count / (time.perf_counter() - start))
    return best

"""What the benchmarks share."""

import time
from collections.abc import Callable


def rate(call: Callable[[], int], repeats: int) -> float:
    """Things done a second, at best."""
    best = 0.0
    for _ in range(repeats):
        start = time.perf_counter()
        count = call()
        best = max(best, count / (time.perf_counter() - start))
    return best

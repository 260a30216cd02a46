"""The cache of networks that agents share: each is loaded once per process."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_MOST = 64  # networks; a file of many games has many pairs of ratings
_MOST_BYTES = 2 << 30  # of all networks: about 13 of go-large on a CPU
_cached: dict[tuple[object, ...], tuple[Any, int]] = {}  # with sizes, the last used at the end
_loading = threading.RLock()


def cached(key: tuple[object, ...], make: Callable[[], T], size: int = 0) -> T:
    """Return the cached result of `make` for this key; call `make` the first time.

    The key must say all that the result depends on: the model, its file and the device. `size` is
    the estimated memory in bytes. Those that were not used for longest are dropped when there are
    too many or they are too large together; agents that use them keep them.
    """
    with _loading:
        entry = _cached.pop(key, None)
        if entry is None:
            while _cached and (len(_cached) >= _MOST or _total() + size > _MOST_BYTES):
                del _cached[next(iter(_cached))]
            entry = make(), size
        _cached[key] = entry
        made: T = entry[0]
        return made


def _total() -> int:
    return sum(size for _, size in _cached.values())

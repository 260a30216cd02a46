"""Networks that agents share: each is loaded once per process."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_MOST = 64  # networks; a file of many games has many pairs of ratings
_kept: dict[tuple[object, ...], Any] = {}
_loading = threading.RLock()


def kept(key: tuple[object, ...], make: Callable[[], T]) -> T:
    """Return what `make` made for this key before, or make it.

    The key must say all that the result depends on: the model, its file and the device. The oldest
    of many is dropped; agents that use it keep it.
    """
    with _loading:
        if key not in _kept:
            while len(_kept) >= _MOST:
                del _kept[next(iter(_kept))]
            _kept[key] = make()
        made: T = _kept[key]
        return made

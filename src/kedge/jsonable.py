"""Plain JSON values: what commands print, and the form of configs, task parameters and results."""

import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np


def plain(value: object, where: str = "value") -> Any:
    """Convert ``value`` to JSON types; a ``TypeError`` names the place of an unsupported value.

    Tuples and arrays become lists, dataclasses become objects, numpy scalars become Python's.
    Keys must be strings: turning 1 into "1" silently would change the value on reading.
    """
    if isinstance(value, enum.Enum):
        return plain(value.value, where)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), where)
    # Convert subclasses of the scalars (except bool) to the scalar itself.
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, PurePath):
        return value.as_posix()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: plain(getattr(value, f.name), f"{where}.{f.name}")
            for f in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where}: the key {key!r} is not a string")
        return {str(key): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TypeError(f"{where}: {type(value).__name__} cannot be written as JSON")


def canonical(value: Any) -> str:
    """The canonical text of a plain value: sorted keys, floats by repr, ASCII; Python's nan, inf.

    Only for files that kedge itself reads; use `strict` for other readers.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def ordered(value: Any) -> Any:
    """Sort the keys of a plain value, as `canonical` writes them."""
    if isinstance(value, dict):
        return {key: ordered(item) for key, item in sorted(value.items())}
    return [ordered(item) for item in value] if isinstance(value, list) else value


def strict(value: Any) -> Any:
    """Replace the numbers that JSON lacks: nan by null, ±inf by "±Infinity".

    Both ``float("-Infinity")`` in Python and ``Number("-Infinity")`` in JavaScript read it back.
    """
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    return value

"""Checks of an experiment's settings."""

from collections.abc import Sequence
from math import inf

from kedge.errors import InputError


def check_positive(**lists: Sequence[float]) -> None:
    """Raise `InputError` unless all numbers are above 0 and finite."""
    for name, numbers in lists.items():
        for number in numbers:
            if not 0.0 < number < inf:
                raise InputError(f"{name}: above 0 and finite, not {number:g}")


def check_distinct(**lists: Sequence[object]) -> None:
    """Raise `InputError` if a list is empty or has a value twice."""
    for name, values in lists.items():
        if not values:
            raise InputError(f"{name}: none given")
        if len(set(values)) < len(values):
            raise InputError(f"{name}: a value is given twice")


def check_counts(**counts: int) -> None:
    """Raise `InputError` unless all counts are at least 1."""
    for name, count in counts.items():
        if not 1 <= count < 2**62:
            bound = "at least 1" if count < 1 else "less than 2^62"
            raise InputError(f"{name}: {bound}, not {count}")

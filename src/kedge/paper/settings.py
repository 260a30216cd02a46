"""Checks of what a user may set in an experiment."""

from collections.abc import Sequence
from math import inf

from kedge.errors import InputError


def check_positive(**lists: Sequence[float]) -> None:
    """Numbers above 0 and finite."""
    for name, numbers in lists.items():
        for number in numbers:
            if not 0.0 < number < inf:
                raise InputError(f"{name}: above 0 and finite, not {number:g}")


def check_distinct(**lists: Sequence[object]) -> None:
    """At least one in a list, and none twice."""
    for name, values in lists.items():
        if not values:
            raise InputError(f"{name}: none given")
        if len(set(values)) < len(values):
            raise InputError(f"{name}: one of them is given twice")


def check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if not 1 <= count < 2**62:
            raise InputError(f"{name}: at least 1, not {count}")

"""Checks of what a user may set in an experiment."""

from collections.abc import Sequence
from math import inf

from kedge.errors import InputError


def check_lambdas(lambdas: Sequence[float]) -> None:
    """At least one, each above 0 and finite, none twice."""
    if not lambdas:
        raise InputError("lambdas: none given")
    for lam in lambdas:
        if not 0.0 < lam < inf:
            raise InputError(f"lambdas: above 0 and finite, not {lam:g}")
    if len(set(lambdas)) < len(lambdas):
        raise InputError("lambdas: one of them is given twice")


def check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if not 1 <= count < 2**62:
            raise InputError(f"{name}: at least 1, not {count}")

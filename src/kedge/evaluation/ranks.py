"""Ranks of probabilities, fair to ties."""

import numpy as np

from kedge.regularize import Array

_EQUAL = 1e-6  # relative; equal probabilities may differ by rounding


def rank_among(share: float, others: Array) -> tuple[int, int]:
    """Return the rank of a probability among `others`, and how many have this rank with it.

    >>> rank_among(0.2, np.array([0.4, 0.2, 0.2]))
    (2, 3)
    """
    is_equal = np.isclose(others, share, rtol=_EQUAL, atol=0.0)
    return 1 + int(((others > share) & ~is_equal).sum()), 1 + int(is_equal.sum())


def is_rarer(share: float, other: float) -> bool:
    """Whether a probability is below another one by more than rounding."""
    return share < other * (1.0 - _EQUAL)


def first_place(rank: int, ties: int) -> float:
    """Return the share of a first place: `ties` equals share it."""
    return 1.0 / ties if rank == 1 else 0.0

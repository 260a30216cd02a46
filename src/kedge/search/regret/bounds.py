"""The bounds that the paper proves for piKL-Hedge.

Propositions 1 and 2 and Theorem 1 hold on τ's support: an action with τ = 0 does not count.
Theorem 2 is about the original game, in which such an action may be the best one: there β, and so
the bound, is infinite.
"""

from collections.abc import Sequence
from math import e, inf, log, nan, sqrt

from kedge.errors import InputError
from kedge.regularize import Array
from kedge.search.regret.parameters import Seat


def regret(iterations: int, seat: Seat) -> float:
    """Proposition 1, for one type with constant 0 < η ≤ 1/(λβ + 2D); NaN for other settings."""
    if len(seat.types) != 1:  # a dead player has none
        return nan
    kind = seat.types[0]
    limit = kind.lam * seat.beta + 2.0 * seat.range
    constant = kind.decay == 0.0 and kind.eta * limit <= 1.0 + 1e-9
    if not constant or not 0.0 < kind.lam < inf or iterations < 1:
        return nan
    size = seat.range + kind.lam * seat.beta + kind.lam * sqrt(seat.support)
    growth = 3.0 * e * (1.0 + log(iterations)) / (kind.lam * kind.eta)
    return log(seat.support) / kind.eta + growth * size


def distance(iterations: int, measured_regret: float, seat: Seat) -> float:
    """Theorem 1: (R^T/T + D)/λ, for one type."""
    if len(seat.types) != 1 or iterations < 1:
        return nan
    lam = seat.types[0].lam
    return inf if lam == 0.0 else (measured_regret / iterations + seat.range) / lam


def exploitability_bound(seats: Sequence[Seat]) -> float:
    """Theorem 2: max λ_i·β_i."""
    if any(seat.support < len(seat.tau) for seat in seats):
        return inf
    return max(seat.types[0].lam * seat.beta for seat in seats)


def xi(iterations: int, measured_regrets: Array, seats: Sequence[Seat], delta: float) -> float:
    """Proposition 2: ξ^T(δ)."""
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta: must lie between 0 and 1, not {delta:g}")
    if iterations < 1:
        return inf
    largest = max(seat.range for seat in seats)
    actions = max(seat.support for seat in seats)
    chance = largest * sqrt(32.0 / iterations * log(2.0 * actions / delta))
    return float(measured_regrets.sum()) / iterations + chance

"""The bounds that the paper proves for piKL-Hedge.

Everything is on τ's support: an action with τ = 0 is as if it did not exist.
"""

from collections.abc import Sequence
from math import e, inf, log, nan, sqrt

from kedge.regularize import Array
from kedge.search.regret.parameters import Seat


def regret(iterations: int, seat: Seat) -> float:
    """Proposition 1, for one type with constant 0 < η ≤ 1/(λβ + 2D); NaN for other settings."""
    kind = seat.types[0]
    limit = kind.lam * seat.beta + 2.0 * seat.range
    constant = kind.decay == 0.0 and kind.eta * limit <= 1.0 + 1e-9
    if not constant or not 0.0 < kind.lam < inf or iterations < 1:
        return nan
    size = seat.range + kind.lam * seat.beta + kind.lam * sqrt(seat.support)
    growth = 3.0 * e * (1.0 + log(iterations)) / (kind.lam * kind.eta)
    return log(seat.support) / kind.eta + growth * size


def distance(iterations: int, measured_regret: float, seat: Seat) -> float:
    """Theorem 1: (R^T/T + D)/λ."""
    lam = min((kind.lam for kind in seat.types), default=inf)
    if lam == 0.0:
        return inf
    return (measured_regret / max(iterations, 1) + seat.range) / lam


def exploitability(seats: Sequence[Seat]) -> float:
    """Theorem 2: max λ_i·β_i."""
    return max(seat.types[0].lam * seat.beta for seat in seats)


def xi(iterations: int, measured_regrets: Array, seats: Sequence[Seat], delta: float) -> float:
    """Proposition 2: ξ^T(δ)."""
    largest = max(seat.range for seat in seats)
    actions = max(seat.support for seat in seats)
    chance = largest * sqrt(32.0 / iterations * log(2.0 * actions / delta))
    return float(measured_regrets.sum()) / iterations + chance

"""The state of a solver after some iterations, and the bounds that theory gives for it."""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nan

import numpy as np

from kedge.regularize import Array, forward_kl, kl_divergence
from kedge.search.regret import bounds
from kedge.search.regret.learner import Average, Learner
from kedge.search.regret.parameters import Seat
from kedge.search.regret.utilities import split


@dataclass(frozen=True)
class _Totals:
    """A player's utilities, earnings and divergence, summed over the iterations."""

    values: Array  # CV
    weight: float
    earned: float
    divergence: float


@dataclass(frozen=True)
class Iterate:
    """The state of the players of one game after some iterations.

    Lists have one entry per player; players without actions have empty policies.
    """

    iteration: int
    policies: list[Array]
    """The solver's answer: the average or, with ``average="last"``, the current policies."""
    average: list[Array]
    """π̄^T (Eq. 7), with the chosen weighting; mixtures if players have types."""
    current: list[Array]
    """The next policies; mixtures if players have types."""
    type_policies: list[list[Array]]
    """The answer of each type of each player, in the order of their λs."""

    _seats: list[Seat] = field(repr=False)
    _totals: list["_Totals"] = field(repr=False)
    _proved: bool = field(repr=False)  # piKL-Hedge as in Proposition 1
    _uniform: bool = field(repr=False)  # one type each, all iterations with the same weight
    _zero_sum: bool = field(repr=False)

    @cached_property
    def q(self) -> list[Array]:
        """The average value of each action of each player against the others' play."""
        return [totals.values / max(totals.weight, 1.0) for totals in self._totals]

    @cached_property
    def regret(self) -> Array:
        """R_i^T against the regularised utilities (Proposition 1); the lowest-λ type's."""
        pairs = zip(self._seats, self._totals, strict=True)
        return np.array([_regret(seat, totals) for seat, totals in pairs])

    @cached_property
    def kl_to_anchor(self) -> Array:
        """KL(π‖τ) of each player's answer, in nats."""
        pairs = zip(self.policies, self._seats, strict=True)
        return np.array([float(kl_divergence(policy, seat.tau)) for policy, seat in pairs])

    @cached_property
    def regret_bound(self) -> Array:
        """Proposition 1's bound on ``regret``; NaN where it is not proved.

        Proved for piKL-Hedge with t − 1 indexing, uniform weighting and constant
        0 < η ≤ 1/(λβ + 2D), λ > 0.
        """
        return np.array(
            [bounds.regret(self.iteration, seat) if self._proved else nan for seat in self._seats]
        )

    @cached_property
    def kl_bound(self) -> Array:
        """Theorem 1: KL(π̄^T‖τ) ≤ (R^T/T + D)/λ, with the measured regret.

        For the uniform average of any algorithm; ∞ at λ = 0, NaN with another average,
        weighting or several types.
        """
        pairs = zip(self.regret, self._seats, strict=True)
        return np.array(
            [
                bounds.distance(self.iteration, regret, seat) if self._uniform else nan
                for regret, seat in pairs
            ]
        )

    @cached_property
    def nash_bound(self) -> float:
        """Theorem 2: in the limit max λ_i·β_i bounds each player's exploitability.

        ∞ if some τ(a) = 0; NaN unless the game is a payoff tensor of two players, zero-sum.
        """
        if not (self._zero_sum and self._uniform):
            return nan
        return bounds.exploitability_bound(self._seats)

    def xi(self, delta: float) -> float:
        """Proposition 2: with probability 1 − δ, π̄^T is a ξ^T(δ)-equilibrium (regularised).

        NaN unless the game is a payoff tensor of two players, zero-sum, and π̄^T the uniform
        average.
        """
        if not (self._zero_sum and self._uniform):
            return nan
        return bounds.xi(self.iteration, self.regret, self._seats, delta)


def snapshots(
    learner: Learner,
    seats: list[list[Seat]],
    average: Average,
    proved: bool,
    uniform: bool,
    zero_sum: list[bool],
) -> list[Iterate]:
    """Return the current iterate of every game."""
    total = learner.iterations
    sizes = [len(seat.tau) for game in seats for seat in game for _ in seat.types]
    current = split(learner.current(), sizes)
    averages = split(learner.average_sum() / max(learner.average_weight, 1.0), sizes)
    totals = split(learner.cumulative(), [len(seat.tau) for game in seats for seat in game])
    earned, paid = iter(learner.earned()), iter(learner.divergence())
    snapshots = []
    for game, is_zero_sum in zip(seats, zero_sum, strict=True):
        now: list[list[Array]] = []
        mean: list[list[Array]] = []
        sums = []
        for seat in game:
            now.append([next(current) for _ in seat.types])
            mean.append([next(averages) for _ in seat.types])
            types = [(next(earned), next(paid)) for _ in seat.types]
            sums.append(
                _Totals(next(totals), learner.weight, *(types or [(0.0, 0.0)])[_lowest(seat)])
            )
        answer = now if average == "last" or total == 0 else mean
        mixed_now = [_mix(seat, kinds) for seat, kinds in zip(game, now, strict=True)]
        mixed_mean = [_mix(seat, kinds) for seat, kinds in zip(game, mean, strict=True)]
        snapshots.append(
            Iterate(
                iteration=total,
                policies=[
                    kinds[_lowest(seat)] if kinds else np.zeros(0)
                    for seat, kinds in zip(game, answer, strict=True)
                ],
                average=mixed_mean,
                current=mixed_now,
                type_policies=answer,
                _seats=game,
                _totals=sums,
                _proved=proved,
                _uniform=uniform,
                _zero_sum=is_zero_sum,
            )
        )
    return snapshots


def _lowest(seat: Seat) -> int:
    """Return the type with the lowest λ, as which a player acts."""
    return min(range(len(seat.types)), key=lambda kind: seat.types[kind].lam, default=0)


def _mix(seat: Seat, policies: list[Array]) -> Array:
    mixed = np.zeros(len(seat.tau))
    for kind, policy in zip(seat.types, policies, strict=True):
        mixed += kind.share * policy
    return mixed


def _regret(seat: Seat, totals: _Totals) -> float:
    """R^T = max over π* of [CV·π* − TλKL(π*‖τ)] − Σ_t [u^t·π^t − λKL(π^t‖τ)]."""
    if not seat.types or totals.weight == 0.0:
        return 0.0
    values, weight, lam = totals.values, totals.weight, seat.types[_lowest(seat)].lam
    if lam == 0.0:
        return float(values.max()) - totals.earned
    if lam == inf:
        return float(values @ seat.tau) - totals.earned
    best = forward_kl(seat.tau, values / weight, lam)
    most = float(values @ best) - weight * lam * float(kl_divergence(best, seat.tau))
    return most - (totals.earned - lam * totals.divergence)

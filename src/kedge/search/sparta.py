"""SPARTA (Lerer et al. 2020) and piKL-SPARTA: the values of single deviations from a blueprint.

The searcher samples worlds that fit its observations, tries each of its moves in them, and lets
everyone follow the blueprint afterwards: Q_π(τ_i, a) of the paper's appendix L. Worlds are numbered
and the same for every move, so that all moves share the same luck.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, forward_kl, kl_divergence

Indices = npt.NDArray[np.int64]
#: Takes the decision, action and world of each rollout; returns the values.
Returns = Callable[[Indices, Indices, Indices], Array]
MOST_ROLLOUTS = 1_000_000  #: Per decision: a hundred times the paper's.
_ROUNDS = 16  # of an adaptive budget
_BISECTIONS = 60


@dataclass(frozen=True)
class Budget:
    """The rollouts of a decision, and their distribution over its moves."""

    rollouts: int = 10_000
    """Rollouts of all moves together."""
    allocation: str = "even"
    """`even`, or `ucb`: more rollouts for moves that may be the best."""
    stop: float = 0.0
    """Stop once the best move leads by so many standard errors; 0 never stops early."""

    def __post_init__(self) -> None:
        if type(self.rollouts) is not int or not 1 <= self.rollouts <= MOST_ROLLOUTS:
            most = f"from 1 to {MOST_ROLLOUTS:,}"
            raise InputError(f"rollouts: a whole number {most}, not {self.rollouts}")
        if self.allocation not in ("even", "ucb"):
            raise InputError(f"allocation: even or ucb, not {self.allocation}")
        if not isinstance(self.stop, int | float) or not self.stop >= 0.0:
            raise InputError(f"stop: a number of standard errors, at least 0, not {self.stop}")

    def worlds(self, actions: int) -> int:
        """Number of worlds per move, if all moves get the same."""
        return max(1, self.rollouts // actions)


@dataclass(frozen=True)
class Estimate:
    """Statistics of the moves of a decision."""

    visits: Indices
    """Rollouts of each move; n visits are in the first n worlds."""
    total: Array
    squares: Array

    @property
    def q(self) -> Array:
        return np.asarray(self.total / self.visits)

    @property
    def errors(self) -> Array:
        """Standard errors of `q`; infinite after a single rollout."""
        spread = np.maximum(self.squares - self.total * self.q, 0.0)
        known = self.visits > 1
        scale = np.where(known, self.visits * (self.visits - 1.0), 1.0)
        return np.asarray(np.where(known, np.sqrt(spread / scale), inf))


def estimate(
    returns: Returns, actions: Sequence[int], budget: Budget, lead: Sequence[Array] | None = None
) -> list[Estimate]:
    """Estimate the values of the moves of several decisions together.

    Parameters
    ----------
    actions : one per decision
        Number of moves.
    lead : one array per decision, optional
        Added to the values before moves are compared, such as λ log τ.
    """
    leads = [np.zeros(count) for count in actions] if lead is None else lead
    nothing = [np.zeros(count) for count in actions]
    estimates = [Estimate(zero.astype(np.int64), zero, zero) for zero in nothing]
    if budget.allocation == "even" and not budget.stop:
        return _roll_out(returns, estimates, [np.full(n, budget.worlds(n)) for n in actions])
    first = [np.full(n, max(2, budget.rollouts // (4 * n))) for n in actions]
    estimates = _roll_out(returns, estimates, first)
    left = [budget.rollouts - int(start.visits.sum()) for start in estimates]
    each = [max(1, rest // _ROUNDS) for rest in left]
    while True:
        more = [np.zeros_like(start.visits) for start in estimates]
        for i, current in enumerate(estimates):
            if left[i] > 0 and not _is_clear(current, leads[i], budget.stop):
                more[i] = _next_rollouts(
                    current, leads[i], min(each[i], left[i]), budget.allocation
                )
                left[i] -= int(more[i].sum())
        if not any(counts.any() for counts in more):
            return estimates
        estimates = _roll_out(returns, estimates, more)


def _roll_out(
    returns: Returns, estimates: Sequence[Estimate], more: Sequence[Indices]
) -> list[Estimate]:
    """Return the estimates after `more` rollouts of each move."""
    flat = np.concatenate(more)
    decisions = np.repeat(np.repeat(np.arange(len(more)), [len(counts) for counts in more]), flat)
    actions = np.repeat(np.concatenate([np.arange(len(counts)) for counts in more]), flat)
    begin = np.repeat(np.concatenate([before.visits for before in estimates]), flat)
    worlds = begin + np.arange(len(begin)) - np.repeat(flat.cumsum() - flat, flat)
    values = returns(decisions, actions, worlds)
    out, at = [], np.repeat(np.arange(len(flat)), flat)
    total, squares = (np.bincount(at, power, len(flat)) for power in (values, values**2))
    start = 0
    for before, counts in zip(estimates, more, strict=True):
        part = slice(start, start := start + len(counts))
        out.append(
            Estimate(
                before.visits + counts,
                before.total + total[part],
                before.squares + squares[part],
            )
        )
    return out


def _is_clear(estimate: Estimate, lead: Array, stop: float) -> bool:
    """Whether the best move is ahead of all others by `stop` standard errors."""
    values = estimate.q + lead
    best = values.argmax()
    errors = np.hypot(estimate.errors, estimate.errors[best])
    ahead = values[best] - values > stop * errors
    ahead[best] = True
    return stop > 0.0 and bool(ahead.all())


def _next_rollouts(estimate: Estimate, lead: Array, rollouts: int, allocation: str) -> Indices:
    if allocation == "even":
        return np.full(len(lead), -(-rollouts // len(lead)))
    # UCB1, with a standard error for its bound on the unknown.
    bound = estimate.q + lead + np.sqrt(2.0 * np.log(estimate.visits.sum())) * estimate.errors
    return np.where(np.arange(len(bound)) == bound.argmax(), rollouts, 0)


def improved(anchor: Array, q: Array, lam: float, threshold: float = 0.0) -> Array:
    """Return P(a) ∝ τ(a)·exp(Q(a)/λ); at λ = 0 the best move, even if τ gives it no mass.

    At λ = 0 the anchor's likeliest move stays unless another is better by more than `threshold`,
    so that noise in nearly equal values does not change the move.

    >>> improved(np.array([0.9, 0.1, 0.0]), np.array([1.0, 2.0, 4.0]), 1.0).round(3)
    array([0.768, 0.232, 0.   ])
    >>> improved(np.array([0.9, 0.1, 0.0]), np.array([1.0, 2.0, 4.0]), 0.0)
    array([0., 0., 1.])
    """
    if lam > 0.0:
        return forward_kl(anchor, q, lam)
    best, usual = int(q.argmax()), int(anchor.argmax())
    if not q[best] - q[usual] > threshold:
        best = usual
    return np.where(np.arange(len(q)) == best, 1.0, 0.0)


def lam_of_kl(anchor: Array, q: Array, kl: float) -> float:
    """Return the λ at which the policy is `kl` nats from its anchor; 0 if no λ reaches that.

    >>> anchor, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> float(kl_divergence(forward_kl(anchor, q, lam_of_kl(anchor, q, 0.1)), anchor).round(6))
    0.1
    """
    if kl_divergence(forward_kl(anchor, q, 0.0), anchor) <= kl:
        return 0.0
    low, high = -60.0, 60.0  # bounds of log λ; the distance falls with it
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        far = kl_divergence(forward_kl(anchor, q, np.exp(middle)), anchor) > kl
        low, high = (middle, high) if far else (low, middle)
    return float(np.exp(high))


__all__ = ["Budget", "Estimate", "Returns", "estimate", "improved", "lam_of_kl"]

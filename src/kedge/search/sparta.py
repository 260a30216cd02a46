"""SPARTA (Lerer et al. 2020) and piKL-SPARTA: what a blueprint's moves come to, one move changed.

Who searches supposes worlds that fit with all it has seen, makes each of its moves in them, and
lets everyone follow the blueprint from there on: Q_π(τ_i, a) of the paper's appendix L. Worlds are
numbered, and a world is the same whatever the move, so that luck falls on all moves alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, forward_kl, kl_divergence

Indices = npt.NDArray[np.int64]
#: Of decisions, actions and worlds, one of each a rollout: what they came to.
Returns = Callable[[Indices, Indices, Indices], Array]
MOST_ROLLOUTS = 1_000_000  #: Of a decision: a hundred times the paper's.
_ROUNDS = 16  # in which a budget is spent, where what is known decides what is tried
_BISECTIONS = 60


@dataclass(frozen=True)
class Budget:
    """How many rollouts a decision gets, and which moves get them."""

    rollouts: int = 10_000
    """In total."""
    allocation: str = "even"
    """`even`, or `ucb`: moves that may be the best get more."""
    stop: float = 0.0
    """End once the best move is ahead by so many standard errors; 0 is never."""

    def __post_init__(self) -> None:
        if type(self.rollouts) is not int or not 1 <= self.rollouts <= MOST_ROLLOUTS:
            most = f"from 1 to {MOST_ROLLOUTS:,}"
            raise InputError(f"rollouts: a whole number {most}, not {self.rollouts}")
        if self.allocation not in ("even", "ucb"):
            raise InputError(f"allocation: even or ucb, not {self.allocation}")
        if not isinstance(self.stop, int | float) or not self.stop >= 0.0:
            raise InputError(f"stop: a number of standard errors, at least 0, not {self.stop}")

    def worlds(self, actions: int) -> int:
        """How many of them a move is tried in, if all get the same."""
        return max(1, self.rollouts // actions)


@dataclass(frozen=True)
class Estimate:
    """What is known of a decision's moves."""

    visits: Indices
    """Rollouts of each; of `visits` n, those in the first n worlds."""
    total: Array
    squares: Array

    @property
    def q(self) -> Array:
        return np.asarray(self.total / self.visits)

    @property
    def errors(self) -> Array:
        """Standard errors of `q`; infinite where one rollout says nothing of it."""
        spread = np.maximum(self.squares - self.total * self.q, 0.0)
        known = self.visits > 1
        scale = np.where(known, self.visits * (self.visits - 1.0), 1.0)
        return np.asarray(np.where(known, np.sqrt(spread / scale), inf))


def estimate(
    returns: Returns, actions: Sequence[int], budget: Budget, lead: Sequence[Array] | None = None
) -> list[Estimate]:
    """What each move of several decisions comes to, all of them asked about together.

    Parameters
    ----------
    actions : one a decision
        How many moves it has.
    lead : one array a decision, optional
        What is added to values before moves are compared, such as λ log τ.
    """
    leads = [np.zeros(count) for count in actions] if lead is None else lead
    nothing = [np.zeros(count) for count in actions]
    found = [Estimate(zero.astype(np.int64), zero, zero) for zero in nothing]
    if budget.allocation == "even" and not budget.stop:
        return _tried(returns, found, [np.full(n, budget.worlds(n)) for n in actions])
    first = [np.full(n, max(2, budget.rollouts // (4 * n))) for n in actions]
    found = _tried(returns, found, first)
    left = [budget.rollouts - int(one.visits.sum()) for one in found]
    each = [max(1, rest // _ROUNDS) for rest in left]
    while True:
        more = [np.zeros_like(one.visits) for one in found]
        for i, one in enumerate(found):
            if left[i] > 0 and not _is_clear(one, leads[i], budget.stop):
                more[i] = _next(one, leads[i], min(each[i], left[i]), budget.allocation)
                left[i] -= int(more[i].sum())
        if not any(one.any() for one in more):
            return found
        found = _tried(returns, found, more)


def _tried(returns: Returns, found: Sequence[Estimate], more: Sequence[Indices]) -> list[Estimate]:
    """After so many more rollouts of each move."""
    flat = np.concatenate(more)
    decisions = np.repeat(np.repeat(np.arange(len(more)), [len(one) for one in more]), flat)
    actions = np.repeat(np.concatenate([np.arange(len(one)) for one in more]), flat)
    begin = np.repeat(np.concatenate([one.visits for one in found]), flat)
    worlds = begin + np.arange(len(begin)) - np.repeat(flat.cumsum() - flat, flat)
    values = returns(decisions, actions, worlds)
    out, at = [], np.repeat(np.arange(len(flat)), flat)
    total, squares = (np.bincount(at, power, len(flat)) for power in (values, values**2))
    start = 0
    for one, count in zip(found, more, strict=True):
        part = slice(start, start := start + len(count))
        out.append(
            Estimate(one.visits + count, one.total + total[part], one.squares + squares[part])
        )
    return out


def _is_clear(found: Estimate, lead: Array, stop: float) -> bool:
    """Whether the best move is ahead of all others by `stop` standard errors."""
    values = found.q + lead
    best = values.argmax()
    errors = np.hypot(found.errors, found.errors[best])
    ahead = values[best] - values > stop * errors
    ahead[best] = True
    return stop > 0.0 and bool(ahead.all())


def _next(found: Estimate, lead: Array, rollouts: int, allocation: str) -> Indices:
    if allocation == "even":
        return np.full(len(lead), -(-rollouts // len(lead)))
    # UCB1, with a standard error for its bound on the unknown.
    bound = found.q + lead + np.sqrt(2.0 * np.log(found.visits.sum())) * found.errors
    return np.where(np.arange(len(bound)) == bound.argmax(), rollouts, 0)


def improved(anchor: Array, q: Array, lam: float, threshold: float = 0.0) -> Array:
    """P(a) ∝ τ(a)·exp(Q(a)/λ). At λ = 0 the best move, be it the anchor's or not.

    There the anchor's likeliest move is kept, unless another is better by more than `threshold`:
    so values that are all but the same do not lead astray.

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
    """The λ at which the policy is `kl` nats from its anchor; 0 if it is nearer at any λ.

    >>> anchor, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> float(kl_divergence(forward_kl(anchor, q, lam_of_kl(anchor, q, 0.1)), anchor).round(6))
    0.1
    """
    if kl_divergence(forward_kl(anchor, q, 0.0), anchor) <= kl:
        return 0.0
    low, high = -60.0, 60.0  # of log λ, in which the distance falls
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        far = kl_divergence(forward_kl(anchor, q, np.exp(middle)), anchor) > kl
        low, high = (middle, high) if far else (low, middle)
    return float(np.exp(high))


__all__ = ["Budget", "Estimate", "Returns", "estimate", "improved", "lam_of_kl"]

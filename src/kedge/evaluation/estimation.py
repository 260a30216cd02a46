"""How far does this person search beyond intuition? λ estimated from observed actions.

A player of dial λ plays π ∝ τ·exp(q/λ). In θ = 1/λ that is an exponential family: the likelihood is
log-concave, so its maximum is found by bisection on the slope, and the interval is the set of θ
that a likelihood-ratio test does not reject.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, check_policy

_HALVINGS = 200


@dataclass(frozen=True)
class LambdaFit:
    """A player's λ by maximum likelihood.

    λ = ∞ means that the anchor alone explains the play at least as well as any search; λ = 0 means
    that every action was the best one. The ends of ``interval`` may be 0 or ∞. ``standard_error``
    is that of 1/λ, from the Fisher information (∞ if θ is not identified).
    """

    lam: float
    interval: tuple[float, float]
    confidence: float
    log_likelihood: float
    anchor_log_likelihood: float
    standard_error: float
    observations: int


def fit_lambda(
    actions: npt.ArrayLike,
    anchors: npt.ArrayLike,
    utilities: npt.ArrayLike,
    *,
    mask: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> LambdaFit:
    """Fit one player's λ to its actions.

    Parameters
    ----------
    actions : (observations,)
        The action taken each time.
    anchors : (actions,) or (observations, actions)
        The anchor policy, the same each time or one per observation.
    utilities : (actions,) or (observations, actions)
        Value of each action for the player, e.g. against the others' average policy.
    mask : optional
        True where an action exists, for ragged decisions padded to one width.
    confidence
        Confidence of the interval.

    >>> fit = fit_lambda([0, 0, 0, 1], [0.5, 0.5], [1.0, 0.0])
    >>> round(fit.lam, 4)  # three times in four: exp(1/λ) = 3
    0.9102
    """
    chosen = np.atleast_1d(np.asarray(actions))
    if chosen.ndim != 1 or not len(chosen):
        raise InputError("actions: a list of at least one observed action is needed")
    if not np.issubdtype(chosen.dtype, np.integer):
        raise InputError("actions: must be whole numbers")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence: must lie between 0 and 1, not {confidence:g}")
    tau = np.atleast_2d(check_policy(anchors, "anchors"))
    q = np.atleast_2d(np.asarray(utilities, np.float64))
    try:
        shape = np.broadcast_shapes(tau.shape, q.shape, (len(chosen), 1))
    except ValueError:
        raise InputError(
            f"anchors {tau.shape}, utilities {q.shape} and {len(chosen)} actions do not match"
        ) from None
    tau, q = np.broadcast_to(tau, shape), np.broadcast_to(q, shape)
    if mask is not None:
        tau = np.where(np.broadcast_to(np.asarray(mask, bool), shape), tau, 0.0)
    if (chosen < 0).any() or (chosen >= shape[1]).any():
        raise InputError(f"actions: must lie between 0 and {shape[1] - 1}")
    rows = np.arange(len(chosen))
    if (tau[rows, chosen] == 0.0).any():
        first = int(np.argmax(tau[rows, chosen] == 0.0))
        raise InputError(f"actions: observation {first} has probability 0 under its anchor")
    if not np.isfinite(q[tau > 0.0]).all():
        raise InputError("utilities: has an entry that is not a finite number")
    return _fit(_Likelihood(tau, q, chosen), confidence)


class _Likelihood:
    """ℓ(θ) = Σ log π_θ(a), π_θ ∝ τ·exp(θq), and its derivatives."""

    def __init__(self, tau: Array, q: Array, chosen: npt.NDArray[np.int64]) -> None:
        rows = np.arange(len(chosen))
        with np.errstate(divide="ignore"):
            self.log_tau = np.log(tau)
        best = np.where(tau > 0.0, q, -np.inf).max(axis=1, keepdims=True)
        self.gap = np.where(tau > 0.0, q - best, 0.0)  # ≤ 0: shifting q changes nothing
        self.taken = self.gap[rows, chosen]
        self.log_tau_taken = self.log_tau[rows, chosen]
        self.observations = len(chosen)

    def _weights(self, theta: float) -> tuple[Array, Array]:
        logits = self.log_tau + theta * self.gap
        highest = logits.max(axis=1, keepdims=True)
        weights = np.exp(logits - highest)
        total = weights.sum(axis=1, keepdims=True)
        return weights / total, highest[:, 0] + np.log(total[:, 0])

    def value(self, theta: float) -> float:
        _, log_total = self._weights(theta)
        return float((self.log_tau_taken + theta * self.taken - log_total).sum())

    def slope(self, theta: float) -> float:
        policy, _ = self._weights(theta)
        return float((self.taken - (policy * self.gap).sum(axis=1)).sum())

    def information(self, theta: float) -> float:
        policy, _ = self._weights(theta)
        mean = (policy * self.gap).sum(axis=1)
        return float(((policy * self.gap**2).sum(axis=1) - mean**2).sum())

    @property
    def limit(self) -> float:
        """ℓ(∞): finite only if every action taken was a best one."""
        if (self.taken < 0.0).any():
            return -inf
        tied = np.where(self.gap == 0.0, np.exp(self.log_tau), 0.0).sum(axis=1)
        return float((self.log_tau_taken - np.log(tied)).sum())


def _fit(likelihood: _Likelihood, confidence: float) -> LambdaFit:
    anchor = likelihood.value(0.0)
    spread = float(-likelihood.gap.min())
    if likelihood.slope(0.0) <= 0.0 or spread == 0.0:
        theta, top = 0.0, anchor
    elif not (likelihood.taken < 0.0).any():
        theta, top = inf, likelihood.limit
    else:
        high = _first(lambda x: likelihood.slope(x) <= 0.0, 1.0 / spread)
        theta = _bisect(lambda x: likelihood.slope(x) > 0.0, 0.0, high)
        top = likelihood.value(theta)
    # 2(ℓ(θ̂) − ℓ(θ)) ≤ the quantile of χ² with one degree of freedom.
    floor = top - NormalDist().inv_cdf((1.0 + confidence) / 2.0) ** 2 / 2.0
    known = theta if theta < inf else _first(lambda x: likelihood.value(x) >= floor, 1.0 / spread)
    low = 0.0 if anchor >= floor else _bisect(lambda x: likelihood.value(x) < floor, 0.0, known)
    if likelihood.limit >= floor or spread == 0.0:
        high = inf
    else:
        beyond = _first(lambda x: likelihood.value(x) < floor, max(2.0 * theta, 1.0 / spread))
        high = _bisect(lambda x: likelihood.value(x) >= floor, theta, beyond)
    information = likelihood.information(theta) if theta < inf else 0.0
    return LambdaFit(
        lam=_inverse(theta),
        interval=(_inverse(high), _inverse(low)),
        confidence=confidence,
        log_likelihood=top,
        anchor_log_likelihood=anchor,
        standard_error=1.0 / sqrt(information) if information > 0.0 else inf,
        observations=likelihood.observations,
    )


def _first(holds: Callable[[float], bool], start: float) -> float:
    """Return the first of start, 2·start, 4·start, … at which `holds`."""
    while not holds(start):
        start *= 2.0
    return start


def _bisect(left_of: Callable[[float], bool], low: float, high: float) -> float:
    """Return where `left_of` turns from true to false between `low` and `high`."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if left_of(middle) else (low, middle)
    return (low + high) / 2.0


def _inverse(theta: float) -> float:
    return inf if theta == 0.0 else 0.0 if theta == inf else 1.0 / theta

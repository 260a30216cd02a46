"""The two KL-regularised policies: value traded against distance from an anchor τ.

================  =======================================  =================================
operator          objective over the simplex               solution
================  =======================================  =================================
:func:`forward_kl`  q·π − λ·KL(π‖τ)  (piKL, Eq. 5)           π ∝ τ·exp(q/λ)
:func:`reverse_kl`  q·π − λ·KL(τ‖π)  (the limit of PUCT)     π = λτ/(α − q), α with Σπ = 1
================  =======================================  =================================

Both take arrays whose last axis is the actions; leading axes are a batch and broadcast against
each other. Ragged batches are padded and given a ``mask`` of the real actions. Everything is
computed in float64.

Actions with τ = 0 get no mass. For the forward operator that is forced (KL(π‖τ) is infinite
otherwise); for the reverse one it is a choice, since KL(τ‖π) does not see them: we optimise over
τ's support, so that an action no person would play is never played at any λ. A probability too
small for a normal float (2.2e-308) counts as 0.

The limits are exact: λ = 0 puts all mass on the best supported actions (ties shared in
proportion to τ), λ = ∞ returns τ.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError

Array = npt.NDArray[np.float64]

_NEWTON_STEPS = 200  # far beyond need: see `reverse_kl`


def forward_kl(
    tau: npt.ArrayLike,
    q: npt.ArrayLike,
    lam: npt.ArrayLike,
    *,
    mask: npt.ArrayLike | None = None,
) -> Array:
    """Return argmax over π of q·π − λ·KL(π‖τ), that is π ∝ τ·exp(q/λ).

    Parameters
    ----------
    tau : (..., actions)
        The anchor policy; each row sums to one.
    q : (..., actions)
        The value of each action.
    lam : (...)
        λ ≥ 0 on the scale of q; 0 and ∞ are allowed.
    mask : (..., actions), optional
        True where an action exists.

    Returns
    -------
    (..., actions)
        The policy.

    >>> forward_kl([0.5, 0.5], [1.0, 0.0], 1.0).round(4)
    array([0.7311, 0.2689])
    >>> forward_kl([0.9, 0.1], [0.0, 1.0], [0.0, np.inf])
    array([[0. , 1. ],
           [0.9, 0.1]])
    """
    tau, gap, _ = _scaled_gaps(tau, q, lam, mask)
    # The best supported action has no gap, so the weights cannot all vanish.
    return _normalised(tau * np.exp(-gap))


def reverse_kl(
    tau: npt.ArrayLike,
    q: npt.ArrayLike,
    lam: npt.ArrayLike,
    *,
    mask: npt.ArrayLike | None = None,
) -> Array:
    """Return argmax over π of q·π − λ·KL(τ‖π), that is π = λτ/(α − q) (Grill et al. 2020).

    The paper prints this objective with a plus sign, whose supremum is infinite; it is a minus.
    PUCT's visit counts approach this policy with λ = c√N/(k + N) for k actions and N visits.

    Parameters and result are those of :func:`forward_kl`.

    >>> reverse_kl([0.5, 0.5], [1.0, 0.0], 1.0).round(4)
    array([0.7071, 0.2929])
    """
    tau, gap, support = _scaled_gaps(tau, q, lam, mask)
    # With y = (α − max q)/λ and gaps h = (max q − q)/λ the condition is S(y) = Σ τ/(y + h) = 1.
    # 1/S is a harmonic mean of the y + h, hence increasing and concave: Newton on 1/S = 1 from
    # the left end max(τ − h), i.e. α = max(q + λτ), climbs to the root and never passes it.
    y = np.where(support, tau - gap, -np.inf).max(axis=-1, keepdims=True)
    for _ in range(_NEWTON_STEPS):
        terms = tau / (y + gap)
        total = terms.sum(axis=-1, keepdims=True)
        relative_slope = (terms * (y / (y + gap))).sum(axis=-1, keepdims=True)  # −y·S'(y)
        higher = y * (1.0 + (total - 1.0) * total / relative_slope)
        if not (higher > y).any():
            break
        y = np.maximum(y, higher)
    return _normalised(tau / (y + gap))


def kl_divergence(p: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """KL(p‖q) in nats along the last axis; ∞ where p has mass that q lacks.

    >>> float(kl_divergence([1.0, 0.0], [0.5, 0.5]).round(6))
    0.693147
    """
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0.0, p * (np.log(p) - np.log(q)), 0.0)
    return np.asarray(terms.sum(axis=-1))


def entropy(p: npt.ArrayLike) -> Array:
    """The entropy of p in nats, along the last axis.

    >>> float(entropy([0.5, 0.5]).round(6))
    0.693147
    """
    p = np.asarray(p, np.float64)
    positive = np.where(p > 0.0, p, 1.0)
    return np.asarray(0.0 - (positive * np.log(positive)).sum(axis=-1))


def check_policy(policy: npt.ArrayLike, what: str) -> Array:
    """Return `policy` as a float64 array of distributions, or raise an error that names `what`."""
    try:
        array = np.asarray(policy, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: not an array of numbers") from None
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"{what}: no actions")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: an entry is not a finite number")
    if (array < 0.0).any():
        raise InputError(f"{what}: negative probability {array.min():g}")
    sums = array.sum(axis=-1)
    worst = float(np.ravel(sums)[np.argmax(np.abs(np.ravel(sums) - 1.0))])
    if abs(worst - 1.0) > 1e-6:
        raise InputError(f"{what}: sums to {worst:g}, not to 1")
    return array


def _scaled_gaps(
    tau: npt.ArrayLike, q: npt.ArrayLike, lam: npt.ArrayLike, mask: npt.ArrayLike | None
) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """τ normalised, gaps (max q − q)/λ ≥ 0 over τ's support (0 elsewhere), and the support."""
    tau, q = np.asarray(tau, np.float64), np.asarray(q, np.float64)
    lam = np.asarray(lam, np.float64)[..., None]
    real: Any = True if mask is None else np.asarray(mask, bool)
    shape = np.broadcast_shapes(tau.shape, q.shape, lam.shape, np.shape(real))
    if not shape or shape[-1] == 0:
        raise InputError("tau and q need at least one action on their last axis")
    if np.isnan(lam).any() or (lam < 0.0).any():
        raise InputError("lambda: a number at least 0")
    tau = check_policy(np.where(real, np.broadcast_to(tau, shape), 0.0), "tau")
    support = tau >= np.finfo(np.float64).tiny
    tau = np.where(support, tau, 0.0)
    if not np.isfinite(np.where(support, q, 0.0)).all():
        raise InputError("q: an entry is not a finite number")
    best = np.where(support, q, -np.inf).max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Halving first keeps the gap of any two finite values finite.
        gap = np.where(support & (q < best), 2.0 * ((0.5 * best - 0.5 * q) / lam), 0.0)
        gap = np.where(np.isinf(lam), 0.0, gap)
    return _normalised(tau), gap, support


def _normalised(weights: Array) -> Array:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

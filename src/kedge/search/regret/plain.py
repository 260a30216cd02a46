"""The regret minimisers in plain Python: the specification of the native core.

Each class is one player of one game. ``policy`` is its next policy; ``observe(u)`` takes the
utility of each of its actions, against the others' sampled actions or in expectation. Tests compare
the native core with these classes, iterate by iterate.
"""

from collections.abc import Sequence
from math import exp, inf, log, sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.regularize import Array, kl_divergence

_TINY = 1e-6  # the released code's guard against a zero deviation or weight


class StepCounter:
    """The number of observed iterations and their total weight."""

    def __init__(self, weighting: str) -> None:
        self.linear = weighting == "linear"
        self.observed = 0
        self.weight = 0.0

    @property
    def discount(self) -> float:
        """The factor of all totals before the next iteration is added with weight 1."""
        return (self.observed + _TINY) / (self.observed + 1) if self.linear else 1.0

    @property
    def next_weight(self) -> float:
        return self.weight * self.discount + 1.0

    def count(self) -> None:
        self.weight = self.next_weight
        self.observed += 1


class PlainPlayer(Protocol):
    @property
    def policy(self) -> Array: ...
    def observe(self, utilities: Array) -> None: ...


class PlainPiKLHedge:
    """Algorithm 1, with η = eta·t^(−decay), or eta/(σ√t) when `adaptive`."""

    def __init__(
        self,
        tau: Array,
        lam: float,
        eta: float,
        decay: float = 0.0,
        adaptive: bool = False,
        indexing: str = "t",
        weighting: str = "uniform",
    ) -> None:
        self.tau = tau
        self.lam = lam
        self.eta, self.decay, self.adaptive = eta, decay, adaptive
        self.anchor_first = indexing == "t"
        self.counter = StepCounter(weighting)
        self.cumulative_values = np.zeros(len(tau))  # CV
        self.mean = self.squares = 0.0  # of the earned utilities: σ² = squares / weight

    def _eta(self, count: float) -> float:
        if not self.adaptive:
            return float(self.eta * (self.counter.observed + 1) ** -self.decay)
        sigma = sqrt(self.squares / self.counter.weight) if self.counter.weight else 0.0
        return self.eta / ((sigma + _TINY) * sqrt(count))

    @property
    def policy(self) -> Array:
        count = self.counter.next_weight if self.anchor_first else self.counter.weight
        logits = []
        for cv, t in zip(self.cumulative_values, self.tau, strict=True):
            if self.lam > 0.0 and t == 0.0:
                logits.append(-inf)
            elif count == 0.0:
                logits.append(0.0)
            elif self.lam == inf:
                logits.append(log(t))
            elif self.lam == 0.0:
                logits.append(self._eta(count) * cv)
            else:  # Eq. 6, numerator and denominator divided by η
                logits.append(
                    (cv + count * self.lam * log(t)) / (1.0 / self._eta(count) + count * self.lam)
                )
        return _softmax(logits)

    def observe(self, utilities: Array) -> None:
        earned = float(self.policy @ utilities)
        discount = self.counter.discount
        self.counter.count()
        self.cumulative_values = self.cumulative_values * discount + utilities
        off = earned - self.mean
        self.mean += off / self.counter.weight
        self.squares = self.squares * discount + off * (earned - self.mean)


class PlainRegretMatching:
    """Regret matching and its variants."""

    def __init__(
        self,
        actions: int,
        plus: bool = False,
        optimistic: bool = False,
        weighting: str = "uniform",
        fallback: str = "uniform",
    ) -> None:
        self.plus, self.optimistic, self.fallback = plus, optimistic, fallback
        self.counter = StepCounter(weighting)
        self.regrets = np.zeros(actions)
        self.last = np.zeros(actions)

    @property
    def policy(self) -> Array:
        basis = self.regrets + (self.last if self.optimistic else 0.0)
        positive = np.maximum(basis, 0.0)
        if positive.sum() > 0.0:
            return np.asarray(positive / positive.sum())
        if self.fallback == "largest" and self.counter.observed:
            return np.asarray(np.eye(len(basis))[np.argmax(basis)])
        return np.full(len(basis), 1.0 / len(basis))

    def observe(self, utilities: Array) -> None:
        self.last = utilities - self.policy @ utilities  # Eq. 4
        self.regrets = self.regrets * self.counter.discount + self.last
        if self.plus:
            self.regrets = np.maximum(self.regrets, 0.0)
        self.counter.count()


class PlainMMD:
    """Magnetic mirror descent from the anchor (from uniform when λ = 0)."""

    def __init__(self, tau: Array, lam: float, eta: float) -> None:
        self.lam, self.eta = lam, eta
        self.log_tau = [log(t) if t > 0.0 else -inf for t in tau]
        self.log_policy = [0.0] * len(tau) if lam == 0.0 else list(self.log_tau)

    @property
    def policy(self) -> Array:
        return _softmax(self.log_policy)

    def observe(self, utilities: Array) -> None:
        if self.lam == inf:
            return
        pull = self.eta * self.lam
        self.log_policy = [
            (log_p + (pull * log_t if pull else 0.0) + self.eta * u) / (1.0 + pull)
            for log_p, log_t, u in zip(self.log_policy, self.log_tau, utilities, strict=True)
        ]


class PlainLearner:
    """The players of a batch of games, with the methods of the native learner.

    A player with several types (DiL-piKL) has one piKL-Hedge per type, all with the same utilities;
    the others meet their mixture.
    """

    def __init__(
        self,
        *,
        rule: str,
        adaptive: bool,
        anchor_first: bool,
        linear_weighting: bool,
        linear_average: bool,
        plus: bool,
        optimistic: bool,
        largest: bool,
        actions: Sequence[Sequence[int]],
        tau: Array,
        types: Sequence[int],
        lam: Array,
        share: Array,
        eta: Array,
        decay: Array,
    ) -> None:
        weighting = "linear" if linear_weighting else "uniform"
        self.actions = [list(game) for game in actions]
        self.counter = StepCounter(weighting)
        self.average_counter = StepCounter("linear" if linear_average else "uniform")
        self.seats: list[list[PlainPlayer]] = []  # the types of each player
        self.shares: list[list[float]] = []
        at = kind = 0
        for count, kinds in zip((n for game in actions for n in game), types, strict=True):
            anchor = tau[at : at + count]
            seat: list[PlainPlayer] = []
            for k in range(kind, kind + kinds):
                if rule == "regret-matching":
                    fallback = "largest" if largest else "uniform"
                    seat.append(PlainRegretMatching(count, plus, optimistic, weighting, fallback))
                elif rule == "mirror-descent":
                    seat.append(PlainMMD(anchor, float(lam[k]), float(eta[k])))
                else:
                    seat.append(
                        PlainPiKLHedge(
                            anchor,
                            float(lam[k]),
                            float(eta[k]),
                            float(decay[k]),
                            adaptive,
                            "t" if anchor_first else "t-1",
                            weighting,
                        )
                    )
            self.seats.append(seat)
            self.shares.append([float(s) for s in share[kind : kind + kinds]])
            at += count
            kind += kinds
        self._totals = np.zeros(len(tau))
        self._anchors = np.split(tau, np.cumsum([n for game in actions for n in game])[:-1])
        self._sums = np.zeros(sum(len(player.policy) for seat in self.seats for player in seat))
        self._earned = np.zeros(len(lam))
        self._paid = np.zeros(len(lam))

    def _policies(self) -> list[Array]:
        """Each player's mixture over its types, which the others meet."""
        return [
            sum((s * p.policy for s, p in zip(shares, seat, strict=True)), np.zeros(len(anchor)))
            for seat, shares, anchor in zip(self.seats, self.shares, self._anchors, strict=True)
        ]

    def run(
        self, source: _core.Utilities, count: int, uniforms: Array | None, threads: int = 0
    ) -> None:
        widths = [len(game) for game in self.actions]
        draws = (
            np.split(uniforms, np.cumsum([count * width for width in widths])[:-1])
            if uniforms is not None
            else []
        )
        for t in range(count):
            policies, utilities, at = self._policies(), [], 0
            for game, width in enumerate(widths):
                mine = policies[at : at + width]
                at += width
                if uniforms is None:
                    utilities.append(source.expected(game, np.concatenate(mine)))
                else:
                    row = draws[game].reshape(count, width)[t]
                    chosen = [sample(p, u) for p, u in zip(mine, row, strict=True)]
                    utilities.append(source.against(game, chosen))
            self.observe(np.concatenate(utilities))

    def sample(self, uniforms: Array) -> npt.NDArray[np.int64]:
        pairs = zip(self._policies(), uniforms, strict=True)
        return np.array([sample(policy, uniform) for policy, uniform in pairs])

    def observe(self, utilities: Array) -> None:
        discount = self.counter.discount
        self.counter.count()
        earned, paid, played = [], [], []
        at = 0
        for seat, anchor in zip(self.seats, self._anchors, strict=True):
            mine = utilities[at : at + len(anchor)]
            at += len(anchor)
            for player in seat:
                policy = player.policy
                played.append(policy)
                earned.append(float(policy @ mine))
                paid.append(float(kl_divergence(policy, anchor)))
                player.observe(mine)
        self._totals = self._totals * discount + utilities
        self._sums = self._sums * self.average_counter.discount + np.concatenate(played)
        self.average_counter.count()
        self._earned = self._earned * discount + earned
        self._paid = self._paid * discount + paid

    @property
    def iterations(self) -> int:
        return self.counter.observed

    @property
    def weight(self) -> float:
        return self.counter.weight

    @property
    def average_weight(self) -> float:
        return self.average_counter.weight

    def current(self) -> Array:
        return np.concatenate([player.policy for seat in self.seats for player in seat])

    def average_sum(self) -> Array:
        return self._sums

    def earned(self) -> Array:
        return self._earned

    def divergence(self) -> Array:
        return self._paid

    def cumulative(self) -> Array:
        return self._totals


def sample(policy: Array, uniform: float) -> int:
    """Return the action at `uniform` of the cumulative distribution."""
    total, chosen = 0.0, -1
    for action, probability in enumerate(policy):
        if probability > 0.0:
            chosen = action  # rounding may leave the sum just short of 1
            total += probability
            if total > uniform:
                break
    return chosen


def _softmax(logits: list[float]) -> Array:
    highest = max(logits)
    weights = [exp(logit - highest) for logit in logits]
    return np.array(weights) / sum(weights)

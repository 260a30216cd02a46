"""What to search with, and what a search found."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, forward_kl, reverse_kl

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """The dial of a PUCT search.

    ``playouts`` counts evaluated states, the root among them: 50 is the root and 49 more.
    ``constant_lambda`` > 0 lets c grow as √N, so that λ = c√N/N stays what it is however long the
    search (beyond the paper; ``c_puct`` is then not used).
    """

    c_puct: float = 2.0
    playouts: int = 50
    constant_lambda: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.c_puct < np.inf:
            raise InputError(f"c_puct: a number at least 0, not {self.c_puct:g}")
        if not 1 <= self.playouts < 2**31:
            raise InputError(f"playouts: at least 1, not {self.playouts}")
        if not 0.0 <= self.constant_lambda < np.inf:
            raise InputError(f"constant_lambda: a number at least 0, not {self.constant_lambda:g}")


@dataclass(frozen=True)
class SearchResult:
    """The root after a search, one entry an action in ascending order of actions."""

    settings: Settings
    actions: Integers
    prior: Array
    """τ, the anchor."""
    visits: Integers
    """N(s, a)."""
    totals: Array
    """Σ of the values backed up through each action, for the player to move."""
    network_value: float
    """The evaluator's own value of the root, for the player to move."""
    lines: list[list[int]]
    """The most visited line after each action, the action first."""

    @cached_property
    def q(self) -> Array:
        """Q(s, a) = totals / visits; NaN where an action was never tried."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.visits > 0, self.totals / self.visits, np.nan)

    @cached_property
    def filled_q(self) -> Array:
        """Q, with the plain mean of the tried actions for those never tried."""
        tried = self.q[self.visits > 0]
        return np.where(self.visits > 0, self.q, tried.mean() if len(tried) else 0.0)

    @cached_property
    def value(self) -> float:
        """The mean of all evaluations, the root's own among them, for the player to move."""
        return float((self.network_value + self.totals.sum()) / (1 + self.visits.sum()))

    @cached_property
    def order(self) -> Integers:
        """Indices of actions, best first: by visits, then prior, then the lower action."""
        return np.lexsort((self.actions, -self.prior, -self.visits)).astype(np.int64)

    @property
    def best(self) -> int:
        """The action with the most visits."""
        return int(self.actions[self.order[0]])

    @property
    def principal_variation(self) -> list[int]:
        return self.lines[self.order[0]]

    def policy(self, temperature: float = 1.0) -> Array:
        """N^(1/T)/Σ; the prior's where nothing was visited. T = 0 is the best action."""
        if not temperature >= 0.0:
            raise InputError(f"temperature: at least 0, not {temperature:g}")
        weights = self.visits / self.visits.max() if self.visits.any() else self.prior
        if temperature == 0.0:
            return np.asarray(np.arange(len(weights)) == self.order[0], np.float64)
        powers = np.asarray(weights / weights.max()) ** (1.0 / temperature)
        return np.asarray(powers / powers.sum())

    def smooth_policy(self, k: float = 0.0) -> Array:
        """The policy that the visits approach: reverse KL with λ = c√N/(k + N), N = Σ visits.

        Unlike the visits it gives every action of the prior some probability (appendix C).
        """
        total = int(self.visits.sum())
        if total == 0:
            return self.prior
        c = self.settings.constant_lambda * sqrt(total) or self.settings.c_puct
        return reverse_kl(self.prior, self.filled_q, c * sqrt(total) / (k + total))

    def forward_policy(self, lam: float) -> Array:
        """τ·exp(q/λ): the forward-KL choice after search (beyond the paper's chess and Go)."""
        return forward_kl(self.prior, self.filled_q, lam)

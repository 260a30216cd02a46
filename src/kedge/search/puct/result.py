"""Settings and results of a PUCT search."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, forward_kl, reverse_kl

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """The dial of a PUCT search.

    ``playouts`` counts evaluated states, the root among them: 50 is the root and 49 more.

    Beyond the paper, and off unless asked for: ``constant_lambda`` > 0 lets c grow as √N, so that
    λ = c√N/N stays what it is however long the search (``c_puct`` is then not used); ``batch`` > 1
    lets so many leaves of one tree wait for the network together, each counted as a loss meanwhile
    (virtual loss), which is faster for a single tree and no longer the sequential search.

    ``gumbel`` > 0 plans the root by sequential halving over so many actions (Danihelka et al.
    2022): those with the highest g + log τ are tried, then the better half of them by
    g + log τ + σ(q), and so on; σ(q) = (c_visit + max N)·c_scale·(q + 1)/2. The noise g is drawn
    with ``gumbel_seed``, and is 0 without one; roots that are to differ are given their own seeds.
    """

    c_puct: float = 2.0
    playouts: int = 50
    constant_lambda: float = 0.0
    batch: int = 1
    gumbel: int = 0
    gumbel_seed: int | None = None
    c_visit: float = 50.0
    c_scale: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.c_puct < np.inf:
            raise InputError(f"c_puct: a number at least 0, not {self.c_puct:g}")
        if not 1 <= self.playouts < 2**31:
            raise InputError(f"playouts: at least 1, not {self.playouts}")
        if not 0.0 <= self.constant_lambda < np.inf:
            raise InputError(f"constant_lambda: a number at least 0, not {self.constant_lambda:g}")
        if not 1 <= self.batch <= 4096:
            raise InputError(f"batch: from 1 to 4096, not {self.batch}")
        if not 0 <= self.gumbel < 2**31:
            raise InputError(f"gumbel: at least 0 actions, not {self.gumbel}")
        if self.gumbel_seed is not None and self.gumbel_seed < 0:
            raise InputError(f"gumbel_seed: at least 0, not {self.gumbel_seed}")
        if not (0.0 <= self.c_visit < np.inf and 0.0 <= self.c_scale < np.inf):
            raise InputError("c_visit and c_scale: numbers at least 0")

    def gumbel_noise(self, actions: int) -> Array:
        """g of the root's legal actions, in their order."""
        if self.gumbel_seed is None:
            return np.zeros(actions)
        return np.random.default_rng(self.gumbel_seed).gumbel(size=actions)


@dataclass(frozen=True)
class SearchResult:
    """The root after a search: the last axis of arrays is its actions, in ascending order.

    It may be many roots at once, one a row; then those with fewer actions are padded, and ``mask``
    is True where an action is real. ``result[i]`` is one of them.
    """

    settings: Settings
    actions: Integers
    prior: Array
    """τ, the anchor."""
    visits: Integers
    """N(s, a)."""
    totals: Array
    """Σ of the values backed up through each action, for the player to move."""
    network_value: Array
    """The evaluator's own value of the root, for the player to move."""
    lines: list[list[int]] | None = None
    """Most visited line after each action, the action first; for a single root only."""
    mask: npt.NDArray[np.bool_] | None = None

    def __getitem__(self, root: int) -> "SearchResult":
        real = slice(None) if self.mask is None else self.mask[root]
        return replace(
            self,
            actions=self.actions[root][real],
            prior=self.prior[root][real],
            visits=self.visits[root][real],
            totals=self.totals[root][real],
            network_value=self.network_value[root],
            mask=None,
        )

    @cached_property
    def q(self) -> Array:
        """Q(s, a) = totals / visits; NaN where an action was never tried."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.visits > 0, self.totals / self.visits, np.nan)

    @cached_property
    def filled_q(self) -> Array:
        """Q, with the plain mean of the tried actions for those never tried."""
        tried = self.visits > 0
        total = np.where(tried, self.q, 0.0).sum(axis=-1, keepdims=True)
        return np.where(tried, self.q, total / np.maximum(1, tried.sum(axis=-1, keepdims=True)))

    @cached_property
    def value(self) -> Array:
        """The mean of all evaluations, the root's own among them, for the player to move."""
        total = self.network_value + self.totals.sum(axis=-1)
        return np.asarray(total / (1 + self.visits.sum(axis=-1)))

    @cached_property
    def completed_q(self) -> Array:
        """Q, with the mixed value for actions never tried: see `plain.py` on a Gumbel root."""
        tried = self.visits > 0
        weights = np.where(tried, self.prior, 0.0)
        weighted = (weights * np.where(tried, self.q, 0.0)).sum(axis=-1)
        mean = weighted / np.where(tried.any(axis=-1), weights.sum(axis=-1), 1.0)
        total = self.visits.sum(axis=-1)
        mixed = (self.network_value + total * mean) / (total + 1.0)
        return np.where(tried, self.q, mixed[..., None])

    @cached_property
    def first(self) -> Integers:
        """Index of the most visited action; among equals, the one with the highest prior.

        Under a Gumbel root g + log τ + σ(q) stands for the prior: it is the action that the root
        chooses.
        """
        score = self.prior
        if self.settings.gumbel:
            with np.errstate(divide="ignore"):
                score = np.log(self.prior) + self.completed_q / self._gumbel_lambda[..., None]
            score = score + self.settings.gumbel_noise(self.actions.shape[-1])
        most = self.visits == self.visits.max(axis=-1, keepdims=True)
        return np.asarray(np.where(most, score, -np.inf).argmax(axis=-1), np.int64)

    @property
    def best(self) -> Integers:
        """The action with the most visits."""
        first = self.first[..., None]
        return np.asarray(np.take_along_axis(self.actions, first, axis=-1)[..., 0])

    def policy(self, temperature: float = 1.0) -> Array:
        """N^(1/T)/Σ; the prior's where nothing was visited. T = 0 is the best action.

        Under a Gumbel root its improved policy stands for N, which the halving fixes.
        """
        if temperature == 0.0:
            places = np.arange(self.actions.shape[-1])
            return np.asarray(places == self.first[..., None], np.float64)
        if self.settings.gumbel:
            return sharpened(self.gumbel_policy(), temperature)
        visited = self.visits.any(axis=-1, keepdims=True)
        return sharpened(np.where(visited, self.visits, self.prior), temperature)

    def smooth_policy(self, k: float = 0.0) -> Array:
        """The policy that the visits approach: reverse KL with λ = c√N/(k + N), N = Σ visits.

        Unlike the visits it gives every action of the prior some probability (appendix C). Under a
        Gumbel root it is the improved policy, which does so too.
        """
        if self.settings.gumbel:
            return self.gumbel_policy()
        total = self.visits.sum(axis=-1)
        scale = self.settings.constant_lambda * total
        if not self.settings.constant_lambda:
            scale = self.settings.c_puct * np.sqrt(total)
        lam = np.where(total > 0, scale / np.maximum(1.0, k + total), np.inf)
        policy = reverse_kl(self.prior, self.filled_q, lam, mask=self.mask)
        return np.where(total[..., None] > 0, policy, self.prior)

    def forward_policy(self, lam: float) -> Array:
        """τ·exp(q/λ): the forward-KL choice after search (beyond the paper's chess and Go)."""
        return forward_kl(self.prior, self.filled_q, lam, mask=self.mask)

    def gumbel_policy(self) -> Array:
        """softmax(log τ + σ(completed q)): the improved policy of a Gumbel root, without its noise.

        It is the forward-KL choice with λ = 2/((c_visit + max N)·c_scale).
        """
        return forward_kl(self.prior, self.completed_q, self._gumbel_lambda, mask=self.mask)

    @property
    def _gumbel_lambda(self) -> Array:
        scale = (
            self.settings.c_visit + self.visits.max(axis=-1, initial=0)
        ) * self.settings.c_scale
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 / scale)


def sharpened(weights: Array, temperature: float) -> Array:
    """w^(1/T)/Σ along the last axis; at T = 0, all on the (first) highest."""
    if not temperature >= 0.0:
        raise InputError(f"temperature: at least 0, not {temperature:g}")
    if temperature == 0.0:
        places = np.arange(weights.shape[-1])
        return np.asarray(places == weights.argmax(axis=-1)[..., None], np.float64)
    powers = (weights / weights.max(axis=-1, keepdims=True)) ** (1.0 / temperature)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

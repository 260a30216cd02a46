"""Parts of one-ply search in Diplomacy: candidate orders, and values of joint orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy import (
    POWERS,
    DiplomacyState,
    PackedOrders,
    coordinated,
)
from kedge.models.diplomacy.model import (
    Drawn,
    DrawsEveryone,
    OrderModel,
    Question,
    ValueModel,
)
from kedge.regularize import Array

MOST_CANDIDATES = 64  # a joint action of seven powers is a number of 42 bits
ROLLOUT_TEMPERATURE, ROLLOUT_TOP_P = 0.75, 0.95


@dataclass(frozen=True)
class CandidateSettings:
    """Selection of a power's candidates: the likeliest of `samples` draws of the human model."""

    candidates: int = 30
    """Most candidates per power."""
    per_unit: float = 3.5
    """Most candidates per unit with orders due."""
    samples: int = 1024
    top_p: float = 0.95
    coordinated_first: bool = False
    """Whether coordinated joint orders come before likelier ones."""

    def __post_init__(self) -> None:
        whole = isinstance(self.candidates, int)
        if not whole or not 1 <= self.candidates <= MOST_CANDIDATES:
            raise InputError(f"candidates: from 1 to {MOST_CANDIDATES}, not {self.candidates}")
        if not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"samples: a whole number, at least 1, not {self.samples}")
        if not isinstance(self.per_unit, int | float) or not 0.0 < self.per_unit < inf:
            raise InputError(f"per_unit: a number above 0, not {self.per_unit}")


class Candidates(NamedTuple):
    """Joint orders that a power may choose, and their probabilities for people: the anchor τ."""

    orders: list[PackedOrders]
    anchor: Array


#: Candidates of a power without orders due.
NOTHING = Candidates([np.zeros(0, np.uint32)], np.ones(1))


def choose_candidates(
    model: OrderModel,
    questions: Sequence[Question],
    settings: CandidateSettings,
    rng: np.random.Generator,
) -> list[Candidates]:
    """Draw joint orders of the model and select the candidates of each question."""
    limits = [
        max(1, min(settings.candidates, ceil(settings.per_unit * state.due[power])))
        for state, power in questions
    ]
    # Only whole joint orders show whether they are coordinated, so then all of them are needed.
    most = None if settings.coordinated_first else limits
    draws = model.draw(questions, settings.samples, rng, top_p=settings.top_p, most=most)
    return [_select(drawn, limit, settings) for drawn, limit in zip(draws, limits, strict=True)]


def _select(drawn: Drawn, limit: int, settings: CandidateSettings) -> Candidates:
    likeliest = np.argsort(-drawn.log_probability, kind="stable")
    if settings.coordinated_first:
        sound = coordinated(drawn.orders)
        likeliest = likeliest[np.argsort(~sound[likeliest], kind="stable")]
    kept = likeliest[:limit]
    return Candidates([drawn.orders[i] for i in kept], normalised(drawn.log_probability[kept]))


def with_orders(
    model: OrderModel,
    questions: Sequence[Question],
    candidates: Sequence[Candidates],
    given: Sequence[PackedOrders],
) -> list[Candidates]:
    """Return the candidates with one more joint order each, unless they have it already."""
    firsts = [old.orders[0] for old in candidates]
    scores = model.score([*questions] * 2, [*given, *firsts])
    logs = [float(score.sum()) for score in scores]
    return [
        old if place_among(old.orders, orders) is not None else _with(old, orders, mine - first)
        for old, orders, mine, first in zip(
            candidates, given, logs[: len(given)], logs[len(given) :], strict=True
        )
    ]


def _with(candidates: Candidates, orders: PackedOrders, log_odds: float) -> Candidates:
    """Add orders; `log_odds` is their log-probability less that of the first candidate."""
    kept, anchor = (column[: MOST_CANDIDATES - 1] for column in candidates)
    tiny = np.finfo(np.float64).tiny  # if the model gives it no probability
    whole = np.append(anchor, max(anchor[0] * np.exp(log_odds), tiny))
    return Candidates([*kept, orders], whole / whole.sum())


def place_among(candidates: Sequence[PackedOrders], orders: PackedOrders) -> int | None:
    """Return the index of the same joint orders, however they are sorted; None if missing."""
    same = (np.array_equal(np.sort(joint), np.sort(orders)) for joint in candidates)
    return next((i for i, is_same in enumerate(same) if is_same), None)


def normalised(log_probability: Array) -> Array:
    weights = np.exp(log_probability - log_probability.max())
    return np.asarray(weights / weights.sum())


class JointValues:
    """Utilities of the powers' candidates against joint actions, for several roots at once.

    Each joint action is adjudicated once and each resulting position valued once. So a position
    gets at most one rollout.

    Parameters
    ----------
    candidates : one list per root, one entry per power
    valued : (roots, 7)
        The powers whose utilities matter; those of others stay 0.
    rollout
        Movement phases that the model plays before a position is valued.
    threads
        CPU threads that adjudicate; 0 for all cores.
    """

    def __init__(
        self,
        states: Sequence[DiplomacyState],
        candidates: Sequence[Sequence[Candidates]],
        valued: npt.NDArray[np.bool_],
        model: OrderModel,
        value: ValueModel,
        rollout: int,
        rng: np.random.Generator,
        threads: int = 0,
    ) -> None:
        self.states, self.model, self.value = states, model, value
        self.rollout, self.rng = rollout, rng
        self.counts = np.array([[len(power.orders) for power in root] for root in candidates])
        self._orders = [orders for root in candidates for power in root for orders in power.orders]
        self._actions = _core.DiplomacyJointActions(
            _core.DiplomacyBatch([state.board for state in states]),
            self._orders,
            self.counts,
            valued,
            threads,
        )
        self._values = _Growing(np.zeros((0, len(POWERS))))  # by position

    def utilities(self, sampled: npt.NDArray[np.int64]) -> Array:
        """Return u_i(a, a*_−i) for `sampled` a*, flat: root by root and power by power."""
        where, reached, roots, played = self._actions.reach(sampled)
        if len(reached):
            if self.rollout:
                reached = self._played_on(reached, roots, played)
            over = reached.winners()[:, None] >= 0
            values = self.value.values(reached)
            # A finished game has a known value.
            self._values.append(np.where(over, reached.shares(), values) if over.any() else values)
        return np.where(where < 0, 0.0, self._values.rows.take(where))

    def _played_on(
        self,
        reached: "_core.DiplomacyBatch",
        roots: npt.NDArray[np.int64],
        played: npt.NDArray[np.int64],
    ) -> "_core.DiplomacyBatch":
        """Return the positions after rollouts from those `reached` by the `played` candidates."""
        states = [self.states[root].clone() for root in roots]
        for i, joint in enumerate(played.tolist()):
            states[i].go_to(reached[i], np.concatenate([self._orders[own] for own in joint]))
        play_on(self.model, states, self.rollout, self.rng)
        return _core.DiplomacyBatch([state.board for state in states])


def play_on(
    model: OrderModel, states: Sequence[DiplomacyState], phases: int, rng: np.random.Generator
) -> None:
    """Let the model play every state for `phases` movement phases, or to the end."""
    left = dict.fromkeys(range(len(states)), phases)
    while going := [i for i, n in left.items() if n and not states[i].is_terminal()]:
        for i in going:
            left[i] -= states[i].board.moving
        play_phase(model, [states[i] for i in going], rng)


def play_phase(
    model: OrderModel, states: Sequence[DiplomacyState], rng: np.random.Generator
) -> None:
    """Play one phase of each state as rollouts do; no game may be over."""
    options: Any = {"temperature": ROLLOUT_TEMPERATURE, "top_p": ROLLOUT_TOP_P}
    if isinstance(model, DrawsEveryone):
        joint = model.draw_everyone(states, rng, **options)
    else:
        questions = [(state, power) for state in states for power in range(len(POWERS))]
        draws = model.draw(questions, 1, rng, **options)
        orders = iter(drawn.orders[0] for drawn in draws)
        joint = [np.concatenate([next(orders) for _ in POWERS]) for _ in states]
    for state, packed in zip(states, joint, strict=True):
        state.apply_packed(packed)


class _Growing:
    """An array to which rows are appended."""

    def __init__(self, empty: npt.NDArray[np.generic]) -> None:
        self._all, self._used = empty, 0

    @property
    def rows(self) -> npt.NDArray[np.generic]:
        return self._all[: self._used]

    def append(self, rows: npt.NDArray[np.generic]) -> None:
        end = self._used + len(rows)
        if end > len(self._all):
            more = np.empty((max(end, 2 * len(self._all)), *self._all.shape[1:]), self._all.dtype)
            more[: self._used] = self.rows
            self._all = more
        self._all[self._used : end] = rows
        self._used = end

"""What one-ply search asks in Diplomacy: candidate orders, and what joint orders are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
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
    """Which candidates a power has: the likeliest of `samples` joint orders of the human model."""

    candidates: int = 30
    per_unit: float = 3.5
    """At most so many for each unit to be ordered."""
    samples: int = 1024
    top_p: float = 0.95
    coordinated_first: bool = False
    """Orders that support what they say come before likelier ones."""

    def __post_init__(self) -> None:
        whole = isinstance(self.candidates, int)
        if not whole or not 1 <= self.candidates <= MOST_CANDIDATES:
            raise InputError(f"candidates: from 1 to {MOST_CANDIDATES}, not {self.candidates}")
        if not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"samples: a whole number, at least 1, not {self.samples}")
        if not isinstance(self.per_unit, int | float) or not 0.0 < self.per_unit < inf:
            raise InputError(f"per_unit: a number above 0, not {self.per_unit}")


class Candidates(NamedTuple):
    """What a power may choose from, and how likely people are to: the anchor τ."""

    orders: list[PackedOrders]
    anchor: Array


#: Of a power that has no orders to give.
NOTHING = Candidates([np.zeros(0, np.uint32)], np.ones(1))


def draw_orders(
    model: OrderModel,
    questions: Sequence[Question],
    count: int,
    rng: np.random.Generator,
    temperature: float = 1.0,
    top_p: float = 1.0,
    most: Sequence[int] | None = None,
) -> list[Drawn]:
    """`OrderModel.draw`, which is not asked of powers that have nothing to order."""
    nothing = Drawn(NOTHING.orders, np.array([count]), np.zeros(1))
    due = [state.board.orders_due(power) > 0 for state, power in questions]
    asked = list(compress(questions, due))
    how: dict[str, Any] = {"temperature": temperature, "top_p": top_p}
    how["most"] = None if most is None else list(compress(most, due))
    drawn = iter(model.draw(asked, count, rng, **how) if asked else [])
    return [next(drawn) if is_due else nothing for is_due in due]


def choose_candidates(
    model: OrderModel,
    questions: Sequence[Question],
    settings: CandidateSettings,
    rng: np.random.Generator,
) -> list[Candidates]:
    units = (state.board.orders_due(power) for state, power in questions)
    limits = [max(1, min(settings.candidates, ceil(settings.per_unit * count))) for count in units]
    # What is coordinated is known of whole orders only: then all are wanted.
    most = None if settings.coordinated_first else limits
    drawn = draw_orders(model, questions, settings.samples, rng, top_p=settings.top_p, most=most)
    return [_kept(one, limit, settings) for one, limit in zip(drawn, limits, strict=True)]


def _kept(drawn: Drawn, limit: int, settings: CandidateSettings) -> Candidates:
    likeliest = np.argsort(-drawn.log_probability, kind="stable")
    if settings.coordinated_first:
        sound = coordinated(_table(drawn.orders))
        likeliest = likeliest[np.argsort(~sound[likeliest], kind="stable")]
    kept = likeliest[:limit]
    return Candidates([drawn.orders[i] for i in kept], normalised(drawn.log_probability[kept]))


def with_orders(
    model: OrderModel,
    questions: Sequence[Question],
    candidates: Sequence[Candidates],
    given: Sequence[PackedOrders],
) -> list[Candidates]:
    """Candidates with one joint order more each, unless it is among them already."""
    firsts = [one.orders[0] for one in candidates]
    likely = [float(one.sum()) for one in model.score([*questions] * 2, [*given, *firsts])]
    return [
        one if place_among(one.orders, orders) is not None else _with(one, orders, mine - first)
        for one, orders, mine, first in zip(
            candidates, given, likely[: len(given)], likely[len(given) :], strict=True
        )
    ]


def _with(candidates: Candidates, orders: PackedOrders, log_odds: float) -> Candidates:
    """With orders that are so likely for people against the first candidate."""
    kept, anchor = (one[: MOST_CANDIDATES - 1] for one in candidates)
    tiny = np.finfo(np.float64).tiny  # where the model has it impossible
    whole = np.append(anchor, max(anchor[0] * np.exp(log_odds), tiny))
    return Candidates([*kept, orders], whole / whole.sum())


def place_among(candidates: Sequence[PackedOrders], orders: PackedOrders) -> int | None:
    """Where joint orders are the same, in whatever order they are written."""
    same = (np.array_equal(np.sort(one), np.sort(orders)) for one in candidates)
    return next((i for i, is_same in enumerate(same) if is_same), None)


def normalised(log_probability: Array) -> Array:
    weights = np.exp(log_probability - log_probability.max())
    return np.asarray(weights / weights.sum())


def _table(orders: Sequence[PackedOrders]) -> PackedOrders:
    """One row each, filled up with 0, which is no order."""
    table = np.zeros((len(orders), max(map(len, orders))), np.uint32)
    for row, one in zip(table, orders, strict=True):
        row[: len(one)] = one
    return table


class JointValues:
    """Utilities of the powers' candidates against joint actions, from several roots at once.

    Each joint action is adjudicated once and each position that comes of it valued once; with a
    rollout, then, one is all that a position gets.

    Parameters
    ----------
    candidates : one list a root, one entry a power
    asked : (roots, 7)
        The powers whose utilities matter; those of others are left 0.
    rollout
        How many movement phases the model plays on before a position is valued.
    threads
        That adjudicate; 0 for all there are.
    """

    def __init__(
        self,
        states: Sequence[DiplomacyState],
        candidates: Sequence[Sequence[Candidates]],
        asked: npt.NDArray[np.bool_],
        model: OrderModel,
        value: ValueModel,
        rollout: int,
        rng: np.random.Generator,
        threads: int = 0,
    ) -> None:
        self.states, self.model, self.value = states, model, value
        self.rollout, self.rng = rollout, rng
        self.counts = np.array([[len(one.orders) for one in root] for root in candidates])
        self.table = _table(
            [orders for root in candidates for one in root for orders in one.orders]
        )
        self.first = np.cumsum(self.counts).reshape(self.counts.shape) - self.counts
        # The candidates that are to be valued: whose each is, its number there, its row.
        each = self.counts[asked]
        self.root, self.power = (np.repeat(whose, each) for whose in np.nonzero(asked))
        self.index = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        self._actions = _core.DiplomacyJointActions(
            _core.DiplomacyBatch([state.board for state in states]),
            self.table,
            self.counts,
            self.root,
            self.power,
            self.index,
            threads,
        )
        self._values = _Growing(np.zeros((0, len(POWERS))))  # by position

    def utilities(self, sampled: npt.NDArray[np.int64]) -> Array:
        """u_i(a, a*_−i) for `sampled` a* of shape (roots, 7), as an `Oracle` answers."""
        positions, reached, by = self._actions.reach(sampled)
        if self.rollout and len(by):
            reached = self._played_on(sampled, by)
        if len(by):
            over = reached.winners()[:, None] >= 0
            values = self.value.values(reached)
            # What the end of a game is worth is known.
            self._values.append(np.where(over, reached.shares(), values) if over.any() else values)
        out = np.zeros((*self.counts.shape, self.counts.max()))
        out[self.root, self.power, self.index] = self._values.rows[positions, self.power]
        return out

    def _played_on(
        self, sampled: npt.NDArray[np.int64], by: npt.NDArray[np.int64]
    ) -> "_core.DiplomacyBatch":
        """The ends of rollouts from what candidates lead to, by number."""
        roots, powers = self.root[by], self.power[by]
        rows = (self.first + sampled)[roots]
        rows[np.arange(len(by)), powers] = self.first[roots, powers] + self.index[by]
        states = [self.states[root].clone() for root in roots]
        for state, orders in zip(states, self.table[rows].reshape(len(by), -1), strict=True):
            state.apply_packed(orders[orders > 0])
        play_on(self.model, states, self.rollout, self.rng)
        return _core.DiplomacyBatch([state.board for state in states])


def play_on(
    model: OrderModel, states: Sequence[DiplomacyState], phases: int, rng: np.random.Generator
) -> None:
    """Let the model play every state on, for so many movement phases or to the end."""
    left = dict.fromkeys(range(len(states)), phases)
    while going := [i for i, n in left.items() if n and not states[i].is_terminal()]:
        for i in going:
            left[i] -= states[i].phase.endswith("M")
        play_phase(model, [states[i] for i in going], rng)


def play_phase(
    model: OrderModel, states: Sequence[DiplomacyState], rng: np.random.Generator
) -> None:
    """One phase of each, none of which is over, as rollouts play it."""
    if isinstance(model, DrawsEveryone):
        how = {"temperature": ROLLOUT_TEMPERATURE, "top_p": ROLLOUT_TOP_P}
        joint = model.draw_everyone(states, rng, **how)
    else:
        questions = [(state, power) for state in states for power in range(len(POWERS))]
        drawn = draw_orders(model, questions, 1, rng, ROLLOUT_TEMPERATURE, ROLLOUT_TOP_P)
        orders = iter(one.orders[0] for one in drawn)
        joint = [np.concatenate([next(orders) for _ in POWERS]) for _ in states]
    for state, everyones in zip(states, joint, strict=True):
        state.apply_packed(everyones)


class _Growing:
    """An array that rows are added to, at the end."""

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

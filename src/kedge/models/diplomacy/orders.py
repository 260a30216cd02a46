"""Orders from a network: drawn one by one, or scored.

Joint orders with the same prefix are drawn together: the network evaluates each prefix once, and
its continuations are drawn as often as the prefix was. If only the `most` likeliest joint orders
are needed, a prefix that is less likely than `most` complete ones is dropped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy import DiplomacyState, PackedOrders
from kedge.models.diplomacy.backends import NextChoice, OrderNetwork, Sampler
from kedge.models.diplomacy.encoding import (
    EVERYBODY,
    PLACES,
    Choices,
    Integers,
    facts_of,
)
from kedge.models.diplomacy.model import Drawn, Question
from kedge.regularize import Array


@dataclass
class _Rows:
    """Prefixes of joint orders, one per row."""

    groups: Integers  # (n,) the power's group, ascending
    counts: Integers  # (n,) number of draws
    log_probability: Array  # (n,)
    first: Integers  # (n,) the first order allowed next
    memory_rows: Integers  # (n,) row of the network's memory
    before: Integers  # (n, 3) facts of the last order
    chosen: PackedOrders  # (n, steps)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, rows: npt.NDArray[np.bool_] | Integers) -> "_Rows":
        return _Rows(**{name: part[rows] for name, part in vars(self).items()})

    @classmethod
    def stacked(cls, parts: Sequence["_Rows"]) -> "_Rows":
        names = vars(parts[0])
        return cls(**{name: np.concatenate([vars(part)[name] for part in parts]) for name in names})


#: Draws counts of the next orders, from logits and the counts of the prefixes.
_Draw = Callable[[Array, Integers], Integers]
_AT_ONCE = 128  # prefixes per step, the likeliest first: the others may turn out unnecessary


class NetworkOrders:
    """An `OrderModel` that predicts people's orders with a network.

    At most `batch` questions go to the network at a time. If many orders are drawn for each, at
    most `apart`: all questions are padded to the longest lists of prefixes and orders.
    """

    def __init__(self, network: OrderNetwork, batch: int = 256, apart: int = 1) -> None:
        self._network = network
        self._batch, self._apart = batch, apart

    def draw(
        self,
        questions: Sequence[Question],
        count: int,
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
        most: Sequence[int] | None = None,
    ) -> list[Drawn]:
        if not 0.0 <= temperature < np.inf or not 0.0 < top_p <= 1.0:
            raise InputError(
                "temperature must be at least 0 and finite, top_p above 0 and at most 1"
            )

        def draw(logits: Array, counts: Integers) -> Integers:
            next_counts: Integers = rng.multinomial(counts, _sharpened(logits, temperature, top_p))
            return next_counts

        nothing = Drawn([np.zeros(0, np.uint32)], np.array([count]), np.zeros(1))
        drawn = [nothing] * len(questions)
        due = [i for i, (state, power) in enumerate(questions) if state.due[power]]
        ordering, together = [questions[i] for i in due], self._batch if count == 1 else self._apart
        places = iter(due)
        for batch in self._batches(ordering, together):
            own = list(islice(places, batch.count))
            if most is not None and batch.count == 1:
                parts = [batch.likeliest(count, most[own[0]], draw)]
            else:
                parts = batch.all(count, draw)
            for question, orders in batch.collected(parts):
                drawn[own[question]] = orders
        return drawn

    def _batches(self, questions: Sequence[Question], together: int) -> Iterator["_Batch"]:
        """Yield the questions, `together` at a time; positions are read `batch` at a time."""
        for first in range(0, len(questions), self._batch):
            some = questions[first : first + self._batch]
            states = list({id(state): state for state, _ in some}.values())
            index = {id(state): i for i, state in enumerate(states)}
            read = self._network.read(facts_of(states))
            for begin in range(0, len(some), together):
                part = some[begin : begin + together]
                positions = np.array([index[id(state)] for state, _ in part], np.int64)
                yield _Batch(self._network, read, positions, part)

    def score(self, questions: Sequence[Question], orders: Sequence[PackedOrders]) -> list[Array]:
        """Score given orders. Units without an order hold or disband; illegal orders get −∞."""
        scores: list[Array] = []
        given = iter(orders)
        for batch in self._batches(questions, self._batch):
            wanted = batch.wanted(list(islice(given, batch.count)))
            rows, memory = batch.begin(1), None
            likely = np.zeros(len(batch.choices.places))
            for step in range(batch.steps):
                rows = rows[batch.choices.counts[rows.groups] > step]
                logits, memory_rows, memory = batch.evaluate(rows, step, memory)
                at = batch.choices.first[rows.groups] + step
                which = np.maximum(wanted[at], 0)
                own = np.arange(len(rows))
                predicted = _log_softmax(logits)[own, which]
                likely[at] = np.where(wanted[at] < 0, -np.inf, predicted)
                rows = batch.grown(rows, memory_rows, step, own, which, predicted)
            scores += batch.by_question(likely)
        return scores


class SampledOrders(NetworkOrders):
    """`NetworkOrders` for a network that can draw itself; also a `DrawsEveryone`."""

    def __init__(self, network: Sampler, batch: int = 256, apart: int = 1) -> None:
        super().__init__(network, batch, apart)
        self._sampler = network

    def draw_everyone(
        self,
        states: Sequence[DiplomacyState],
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> list[PackedOrders]:
        """Draw the orders of all powers in each state; faster than `draw` on a GPU."""
        by_state: list[PackedOrders] = []
        for first in range(0, len(states), self._batch):
            some = states[first : first + self._batch]
            choices = Choices.on([state.board for state in some], [EVERYBODY] * len(some))
            drawn = self._sampler.sample(
                facts_of(some), choices, int(rng.integers(1 << 62)), temperature, top_p
            )
            orders = choices.orders[choices.offsets[:-1] + drawn]
            boards = np.repeat(choices.boards, choices.counts)
            by_state += np.split(orders, np.searchsorted(boards, np.arange(1, len(some))))
        return by_state


class _Batch:
    """Questions that go to the network together, one order of every power at a time."""

    def __init__(
        self,
        network: OrderNetwork,
        read: object,
        positions: Integers,
        questions: Sequence[Question],
    ) -> None:
        self._network, self._read, self._positions = network, read, positions
        self.count = len(questions)
        boards = [state.board for state, _ in questions]
        self.choices = choices = Choices.on(boards, [power for _, power in questions])
        self.steps = int(choices.counts.max(initial=0))
        self._facts = _core.diplomacy_order_facts(choices.orders).astype(np.int64)
        self._lengths = np.diff(choices.offsets)
        self._after, self._until = choices.openings()

    def begin(self, count: int) -> _Rows:
        groups = np.arange(len(self.choices.first))
        none = np.zeros(len(groups), np.int64)
        return _Rows(
            groups,
            none + count,
            none.astype(np.float64),
            none,
            none,
            np.zeros((len(groups), 3), np.int64),
            np.zeros((len(groups), self.steps), np.uint32),
        )

    def all(self, count: int, draw: _Draw) -> list[_Rows]:
        """Draw complete orders; those of powers with fewer choices come first."""
        rows, memory, ended = self.begin(count), None, []
        for step in range(self.steps):
            done = self.choices.counts[rows.groups] == step
            ended.append(rows[done])
            rows, memory = self._next(rows[~done], step, memory, draw)
        return [*ended, rows]

    def likeliest(self, count: int, most: int, draw: _Draw) -> _Rows:
        """Draw orders of the only question: the `most` likeliest of `all`, and some others.

        The search is depth first and extends the likeliest prefixes first. An order is less likely
        than its prefix, so a prefix less likely than `most` complete orders can be dropped.
        """
        whole: list[_Rows] = []
        least = -np.inf

        def follow(rows: _Rows, step: int, memory: object) -> None:
            nonlocal least
            if step == self.steps:
                whole.append(rows)
                likely = np.concatenate([part.log_probability for part in whole])
                if len(likely) >= most:
                    least = np.partition(likely, -most)[-most]
                return
            order = np.argsort(-rows.log_probability, kind="stable")
            for first in range(0, len(order), _AT_ONCE):
                some = order[first : first + _AT_ONCE]
                some = some[rows.log_probability[some] >= least]
                if not len(some):
                    return
                grown, after = self._next(rows[some], step, memory, draw)
                follow(grown, step + 1, after)

        follow(self.begin(count), 0, None)
        return _Rows.stacked(whole)

    def _next(self, rows: _Rows, step: int, memory: object, draw: _Draw) -> tuple[_Rows, object]:
        """Extend `rows` by drawn orders; also return the network's memory."""
        logits, memory_rows, memory = self.evaluate(rows, step, memory)
        drawn = draw(logits, rows.counts)
        parents, which = np.nonzero(drawn)
        likely = _log_softmax(logits)[parents, which]
        grown = self.grown(rows, memory_rows, step, parents, which, likely)
        grown.counts = drawn[parents, which]
        return grown, memory

    def evaluate(self, rows: _Rows, step: int, memory: object) -> tuple[Array, Integers, object]:
        """The logits (n, orders) of the next orders, −∞ for closed ones; each row's index in the
        network's memory; and that memory."""
        groups, own, sizes = np.unique(rows.groups, return_inverse=True, return_counts=True)
        column = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[own]
        shape = (len(groups), int(sizes.max()))
        parents, before = np.zeros(shape, np.int64), np.zeros((*shape, 3), np.int64)
        parents[own, column], before[own, column] = rows.memory_rows, rows.before
        at = self.choices.first[groups] + step
        lengths = self._lengths[at]
        number = np.arange(lengths.max())
        real = number < lengths[:, None]
        orders = self._facts[np.where(real, self.choices.offsets[at][:, None] + number, 0)]
        choice = NextChoice(
            positions=self._positions[self.choices.boards[groups]],
            powers=self.choices.powers[groups],
            places=self.choices.places[at].astype(np.int64),
            left=self.choices.counts[groups] - step,
            parents=parents,
            before=before,
            orders=orders * real[..., None],
        )
        logits, memory = self._network.step(self._read, memory, choice)
        by_row = logits[own, column].astype(np.float64)
        open_ = (number >= rows.first[:, None]) & (number < self._until[at][own][:, None])
        return np.where(open_, by_row, -np.inf), own * shape[1] + column, memory

    def grown(
        self,
        rows: _Rows,
        memory_rows: Integers,
        step: int,
        parents: Integers,
        which: Integers,
        likely: Array,
    ) -> _Rows:
        """Extend the parent rows by one order each."""
        grown = rows[parents]
        orders = self.choices.offsets[self.choices.first[grown.groups] + step] + which
        grown.memory_rows = memory_rows[parents]
        grown.log_probability = grown.log_probability + likely
        grown.first = self._after[orders]
        grown.before = self._facts[orders, :3]
        grown.chosen[:, step] = self.choices.orders[orders]
        return grown

    def collected(self, parts: Sequence[_Rows]) -> Iterator[tuple[int, Drawn]]:
        """Yield each question's number and its orders."""
        for rows in parts:
            groups, first, sizes = np.unique(rows.groups, return_index=True, return_counts=True)
            for group, start, size in zip(groups, first, sizes, strict=True):
                own = np.arange(start, start + size)
                steps = self.choices.counts[group]
                orders = [chosen[:steps].copy() for chosen in rows.chosen[own]]
                drawn = Drawn(orders, rows.counts[own], rows.log_probability[own])
                yield int(self.choices.boards[group]), drawn

    def wanted(self, orders: Sequence[PackedOrders]) -> Integers:
        """The index of the given order in each choice; −1 if it is not legal."""
        wanted = np.full(len(self.choices.places), -1)
        choices = self.choices
        for question, first, count in zip(
            choices.boards, choices.first, choices.counts, strict=True
        ):
            given = choices.matched(slice(first, first + count), orders[question])
            for choice, order in enumerate(given, first):
                hits = np.flatnonzero(choices.of(choice) == order)
                # Order 0 is to hold or to disband.
                default = -1 if order or choices.places[choice] == PLACES else 0
                wanted[choice] = hits[0] if len(hits) else default
        return wanted

    def by_question(self, numbers: Array) -> list[Array]:
        parts = [np.zeros(0)] * self.count
        choices = self.choices
        for question, first, count in zip(
            choices.boards, choices.first, choices.counts, strict=True
        ):
            parts[question] = numbers[first : first + count]
        return parts


def _log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(1, keepdims=True)
    normalised: Array = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return normalised


def _sharpened(logits: Array, temperature: float, top_p: float) -> Array:
    """The sampling distribution: the likeliest orders that together have `top_p`, at a
    temperature."""
    if temperature == 0.0:
        best = np.zeros_like(logits)
        best[np.arange(len(logits)), logits.argmax(1)] = 1.0
        return best
    policy: Array = np.exp(_log_softmax(logits / temperature))
    if top_p < 1.0:
        order = np.argsort(-policy, axis=1)
        ranked = np.take_along_axis(policy, order, 1)
        ranked[np.cumsum(ranked, axis=1) - ranked >= top_p] = 0.0
        np.put_along_axis(policy, order, ranked, 1)
    policy /= policy.sum(1, keepdims=True)
    return policy

"""What a model of Diplomacy answers: which orders people would give, what a position is worth."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.games.diplomacy import DiplomacyState, PackedOrders
from kedge.regularize import Array

#: A position, and the power (0 to 6) that is asked.
Question = tuple[DiplomacyState, int]


class Drawn(NamedTuple):
    """Orders that were drawn for one power."""

    orders: list[PackedOrders]
    """Distinct joint orders; that of a power with nothing to order is empty."""
    counts: npt.NDArray[np.int64]
    """How often each was drawn."""
    log_probability: Array
    """The model's, of each joint order, at temperature 1 and top-p 1."""


class OrderModel(Protocol):
    """A human model: how people would order their units."""

    def draw(
        self,
        questions: Sequence[Question],
        count: int,
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> list[Drawn]:
        """`count` joint orders for each question."""
        ...

    def score(self, questions: Sequence[Question], orders: Sequence[PackedOrders]) -> list[Array]:
        """The log-probability of each order in a question's joint order, given those before it."""
        ...


@runtime_checkable
class DrawsEveryone(Protocol):
    """An `OrderModel` that knows a quick way to draw once for all powers."""

    def draw_everyone(
        self,
        states: Sequence[DiplomacyState],
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> list[PackedOrders]:
        """What all powers of each state order."""
        ...


class ValueModel(Protocol):
    """What positions are worth to each power."""

    def values(self, boards: _core.DiplomacyBatch | Sequence[_core.DiplomacyBoard]) -> Array:
        """Expected Sum-of-Squares shares, (boards, 7)."""
        ...


def drawn_apart(
    model: OrderModel,
    states: Sequence[DiplomacyState],
    rng: np.random.Generator,
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
) -> list[PackedOrders]:
    """What all powers of each state order, one power after the other."""
    due = [
        [power for power in range(state.num_players) if state.board.orders_due(power) > 0]
        for state in states
    ]
    questions = [(state, power) for state, some in zip(states, due, strict=True) for power in some]
    how = {"temperature": temperature, "top_p": top_p}
    drawn = iter(model.draw(questions, 1, rng, **how) if questions else [])
    nothing = np.zeros(0, np.uint32)
    return [np.concatenate([nothing, *(next(drawn).orders[0] for _ in some)]) for some in due]

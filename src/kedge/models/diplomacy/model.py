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
        most: Sequence[int] | None = None,
    ) -> list[Drawn]:
        """`count` joint orders for each question; of these, if told, at least the `most` likeliest
        for each, so that counts may sum to less."""
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

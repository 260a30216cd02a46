"""Interfaces of Diplomacy models: people's orders, and the value of a position."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kedge.games.diplomacy import DiplomacyBatch, DiplomacyState, PackedOrders
from kedge.regularize import Array

#: A position and a power (0 to 6).
Question = tuple[DiplomacyState, int]


class Drawn(NamedTuple):
    """Orders drawn for one power."""

    orders: list[PackedOrders]
    """Distinct joint orders; empty for a power with nothing to order."""
    counts: npt.NDArray[np.int64]
    """Number of draws of each."""
    log_probability: Array
    """The model's log-probability of each joint order, at temperature 1 and top-p 1."""


class OrderModel(Protocol):
    """A human model: predicts people's orders."""

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
        """Draw `count` joint orders for each question.

        With `most`, return at least the `most` likeliest of them; the counts may then sum to less.
        """
        ...

    def score(self, questions: Sequence[Question], orders: Sequence[PackedOrders]) -> list[Array]:
        """The log-probability of each order in a question's joint order, given those before it."""
        ...


@runtime_checkable
class DrawsEveryone(Protocol):
    """An `OrderModel` with a fast way to draw once for all powers."""

    def draw_everyone(
        self,
        states: Sequence[DiplomacyState],
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> list[PackedOrders]:
        """Draw the orders of all powers in each state."""
        ...


class ValueModel(Protocol):
    """Values positions for each power."""

    def values(self, boards: DiplomacyBatch) -> Array:
        """Expected Sum-of-Squares shares, (boards, 7)."""
        ...

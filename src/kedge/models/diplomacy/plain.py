"""Diplomacy without a network: substitutes for a human model and a value model."""

from collections.abc import Sequence
from math import comb, inf, log

import numpy as np

from kedge.games.diplomacy import DiplomacyBatch, PackedOrders, place_of
from kedge.models.diplomacy.encoding import PROVINCES
from kedge.models.diplomacy.model import Drawn, Question
from kedge.regularize import Array


class UniformOrders:
    """Draws legal orders uniformly; in Winter as many as are due, at uniform places.

    All orders are equally likely, so temperature and top-p have no effect.
    """

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
        return [_draw(question, count, rng) for question in questions]

    def score(self, questions: Sequence[Question], orders: Sequence[PackedOrders]) -> list[Array]:
        return [_score(*pair) for pair in zip(questions, orders, strict=True)]


class CentreShares:
    """Values a position by the shares if the game ended now."""

    def values(self, boards: DiplomacyBatch) -> Array:
        return boards.shares()


def _draw(question: Question, count: int, rng: np.random.Generator) -> Drawn:
    options, due = _options(question)
    if not due:
        return Drawn([np.zeros(0, np.uint32)], np.array([count]), np.zeros(1))
    # The first `due` places in random order; outside Winter these are all places.
    shuffled = rng.random((count, len(options))).argsort(axis=1)
    places = np.sort(shuffled[:, :due], axis=1)
    sizes = np.array([len(place) for place in options], np.int64)
    picks = rng.integers(sizes[places])
    table = np.zeros((len(options), max(sizes)), np.uint32)
    for row, place in zip(table, options, strict=True):
        row[: len(place)] = place
    drawn, first, counts = np.unique(
        table[places, picks], axis=0, return_index=True, return_counts=True
    )
    ways = log(comb(len(options), due))
    log_probability = -np.log(sizes)[places[first]].sum(axis=1) - ways
    return Drawn(list(drawn), counts, log_probability)


def _score(question: Question, orders: PackedOrders) -> Array:
    options, due = _options(question)
    each = log(comb(len(options), due)) / max(1, due)
    known = {order: -log(len(place)) - each for place in options for order in place.tolist()}
    return np.array([known.get(int(order), -inf) for order in orders])


def _options(question: Question) -> tuple[list[PackedOrders], int]:
    """The legal orders of each place, without waives, and the number of orders due."""
    state, power = question
    if state.is_terminal():
        return [], 0
    orders = state.board.legal_orders(power)
    places = PROVINCES[place_of(orders)]
    return np.split(orders, np.flatnonzero(np.diff(places)) + 1), state.due[power]

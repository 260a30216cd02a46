"""How well an agent predicts what people order in Diplomacy, unit by unit."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent, OrdersAnalysis
from kedge.evaluation.prediction import ANCHOR_SHARE, LEAST, SUMS, GameScore, Prediction
from kedge.games.diplomacy import POWERS, PackedOrders, unit_of
from kedge.records.diplomacy.positions import HumanOrders
from kedge.regularize import Array

#: Kinds by which figures are split, besides the tier of a game.
KINDS = ("power", "season", "years", "rating")
_YEARS = {"1901-1902": 0, "1903-1905": 1903, "1906-1910": 1906, "1911-": 1911}
_RATINGS = 100  # width of a group of ratings
_AT_ONCE = 64  # positions per batch


def predict_orders(
    chosen: Sequence[HumanOrders], agent: OrdersAgent, rng: np.random.Generator
) -> Prediction:
    """Score `agent` on people's orders.

    The powers of a phase and the phases of a game must follow each other. A position is the order
    of one unit. Top-1 counts orders of the likeliest joint action, top-5 the unit's five likeliest
    orders. Cross-entropy scores the unit's marginal over the joint actions, with `ANCHOR_SHARE` of
    the anchor's probability to keep it finite.
    """
    prediction = Prediction(kinds=KINDS)
    scores = chain.from_iterable(_scored(batch, agent, rng) for batch in _batches(chosen))
    for _, run in groupby(chosen, key=lambda human: id(human.game)):
        cells: dict[str, Array] = {}
        for human, sums in zip(run, scores, strict=False):
            cell = _cell(human)
            cells[cell] = cells.get(cell, np.zeros(len(SUMS))) + sums
        prediction.games.append(GameScore({"tier": human.game.tier or "unknown"}, cells))
    return prediction


def _batches(chosen: Sequence[HumanOrders]) -> Iterator[list[HumanOrders]]:
    """Yield batches that keep powers of one state together: they share a search."""
    positions = [list(run) for _, run in groupby(chosen, key=lambda human: id(human.state))]
    for first in range(0, len(positions), _AT_ONCE):
        yield list(chain.from_iterable(positions[first : first + _AT_ONCE]))


def _scored(
    batch: Sequence[HumanOrders], agent: OrdersAgent, rng: np.random.Generator
) -> Iterator[Array]:
    questions = [(human.state, human.power) for human in batch]
    analyses = agent.analyse_many(questions, rng)
    anchors = agent.model.score(questions, [human.orders for human in batch])
    for human, analysis, anchor in zip(batch, analyses, anchors, strict=True):
        yield order_sums(analysis, human.orders, np.exp(anchor))


def order_sums(analysis: OrdersAnalysis, played: PackedOrders, anchor: Array) -> Array:
    """Return the `SUMS` of a power's units, given their `played` orders.

    `anchor` has people's probability of each. Top-1 compares the units' orders one by one with
    those of the agent's best joint action.
    """
    marginals = analysis.marginals()
    by_unit: dict[str, list[float]] = defaultdict(list)
    for order, share in marginals.items():
        by_unit[unit_of(order)].append(share)
    shares = np.array([marginals.get(order, 0.0) for order in played.tolist()])
    units = [np.array(by_unit[unit_of(order)]) for order in played.tolist()]
    ranks = np.array([(unit > share).sum() for unit, share in zip(units, shares, strict=True)])
    top1 = np.isin(played, analysis.orders[analysis.top1])
    top5 = (shares > 0.0) & (ranks < 5)
    loss = -np.log(np.maximum((1.0 - ANCHOR_SHARE) * shares + ANCHOR_SHARE * anchor, LEAST))
    return np.array([len(played), top1.sum(), top5.sum(), loss.sum()])


def _cell(human: HumanOrders) -> str:
    """Return the comma-separated labels of this person and phase, one per kind of `KINDS`."""
    season = {"S": "spring", "F": "fall"}[human.phase.name[0]]
    [*_, years] = (label for label, first in _YEARS.items() if human.phase.year >= first)
    rating = None if human.game.ratings is None else human.game.ratings[human.power]
    low = 0 if rating is None else int(rating // _RATINGS) * _RATINGS
    ratings = "" if rating is None else f"{low}-{low + _RATINGS - 1}"
    return ",".join((POWERS[human.power], season, years, ratings))

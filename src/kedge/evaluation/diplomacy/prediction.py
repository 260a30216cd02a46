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

#: What figures are split by, besides the tier of a game.
KINDS = ("power", "season", "years", "rating")
_YEARS = {"1901-1902": 0, "1903-1905": 1903, "1906-1910": 1906, "1911-": 1911}
_RATINGS = 100  # in a group
_AT_ONCE = 64  # positions


def predict_orders(
    chosen: Sequence[HumanOrders], agent: OrdersAgent, rng: np.random.Generator
) -> Prediction:
    """Score `agent` on what people ordered; powers of a phase, and phases of a game, in a row.

    A position is the order of one unit. Top-1 is that of the likeliest joint action, top-5 one of
    the unit's five likeliest orders. Cross-entropy is that of the unit's marginal over the joint
    actions, with `ANCHOR_SHARE` of the anchor's probability, so that it is finite.
    """
    prediction = Prediction(kinds=KINDS)
    scores = chain.from_iterable(_scored(batch, agent, rng) for batch in _batches(chosen))
    for _, run in groupby(chosen, key=lambda one: id(one.game)):
        cells: dict[str, Array] = {}
        for one, sums in zip(run, scores, strict=False):
            cell = _cell(one)
            cells[cell] = cells.get(cell, np.zeros(len(SUMS))) + sums
        prediction.games.append(GameScore({"tier": one.game.tier or "unknown"}, cells))
    return prediction


def _batches(chosen: Sequence[HumanOrders]) -> Iterator[list[HumanOrders]]:
    """Powers that share a state stay together: they share a search."""
    positions = [list(run) for _, run in groupby(chosen, key=lambda one: id(one.state))]
    for first in range(0, len(positions), _AT_ONCE):
        yield list(chain.from_iterable(positions[first : first + _AT_ONCE]))


def _scored(
    batch: Sequence[HumanOrders], agent: OrdersAgent, rng: np.random.Generator
) -> Iterator[Array]:
    questions = [(one.state, one.power) for one in batch]
    found = agent.analyse_many(questions, rng)
    anchors = agent.model.score(questions, [one.orders for one in batch])
    for one, analysis, anchor in zip(batch, found, anchors, strict=True):
        yield order_sums(analysis, one.orders, np.exp(anchor))


def order_sums(found: OrdersAnalysis, played: PackedOrders, anchor: Array) -> Array:
    """The `SUMS` of a power's units, whose orders were `played`; `anchor` is how likely each was.

    The likeliest joint action is the agent's best; orders of its units are compared one by one.
    """
    marginals = found.marginals()
    by_unit: dict[str, list[float]] = defaultdict(list)
    for order, share in marginals.items():
        by_unit[unit_of(order)].append(share)
    shares = np.array([marginals.get(order, 0.0) for order in played.tolist()])
    units = [np.array(by_unit[unit_of(order)]) for order in played.tolist()]
    ranks = np.array([(unit > share).sum() for unit, share in zip(units, shares, strict=True)])
    top1 = np.isin(played, found.orders[found.top1])
    top5 = (shares > 0.0) & (ranks < 5)
    loss = -np.log(np.maximum((1.0 - ANCHOR_SHARE) * shares + ANCHOR_SHARE * anchor, LEAST))
    return np.array([len(played), top1.sum(), top5.sum(), loss.sum()])


def _cell(one: HumanOrders) -> str:
    """What `KINDS` are of this person and phase, between commas."""
    season = {"S": "spring", "F": "fall"}[one.phase.name[0]]
    [*_, years] = (label for label, first in _YEARS.items() if one.phase.year >= first)
    rating = None if one.game.ratings is None else one.game.ratings[one.power]
    low = 0 if rating is None else int(rating // _RATINGS) * _RATINGS
    return ",".join(
        (POWERS[one.power], season, years, "" if rating is None else f"{low}-{low + _RATINGS - 1}")
    )

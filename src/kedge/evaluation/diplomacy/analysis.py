"""A game of Diplomacy as people and piKL-Hedge see it: every power in every movement phase."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent, OrdersAnalysis
from kedge.agents.diplomacy.search import place_among
from kedge.evaluation.decision_reports import (
    DecisionReport,
    DecisionsReport,
    Option,
    Part,
    Scale,
    likeliest,
)
from kedge.games.diplomacy import POWERS, PackedOrders, format_orders, short_order
from kedge.records import DiplomacyGame
from kedge.records.diplomacy.positions import HumanOrders, human_orders
from kedge.regularize import Array

#: Of Sum of Squares; equals have a seventh each.
SHARE = Scale("of the game", mistake=0.05, blunder=0.1)


def analyse_orders(
    game: DiplomacyGame,
    agent: OrdersAgent,
    spec: str,
    rng: np.random.Generator,
    tell: Callable[[int], None] = lambda turns: None,
) -> DecisionsReport:
    """What every power ordered in every movement phase, as `agent`, which `spec` names, sees it.

    Powers that ordered nothing were away, and are left out.
    """
    played = list(game.decisions())
    turns = tuple(one.phase.name for one in played)
    moves = [number for number, phase in enumerate(game.phases) if phase.kind == "M"]
    decisions: list[DecisionReport] = []
    everyones = human_orders(replace(game, human_powers=None), moves)
    for name, run in groupby(everyones, key=lambda one: one.phase.name):
        turn = turns.index(name)
        tell(turn)
        decisions += _decisions(turn, list(run), agent, rng)
    tell(len(turns))
    *_, end = game.states()
    values = agent.value.values([*(one.state.board for one in played), end.board])
    if game.final is not None and game.final.done:
        values[-1] = game.shares()  # known
    return DecisionsReport(
        game,
        spec,
        names=tuple(power.title() for power in POWERS),
        turns=turns,
        decisions=tuple(decisions),
        values=tuple(map(tuple, values.tolist())),
        scale=SHARE,
    )


def _decisions(
    turn: int,
    given: Sequence[HumanOrders],
    agent: OrdersAgent,
    rng: np.random.Generator,
) -> list[DecisionReport]:
    """Of all powers in one phase, which share a search."""
    questions = [(one.state, one.power) for one in given]
    found = agent.analyse_played(questions, [one.orders for one in given], rng)
    played, firsts = [one.orders for one in given], [one.orders[0] for one in found]
    likely = agent.model.score([*questions, *questions], [*played, *firsts])
    return [
        _decision((turn, one.power), one.orders, analysis, np.exp(mine), np.exp(first).prod())
        for one, analysis, mine, first in zip(
            given, found, likely[: len(given)], likely[len(given) :], strict=True
        )
    ]


def _decision(
    whose: tuple[int, int], given: PackedOrders, found: OrdersAnalysis, likely: Array, first: float
) -> DecisionReport:
    """`likely` are the orders for people, and `first` is the first of the candidates."""
    turn, power = whose
    # The candidates' anchor is that among themselves; people may order something else.
    anchor = found.anchor * (first / found.anchor[0])
    joint = float(likely.prod())
    place = place_among(found.orders, given)

    def option(i: int) -> Option:
        move = format_orders(found.orders[i])
        likelihoods = float(anchor[i]), float(found.policy[i])
        return Option(_named(move), move, *likelihoods, float(found.q[i]))

    texts = format_orders(given)
    played = Option(
        _named(texts),
        texts,
        joint,
        0.0 if place is None else float(found.policy[place]),
        float("nan") if place is None else float(found.q[place]),
    )
    return DecisionReport(
        turn=turn,
        player=power,
        played=played,
        rank=1 + int((np.delete(anchor, [] if place is None else place) > joint).sum()),
        people=tuple(map(option, likeliest(anchor.tolist()))),
        choice=played if place == found.top1 else option(found.top1),
        kl_to_anchor=found.kl,
        scale=SHARE,
        parts=tuple(
            Part(short_order(text), text, float(share))
            for text, share in zip(texts, likely, strict=True)
        ),
    )


def _named(orders: Sequence[str]) -> str:
    return ", ".join(map(short_order, orders))

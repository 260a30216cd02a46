"""Review of a Diplomacy game: every power in every movement phase."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent, OrdersAnalysis
from kedge.agents.diplomacy.search import place_among
from kedge.evaluation.decision_reports import (
    DecisionOption,
    DecisionReport,
    DecisionsReport,
    Part,
    Scale,
    likeliest_indices,
)
from kedge.evaluation.ranks import rank_among
from kedge.games.diplomacy import POWERS, DiplomacyBatch, PackedOrders, format_orders, short_order
from kedge.records import DiplomacyGame
from kedge.records.diplomacy.positions import HumanOrders, human_orders
from kedge.regularize import Array

#: Values are shares by Sum of Squares; at the start each power has a seventh.
SHARE = Scale("of the game", mistake=0.05, blunder=0.1)


def analyse_orders(
    game: DiplomacyGame,
    agent: OrdersAgent,
    spec: str,
    rng: np.random.Generator,
    tell: Callable[[int], None] = lambda turns: None,
    *,
    is_human: bool = True,
) -> DecisionsReport:
    """Review every power's orders in every movement phase with `agent`, which `spec` names.

    Powers that ordered nothing were away; they are left out.
    """
    positions = list(game.decisions())
    turns = tuple(position.phase.name for position in positions)
    moves = [number for number, phase in enumerate(game.phases) if phase.kind == "M"]
    decisions: list[DecisionReport] = []
    all_orders = human_orders(replace(game, human_powers=None), moves)
    for name, run in groupby(all_orders, key=lambda human: human.phase.name):
        turn = turns.index(name)
        tell(turn)
        decisions += _decisions(turn, list(run), agent, rng)
    tell(len(turns))
    *_, end = game.states()
    boards = [position.state.board for position in positions]
    values = agent.value.values(DiplomacyBatch([*boards, end.board]))
    if game.final is not None and game.final.done:
        values[-1] = game.shares()  # exact
    return DecisionsReport(
        game,
        spec,
        names=tuple(power.title() for power in POWERS),
        turns=turns,
        decisions=tuple(decisions),
        values=tuple(map(tuple, values.tolist())),
        scale=SHARE,
        is_human=is_human,
    )


def _decisions(
    turn: int,
    given: Sequence[HumanOrders],
    agent: OrdersAgent,
    rng: np.random.Generator,
) -> list[DecisionReport]:
    """Review all powers of one phase, which share a search."""
    questions = [(human.state, human.power) for human in given]
    played = [human.orders for human in given]
    analyses = agent.analyse_played(questions, played, rng)
    firsts = [analysis.orders[0] for analysis in analyses]
    logs = agent.model.score([*questions, *questions], [*played, *firsts])
    return [
        _decision((turn, human.power), human.orders, analysis, np.exp(mine), np.exp(first).prod())
        for human, analysis, mine, first in zip(
            given, analyses, logs[: len(given)], logs[len(given) :], strict=True
        )
    ]


def _decision(
    whose: tuple[int, int],
    given: PackedOrders,
    analysis: OrdersAnalysis,
    likely: Array,
    first: float,
) -> DecisionReport:
    """Report one power's decision.

    `likely` has people's probability of each given order, and `first` that of the first candidate.
    """
    turn, power = whose
    # The anchor is normalised over the candidates; people may order something else.
    anchor = analysis.anchor * (first / analysis.anchor[0])
    joint = float(likely.prod())
    place = place_among(analysis.orders, given)

    def option(i: int) -> DecisionOption:
        move = format_orders(analysis.orders[i])
        shares = float(anchor[i]), float(analysis.policy[i])
        return DecisionOption(_named(move), move, *shares, float(analysis.q[i]))

    texts = format_orders(given)
    played = DecisionOption(
        _named(texts),
        texts,
        joint,
        0.0 if place is None else float(analysis.policy[place]),
        float("nan") if place is None else float(analysis.q[place]),
    )
    rank, ties = rank_among(joint, np.delete(anchor, [] if place is None else place))
    return DecisionReport(
        turn=turn,
        player=power,
        played=played,
        rank=rank,
        people=tuple(map(option, likeliest_indices(anchor.tolist()))),
        choice=played if place == analysis.top1 else option(analysis.top1),
        kl_to_anchor=analysis.kl,
        scale=SHARE,
        parts=tuple(
            Part(short_order(text), text, float(share))
            for text, share in zip(texts, likely, strict=True)
        ),
        ties=ties,
    )


def _named(orders: Sequence[str]) -> str:
    return ", ".join(map(short_order, orders))

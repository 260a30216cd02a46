"""Reviews of Diplomacy, annotated as the `diplomacy` package's JSON."""

import json
from functools import partial
from typing import Any, cast

from kedge.evaluation.decision_reports import DecisionsReport
from kedge.evaluation.diplomacy.analysis import analyse_orders
from kedge.evaluation.review import Review, decision_reviewer, strongest_agent
from kedge.games.diplomacy import POWERS
from kedge.interfaces.reviews.decisions import print_decisions
from kedge.jsonable import plain, strict
from kedge.records import DiplomacyGame
from kedge.records.diplomacy.files import saved_game


def _annotated(report: DecisionsReport) -> str:
    """Return the game with decisions beside the orders of a phase, and the rest at the top."""
    document = saved_game(cast(DiplomacyGame, report.game))
    review = strict(plain(report.to_json()))
    by_phase: dict[str, dict[str, Any]] = {}
    for decision, content in zip(report.decisions, review.pop("decisions"), strict=True):
        by_power = by_phase.setdefault(report.turns[decision.turn], {})
        by_power[POWERS[decision.player]] = content
    for phase in document["phases"]:
        if phase["name"] in by_phase:
            phase["review"] = by_phase[phase["name"]]
    return json.dumps({**document, "review": review}) + "\n"


DIPLOMACY = Review(
    decision_reviewer("diplomacy", analyse_orders),
    partial(strongest_agent, "diplomacy"),
    show=print_decisions,
    annotated=_annotated,
)

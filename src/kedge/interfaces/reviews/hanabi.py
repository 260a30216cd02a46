"""Reviews of Hanabi, annotated as hanab.live's JSON."""

import json
from functools import partial
from typing import cast

from kedge.evaluation.decision_reports import DecisionsReport
from kedge.evaluation.hanabi.analysis import analyse_hanabi
from kedge.evaluation.review import Review, decision_reviewer, strongest_agent
from kedge.interfaces.reviews.decisions import comment, print_decisions
from kedge.jsonable import plain, strict
from kedge.records import HanabiGame
from kedge.records.hanabi.files import live_game, live_notes


def _annotated(report: DecisionsReport) -> str:
    """Return the game with notes for hanab.live, and the whole review under kedge's own key."""
    game = cast(HanabiGame, report.game)
    document = live_game(game)
    comments = [
        f"turn {decision.turn + 1}: {comment(report, decision)}" for decision in report.decisions
    ]
    document["kedge"]["review"] = strict(plain(report.to_json()))
    return json.dumps({**document, "notes": live_notes(game, comments)}) + "\n"


HANABI = Review(
    decision_reviewer("hanabi", analyse_hanabi),
    partial(strongest_agent, "hanabi"),
    show=print_decisions,
    annotated=_annotated,
)

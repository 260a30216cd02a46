"""Reviews of recorded games: how human each decision was, and what it cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kedge import catalogue
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionsReport

#: Reviews one recorded game; calls its second argument with the number of decisions done so far.
Reviewer: TypeAlias = Callable[[Any, Callable[[int], None]], GameReport | DecisionsReport]


@dataclass(frozen=True)
class Review:
    """How games of one kind are reviewed."""

    reviewer: Callable[..., Reviewer]
    """Makes a reviewer, from the spec of an agent or None, and options of the game's own."""
    agent: Callable[[], str]
    """Spec of the agent that reviews by default."""
    options: tuple[str, ...] = ()
    """Options of `reviewer` beside the agent."""
    is_drawn: bool = False
    """Whether a reviewed game can be drawn as a picture."""


def review_of(game: str) -> Review:
    """Return how games of `game` are reviewed."""
    review: Review = catalogue.find(game, "review").load("review")
    return review

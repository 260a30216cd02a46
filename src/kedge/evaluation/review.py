"""Reviews of recorded games: how human each decision was, and what it cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from kedge import catalogue
from kedge.agents import make_player
from kedge.agents.dial import strongest
from kedge.evaluation.board.game_analysis import GameReport, PlayerReport
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.options import Option

#: The review of one game.
ReviewReport: TypeAlias = GameReport | DecisionsReport


class Tell(Protocol):
    """Takes the number of decisions done so far; and, while none is, how far a stage before is."""

    def __call__(self, done: int, stage: str = "", /) -> None: ...


#: Reviews one recorded game, and tells its second argument how far it is.
Reviewer: TypeAlias = Callable[[Any, Tell], ReviewReport]
#: Option of reviewers that can estimate the players' ratings.
FIT_RATING = Option(
    "Estimate the players' ratings, or ranks, from their moves.",
    flags=("--fit-rating/--no-fit-rating",),
    default="on, unless --agent is given",
)


class Show(Protocol):
    """Prints the report of a game; if `brief`, without the table of its decisions."""

    def __call__(self, report: Any, number: int, *, brief: bool) -> None: ...


@dataclass(frozen=True)
class Review:
    """The parts of a game's review. The functions take the reports of its reviewer."""

    reviewer: Callable[..., Reviewer]
    """Makes a reviewer, from the spec of an agent or None.

    Parameters of its own become options of ``kedge analyze`` if they are annotated with a
    `kedge.options.Option`; None is the default."""
    agent: Callable[..., str]
    """Spec of the agent that reviews by default, given the other options of the reviewer."""
    show: Show
    """Prints a report on the terminal."""
    annotated: Callable[[Any], str]
    """Returns the game with its review, in a format of the game's records."""
    frequent_players: Callable[[Sequence[Any]], Sequence[PlayerReport]] = lambda reports: ()
    """Returns the players of several games, over all their games."""
    draw: Callable[[Any], bytes] | None = None
    """Draws a report as SVG; None if the game has no such picture."""


def review_of(game: str) -> Review:
    """Return what the review of `game` can do."""
    review: Review = catalogue.find(game, "review").load("review")
    return review


def strongest_agent(game: str) -> str:
    """Return the spec of the strongest agent of the dial, which reviews decisions by default."""
    return strongest(game).spec


def decision_reviewer(
    game: str, analyse: Callable[..., DecisionsReport]
) -> Callable[..., Reviewer]:
    """Return the maker of reviewers of `game`, for `Review.reviewer`.

    `analyse` takes a recorded game, a player, its spec, a generator and a `Tell`.
    """

    def make(agent: str | None = None) -> Reviewer:
        spec = agent or strongest_agent(game)
        player = make_player(spec, game)
        is_human = getattr(player, "imitates_people", False)
        return lambda record, tell: analyse(
            record, player, spec, np.random.default_rng(0), tell, is_human=is_human
        )

    return make

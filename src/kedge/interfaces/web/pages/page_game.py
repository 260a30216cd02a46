"""A game as the page needs it. Each game has a module of its own here."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import BaseModel

from kedge import catalogue
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.evaluation.review import Tell, review_of
from kedge.interfaces.web.pages.thoughts import Action, Decision, Move, Question
from kedge.specs import Spec

#: What happens between two positions, as records hold it: the mover's move, or everyone's moves.
Turn: TypeAlias = Any
#: The referee's key among the seats that act.
REFEREE = -1
#: A viewer who may see everything: the game is over, or no person plays.
EVERYTHING = -1
#: The name of the page's user in records.
PERSON = "a person"
#: Ways to lose that the rules do not know.
RESIGNS, OUT_OF_TIME = "resigns", "runs out of time"
#: A rating as records write it: Elo in chess, a rank in Go.
Rating: TypeAlias = float | str
Report: TypeAlias = GameReport | DecisionsReport


@dataclass(frozen=True)
class Heading:
    """The facts above the moves of a record."""

    date: str | None = None
    """First day of the game: 2024-12-31, or the known beginning of it."""
    event: str | None = None
    names: tuple[str | None, ...] = ()
    """The players' names, by seat."""
    ratings: tuple[Rating | None, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of a game. `str` puts it into words.

    >>> print(Outcome("White", loser="Black", how="resigns"))
    White wins: Black resigns
    >>> print(Outcome("Black", margin=2.5))
    Black wins by 2.5
    >>> print(Outcome(how="stalemate"))
    Draw: stalemate
    """

    winner: str | None = None
    """The winner's seat by name; None if nobody wins alone."""
    margin: float | None = None
    """The winner's lead in points."""
    how: str | None = None
    """The end of the game, such as checkmate, or what `loser` does."""
    loser: str | None = None
    """The seat that gave up or ran out of time, by name."""
    result: str | None = None
    """Words in place of a win or draw, such as a score that all players share."""

    def __str__(self) -> str:
        result = self.result or ("Draw" if self.winner is None else f"{self.winner} wins")
        lead = "" if self.margin is None else f" by {self.margin:g}"
        ending = self.ending
        return f"{result}{lead}" if ending is None else f"{result}{lead}: {ending}"

    @property
    def ending(self) -> str | None:
        """The end of the game in words; None if nothing is known."""
        return " ".join(filter(None, (self.loser, self.how))) or None


@dataclass(frozen=True)
class Record:
    """A game from a file."""

    setup: dict[str, Any]
    turns: list[Turn]
    heading: Heading = Heading()
    outcome: Outcome | None = None
    """The result; None if the game goes on, or the rules decide it."""


@dataclass(frozen=True)
class PlayedGame:
    """A game in progress, with everything that goes into a record."""

    setup: Any
    state: Any
    turns: Sequence[Turn]
    names: Sequence[str | None]
    """The players by seat: a person or an agent; in a game from a file, the file's names."""
    ratings: Sequence[Rating | None]
    """Rating of the people that an agent imitates, if it takes one; else the file's rating."""
    outcome: Outcome | None
    date: str | None = None
    event: str | None = None


class PageGame(ABC):
    """A game on the page: rules, notation, and the files of its board.

    `name` is that of the game's entry in the catalogue. The entry also says what the game is
    called, which states its agents play, and whether it has a dial and reviews.
    """

    name: ClassVar[str]
    emblem: ClassVar[str] = "◆"
    """One character beside the title."""
    about: ClassVar[str] = ""
    """One sentence on the start page."""
    script: ClassVar[Traversable]
    """The JavaScript module of the board. Its address is ``/games/NAME/`` and the file's name."""
    style: ClassVar[Traversable | None] = None
    """The stylesheet of the board."""
    assets: ClassVar[Mapping[str, Callable[[], bytes]]] = {}
    """Readers of the board's other files, by name, such as drawings or more modules."""
    setup: ClassVar[type[BaseModel]]
    """Options of a new game; every field has a default."""
    agents: ClassVar[tuple[str, ...]] = ()
    """Specs of the agents on offer if the game has no dial, the default first."""
    files: ClassVar[tuple[str, ...]] = ()
    """Suffixes of the record files that the game reads and writes, the usual one first."""
    secret: ClassVar[frozenset[str]] = frozenset()
    """Fields of the setup that nobody sees before the end, such as a deck."""
    undoes: ClassVar[bool] = True
    """Whether turns can be undone. Not if a player has seen hidden information by then."""
    clocks: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """The game's name for people."""
        return self._entry.title

    @property
    def has_dial(self) -> bool:
        return self._entry.has("dial")

    @property
    def reviews(self) -> bool:
        """Whether games can be reviewed."""
        return self._entry.has("review")

    @cached_property
    def _entry(self) -> catalogue.GameEntry:
        return catalogue.find(self.name)

    @abstractmethod
    def seats(self, setup: Any) -> tuple[str, ...]:
        """The players' names, in the order of play."""

    def dealt(self, setup: Any, rng: np.random.Generator) -> Any:
        """Return the setup with everything that chance decides before the first move."""
        return setup

    @abstractmethod
    def begin(self, setup: Any) -> Any:
        """The first state."""

    def no_agents(self, setup: Any) -> str | None:
        """The reason why agents cannot play a game with this setup; None if they can."""
        if self.has_dial or self.agents:
            return None
        return f"no agent plays {self.title} here; seat people only"

    def is_measured(self, setup: Any) -> bool:
        """Whether the dial's measurements hold for a game with this setup."""
        return True

    @abstractmethod
    def deciding(self, state: Any) -> list[int]:
        """The seats to move; none if the game is over, or if the referee is to move."""

    def referee(self, state: Any) -> Action:
        """The referee's action where no seat is to move but the game goes on.

        Runs in a thread.
        """
        raise InputError(f"no seat is to move in this position of {self.title}")

    def timed(self, state: Any) -> bool:
        """Whether the mover's clock runs."""
        return True

    def timed_spec(self, spec: Spec, setup: Any, left: float) -> Spec:
        """Return the spec of an agent that has `left` seconds; most take no clock as input.

        Runs in a thread.
        """
        return spec

    @abstractmethod
    def parse(self, state: Any, seat: int, move: Move) -> Action:
        """Return the action that `move` names, or raise `InputError` if it names none."""

    @abstractmethod
    def text(self, state: Any, action: Action) -> Move:
        """Return the action as `parse` reads it and records hold it."""

    @abstractmethod
    def apply(self, state: Any, actions: Mapping[int, Action]) -> None:
        """Apply the actions of all seats to move, or raise `InputError` if one is illegal."""

    @abstractmethod
    def turn_name(self, before: Any, actions: Mapping[int, Action], after: Any) -> str:
        """Return how players call a turn that has led from one state to another."""

    def join(self, moves: Mapping[int, Move]) -> Turn:
        """Return the turn that consists of these moves, one per seat to move."""
        (move,) = moves.values()
        return move

    def split(self, state: Any, turn: Turn) -> Mapping[int, Move]:
        """Return the moves of a recorded turn, by seat."""
        (seat,) = self.deciding(state) or [REFEREE]
        return {seat: turn}

    @abstractmethod
    def position(self, state: Any, eyes: int | None) -> dict[str, Any]:
        """Return what the board draws: all that the seat `eyes` may know, or anyone if None.

        In games with secrets, `eyes` may also be `EVERYTHING`.
        """

    def shows_thoughts(self, seat: int, eyes: int | None) -> bool:
        """Whether `eyes`, as in `position`, may see the analysis of the agent at `seat`."""
        return True

    @abstractmethod
    def outcome(self, state: Any) -> Outcome | None:
        """The result; None while the game goes on."""

    @abstractmethod
    def think(self, question: Question) -> Iterator[Decision]:
        """Yield the agents' decisions; those without an action show how far an analysis is.

        Runs in a thread.
        """

    def resigned(self, state: Any, seat: int, how: str) -> Outcome:
        """The outcome if `seat` gives up; `how` is `RESIGNS` or `OUT_OF_TIME`."""
        raise InputError(f"players cannot resign in {self.title}")

    def write(self, game: PlayedGame) -> str:
        """Return the game as a record, in the first format of `files`."""
        raise InputError(f"{self.title} has no record files to write")

    def read(self, text: str) -> Record:
        """Return the first game of a file."""
        raise InputError(f"{self.title} has no record files to read")

    def recorded(self, game: PlayedGame) -> Any:
        """Return the game as `kedge.records` holds it, for reviews."""
        raise InputError(f"{self.title} has no reviews")

    def review(self, game: PlayedGame, report_progress: Tell) -> Report:
        """Review a game: how human each decision was, and what it cost.

        Runs in a thread. Calls `report_progress` with the number of reviewed turns, which raises if
        the review is no longer wanted.
        """
        return review_of(self.name).reviewer()(self.recorded(game), report_progress)

    def review_details(self, report: Any) -> dict[str, Any]:
        """More for the page to show beside the `to_json` of a report of this game's review."""
        return {}


def __getattr__(name: str) -> type[PlayedGame]:
    if name != "Document":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = f"{__name__}.Document is deprecated; use PlayedGame"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return PlayedGame

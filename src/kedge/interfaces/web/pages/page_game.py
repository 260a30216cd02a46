"""What the page needs from a game. Each game has a module of its own here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, with_config

from kedge import catalogue
from kedge.agents.agent import Agent, Analysis, Row
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.evaluation.review import review_of

_SHOWN = 24  # moves

#: What one seat does: a move in the game's own notation, or a list of orders.
Move: TypeAlias = Any
#: What happens between two positions: the mover's move, or everyone's moves by seat.
Turn: TypeAlias = Any
#: A viewer who may see everything: the game is over, or no person plays.
EVERYTHING = -1
#: The name of the page's user in records.
PERSON = "a person"
#: A rating as records write it: Elo in chess, a rank in Go.
Rating: TypeAlias = float | str
Report: TypeAlias = GameReport | DecisionsReport
#: The API's description shows the docstring of each field.
_DESCRIBED = ConfigDict(use_attribute_docstrings=True)


@with_config(_DESCRIBED)
@dataclass(frozen=True)
class ConsideredMove:
    """A move that an agent considered, as `kedge policy` prints it."""

    move: Move
    name: str
    """The move as players write it."""
    anchor: float
    policy: float
    q: float | None = None
    visits: int | None = None
    line: list[str] = field(default_factory=list)
    """The expected continuation as players write it, beginning with the move."""


@with_config(_DESCRIBED)
@dataclass(frozen=True)
class Thought:
    """An agent's analysis of a decision so far."""

    agent: str
    seat: int
    turn: int
    """Number of turns taken before the position."""
    value: float | None
    kl: float | None
    """KL(π‖τ) in nats: how far search moves away from people."""
    entropy: float
    """Entropy of the agent's policy, in nats."""
    anchor_entropy: float
    rows: list[ConsideredMove]
    """The likeliest moves, best first."""
    others: int
    """Number of moves that `rows` leaves out."""
    playouts: int | None
    done: bool
    more: dict[str, Any]
    """Details of this game alone, such as a player's beliefs about hidden cards."""


#: Takes the analysis so far; called from any thread.
Watch: TypeAlias = Callable[[Thought], None]


class StopFlag:
    """A flag that ends thinking early."""

    def __init__(self) -> None:
        self.stopped = False
        self._calls: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Set the flag."""
        self.stopped = True
        for call in self._calls:
            call()

    def then(self, call: Callable[[], None]) -> None:
        """Run `call` when the flag is set, or now if it is set already."""
        self._calls.append(call)
        if self.stopped:
            call()


@dataclass(frozen=True)
class MoveNames:
    """A move as the page writes it."""

    move: Move
    name: str
    """The move as players write it."""
    line: list[str] = field(default_factory=list)
    """The expected continuation as players write it, beginning with the move."""


def _named(row: Row, names: MoveNames) -> ConsideredMove:
    return ConsideredMove(
        names.move, names.name, row.anchor, row.policy, row.q, row.visits, names.line
    )


@dataclass(frozen=True)
class Question:
    """A position, and the agents that decide in it."""

    state: Any
    agents: Mapping[int, tuple[str, Agent]]
    """Spec and agent, by seat."""
    turn: int
    """Number of turns taken before the position."""
    rng: np.random.Generator
    watch: Watch
    stop: StopFlag

    def thought(
        self,
        seat: int,
        analysis: Analysis,
        name: Callable[[Row], MoveNames],
        *,
        done: bool = True,
        more: dict[str, Any] | None = None,
    ) -> Thought:
        """Return the analysis by the agent at `seat`; `name` gives the names of a move."""
        spec, _ = self.agents[seat]
        return Thought(
            agent=spec,
            seat=seat,
            turn=self.turn,
            value=finite(analysis.value),
            kl=finite(analysis.kl),
            entropy=analysis.entropy,
            anchor_entropy=analysis.anchor_entropy,
            rows=[_named(row, name(row)) for row in analysis.rows(_SHOWN)],
            others=max(0, len(analysis.policy) - _SHOWN),
            playouts=None if analysis.visits is None else int(analysis.visits.sum()) + 1,
            done=done,
            more=more or {},
        )


@dataclass(frozen=True)
class Decision:
    """An agent's move, and its analysis."""

    move: Move
    thought: Thought | None
    """None if there was nothing to analyse, such as agreeing to a count."""


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
class Record:
    """A game from a file."""

    setup: dict[str, Any]
    turns: list[Turn]
    heading: Heading = Heading()
    outcome: str | None = None
    """The result in the page's words; None if the game goes on, or the rules decide it."""


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
    def states(self) -> type:
        """The class of states that agents play."""
        states: type = self._entry.load("state")
        return states

    @property
    def has_dial(self) -> bool:
        return self._entry.has("dial")

    @property
    def reviews(self) -> bool:
        """Whether games can be reviewed."""
        return self._entry.has("review")

    @property
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
        """Why agents cannot play a game with this setup; None if they can."""
        if self.has_dial or self.agents:
            return None
        return f"no agent plays {self.title} here; seat people only"

    def is_measured(self, setup: Any) -> bool:
        """Whether the dial's measurements hold for a game with this setup."""
        return True

    @abstractmethod
    def deciding(self, state: Any) -> list[int]:
        """The seats to move; none if the game is over, or if the referee is to move."""

    def referee(self, state: Any) -> Turn:
        """The turn to take where no seat is to move but the game goes on.

        Runs in a thread.
        """
        raise InputError(f"no seat is to move in this position of {self.title}")

    def timed(self, state: Any) -> bool:
        """Whether the mover's clock runs."""
        return True

    @abstractmethod
    def check(self, state: Any, seat: int, move: Move) -> Move:
        """Return the move in the usual notation, or raise `InputError` if it is illegal."""

    def join(self, state: Any, moves: Mapping[int, Move]) -> Turn:
        """Return the turn that consists of these moves, one per seat to move."""
        (move,) = moves.values()
        return move

    @abstractmethod
    def take(self, state: Any, turn: Turn) -> str:
        """Apply a turn and return its name, or raise `InputError` if it is illegal."""

    @abstractmethod
    def position(self, state: Any, eyes: int | None) -> dict[str, Any]:
        """Return what the board draws: all that the seat `eyes` may know, or anyone if None.

        In games with secrets, `eyes` may also be `EVERYTHING`.
        """

    def shows_thoughts(self, seat: int, eyes: int | None) -> bool:
        """Whether `eyes`, as in `position`, may see the analysis of the agent at `seat`."""
        return True

    @abstractmethod
    def outcome(self, state: Any) -> str | None:
        """The result in words; None while the game goes on."""

    @abstractmethod
    def think(self, question: Question) -> dict[int, Decision]:
        """Return the agents' decisions, by seat. Runs in a thread."""

    def resigned(self, state: Any, seat: int) -> str:
        """The outcome if `seat` resigns."""
        raise InputError(f"players cannot resign in {self.title}")

    def write(self, document: "Document") -> str:
        """Return the game as a record, in the first format of `files`."""
        raise InputError(f"{self.title} has no record files to write")

    def read(self, text: str) -> Record:
        """Return the first game of a file."""
        raise InputError(f"{self.title} has no record files to read")

    def recorded(self, document: "Document") -> Any:
        """Return the game as `kedge.records` holds it, for reviews."""
        raise InputError(f"{self.title} has no reviews")

    def review(self, document: "Document", tell: Callable[[int], None]) -> Report:
        """Review a game: how human each decision was, and what it cost.

        Runs in a thread. Calls `tell` with the number of reviewed turns; `tell` raises if the
        review is no longer wanted.
        """
        return review_of(self.name).reviewer()(self.recorded(document), tell)

    def review_details(self, report: Report) -> dict[str, Any]:
        """More for the page to show beside `report.to_json()`."""
        return {}


@dataclass(frozen=True)
class Document:
    """A game in progress, with everything that goes into a record."""

    setup: Any
    state: Any
    turns: Sequence[Turn]
    names: Sequence[str | None]
    """The players by seat: a person or an agent; in a game from a file, the file's names."""
    ratings: Sequence[Rating | None]
    """Rating of the people that an agent imitates, if it takes one; else the file's rating."""
    outcome: str | None
    date: str | None = None
    event: str | None = None


def finite(number: Any) -> float | None:
    """Return the number, or None if JSON cannot hold it."""
    return float(number) if np.isfinite(number) else None

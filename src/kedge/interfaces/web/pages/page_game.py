"""What the page needs of a game. Each has a module of its own, such as `chess_page`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, with_config

from kedge.agents.agent import Agent, Analysis
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionsReport

_SHOWN = 24  # moves

#: What one seat does: a move in the game's own notation, or a list of orders.
Move: TypeAlias = Any
#: What happened between two positions: the mover's move, or the moves of all by seat.
Turn: TypeAlias = Any
#: The eyes of who may see everything: the game is over, or no person plays.
EVERYTHING = -1
#: Who sits at the page, in its records.
PERSON = "a person"
#: As a record has it: Elo in chess, a rank in Go.
Rating: TypeAlias = float | str
#: In the API's description the words below each field are its own.
_TOLD = ConfigDict(use_attribute_docstrings=True)


@with_config(_TOLD)
@dataclass(frozen=True)
class Row:
    """A move that was thought of, as `kedge policy` prints it."""

    move: Move
    name: str
    """As players write it."""
    anchor: float
    policy: float
    q: float | None = None
    visits: int | None = None
    line: list[str] = field(default_factory=list)
    """What is expected from there, as players write it, the move first."""


@with_config(_TOLD)
@dataclass(frozen=True)
class Thought:
    """What an agent thinks of a decision, so far."""

    agent: str
    seat: int
    turn: int
    """Of the position: how many turns were taken before it."""
    value: float | None
    kl: float | None
    """KL(π‖τ), in nats: how far search went from people."""
    entropy: float
    """Of what it plays, in nats."""
    anchor_entropy: float
    rows: list[Row]
    """The likeliest moves, best first."""
    others: int
    """Moves that `rows` leaves out."""
    playouts: int | None
    done: bool
    more: dict[str, Any]
    """What only this game has, such as the cards that a player believes to hold."""


#: Called from any thread with what is known by now.
Watch: TypeAlias = Callable[[Thought], None]


class Stop:
    """Through which thinking is given up."""

    def __init__(self) -> None:
        self.stopped = False
        self._calls: list[Callable[[], None]] = []

    def stop(self) -> None:
        self.stopped = True
        for call in self._calls:
            call()

    def then(self, call: Callable[[], None]) -> None:
        """Call so when it is stopped, or now if it was."""
        self._calls.append(call)
        if self.stopped:
            call()


@dataclass(frozen=True)
class Question:
    """Asked of the agents at some seats: what do you decide?"""

    state: Any
    agents: Mapping[int, tuple[str, Agent]]
    """By seat, each with its spec."""
    turn: int
    """How many were taken before."""
    rng: np.random.Generator
    watch: Watch
    stop: Stop

    def thought(
        self,
        seat: int,
        found: Analysis,
        row: Callable[[int], Row],
        *,
        done: bool = True,
        more: dict[str, Any] | None = None,
    ) -> Thought:
        """What the agent at a seat found, its likeliest moves as `row` tells of them by place."""
        order = np.lexsort((-found.anchor, -found.policy))
        spec, _ = self.agents[seat]
        return Thought(
            agent=spec,
            seat=seat,
            turn=self.turn,
            value=finite(found.value),
            kl=finite(found.kl),
            entropy=found.entropy,
            anchor_entropy=found.anchor_entropy,
            rows=[row(int(i)) for i in order[:_SHOWN]],
            others=max(0, len(order) - _SHOWN),
            playouts=None if found.visits is None else int(found.visits.sum()) + 1,
            done=done,
            more=more or {},
        )


@dataclass(frozen=True)
class Decision:
    """What an agent decided, and why."""

    move: Move
    thought: Thought | None
    """None where there was nothing to think about, such as agreeing to a count."""


@dataclass(frozen=True)
class Heading:
    """What stands above the moves of a record."""

    date: str | None = None
    """On which the game began: 2024-12-31, or the known front part of it."""
    event: str | None = None
    names: tuple[str | None, ...] = ()
    """Of the players, by seat."""
    ratings: tuple[Rating | None, ...] = ()


@dataclass(frozen=True)
class Record:
    """A game from a file."""

    setup: dict[str, Any]
    turns: list[Turn]
    heading: Heading = Heading()
    outcome: str | None = None
    """How it ended, in the words of the page; None if it goes on, or the rules know."""


class PageGame(ABC):
    """A game's rules and notation, for sessions that know neither."""

    name: ClassVar[str]
    title: ClassVar[str]
    setup: ClassVar[type[BaseModel]]
    """What a new game is told; every field has a default."""
    states: ClassVar[type]
    """What its agents are asked about."""
    files: ClassVar[tuple[str, ...]] = ()
    """Suffixes of the records it reads and writes, the usual one first."""
    secret: ClassVar[frozenset[str]] = frozenset()
    """Fields of the setup that nobody sees before the end, such as a deck."""
    undoes: ClassVar[bool] = True
    """Whether turns are taken back: not where one has seen by then what it had hidden."""
    clocks: ClassVar[bool] = False
    reviews: ClassVar[bool] = False

    @abstractmethod
    def seats(self, setup: Any) -> tuple[str, ...]:
        """What the players are called, in the order in which they are asked to sit."""

    def dealt(self, setup: Any, rng: np.random.Generator) -> Any:
        """The setup with all that chance decides before the first move."""
        return setup

    @abstractmethod
    def begin(self, setup: Any) -> Any:
        """The first state."""

    def no_agents(self, setup: Any) -> str | None:
        """Why agents cannot play a game with this setup; None if they can."""
        return None

    def is_measured(self, setup: Any) -> bool:
        """Whether what was measured on the dial holds for a game with this setup."""
        return True

    @abstractmethod
    def deciding(self, state: Any) -> list[int]:
        """The seats that have to decide now; none when the game has ended, or is the referee's."""

    def referee(self, state: Any) -> Turn:
        """The turn that is taken where no seat decides, though the game goes on.

        Runs in a thread.
        """
        raise InputError(f"nobody has anything to decide in this position of {self.title}")

    def timed(self, state: Any) -> bool:
        """Whether the clock runs for who decides."""
        return True

    @abstractmethod
    def check(self, state: Any, seat: int, move: Move) -> Move:
        """The move in the usual notation, if it is legal; else an `InputError`."""

    def join(self, state: Any, moves: Mapping[int, Move]) -> Turn:
        """The turn that all who had to decide have made."""
        (move,) = moves.values()
        return move

    @abstractmethod
    def take(self, state: Any, turn: Turn) -> str:
        """Take a turn; an `InputError` if it is not legal. Returns what it is called."""

    @abstractmethod
    def position(self, state: Any, eyes: int | None) -> dict[str, Any]:
        """What the page draws: all that the seat `eyes` may know, or anyone if it is None.

        Where something is secret, `eyes` may also be `EVERYTHING`.
        """

    def shows_thoughts(self, seat: int, eyes: int | None) -> bool:
        """Whether thoughts at a seat tell `eyes`, as above, nothing that it may not know."""
        return True

    @abstractmethod
    def outcome(self, state: Any) -> str | None:
        """How the game ended, in words; None while it goes on."""

    @abstractmethod
    def think(self, question: Question) -> dict[int, Decision]:
        """What its agents decide. Runs in a thread."""

    def resigned(self, state: Any, seat: int) -> str:
        """The outcome when a seat gives up."""
        raise InputError(f"nobody resigns in {self.title}")

    def write(self, document: "Document") -> str:
        """The game as a record, in the first of `files`."""
        raise InputError(f"games of {self.title} are not written to files")

    def read(self, text: str) -> Record:
        """A file's first game."""
        raise InputError(f"games of {self.title} are not read from files")

    def review(
        self, document: "Document", tell: Callable[[int], None]
    ) -> GameReport | DecisionsReport:
        """How human each decision was, and what it cost; where `reviews` says so.

        Runs in a thread. `tell` is called now and then with how many turns are done, and raises
        when nobody wants to know any more.
        """
        raise InputError(f"games of {self.title} are not reviewed")


@dataclass(frozen=True)
class Document:
    """A game in progress, as far as it goes into a record."""

    setup: Any
    state: Any
    turns: Sequence[Turn]
    names: Sequence[str | None]
    """Who sits where: a person, or an agent; of a game from a file, who it says."""
    ratings: Sequence[Rating | None]
    """Of the people that an agent plays like, where it is told one, or as the file has them."""
    outcome: str | None
    date: str | None = None
    event: str | None = None


def finite(number: Any) -> float | None:
    """The number, if JSON has it."""
    return float(number) if np.isfinite(number) else None

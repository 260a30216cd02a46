"""A recorded game of chess: moves, players, clocks, evaluations and result."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from kedge.games.chess import ChessState

TimeClass = Literal[
    "ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence", "unknown"
]
TIME_CLASSES: tuple[TimeClass, ...] = get_args(TimeClass)
# Upper bounds in seconds for a game of 40 moves, from Lichess.
_BOUNDS: tuple[tuple[int, TimeClass], ...] = (
    (30, "ultrabullet"),
    (180, "bullet"),
    (480, "blitz"),
    (1500, "rapid"),
    (21600, "classical"),
)
_CONTROL = re.compile(r"(?:\d{1,4}/)?(\d{1,9})(?:\+(\d{1,6}))?(?::.*)?", re.ASCII)


@functools.lru_cache(1024)
def time_class_of(time_control: str | None) -> TimeClass:
    """Return the Lichess class of a time control such as ``"300+3"``; ``"-"`` has no clock.

    >>> [time_class_of(text) for text in ("15+0", "60+0", "180+2", "600+0", "900+15", "-", "?")]
    ['ultrabullet', 'bullet', 'blitz', 'rapid', 'classical', 'correspondence', 'unknown']
    """
    if time_control == "-":
        return "correspondence"
    clock = clock_of(time_control)
    if clock is None:
        return "unknown"
    return time_class(*clock)


def time_class(clock: float, increment: float) -> TimeClass:
    """Return the Lichess class of a game with these seconds on the clock and per move."""
    estimate = clock + 40 * increment
    return next((name for bound, name in _BOUNDS if estimate < bound), "correspondence")


def clock_of(time_control: str | None) -> tuple[int, int] | None:
    """Return the seconds on the clock and the increment per move, or None without a clock.

    >>> clock_of("300+3"), clock_of("600"), clock_of("-")
    ((300, 3), (600, 0), None)
    """
    match = _CONTROL.fullmatch(time_control or "")
    return None if match is None else (int(match[1]), int(match[2] or 0))


@dataclass(frozen=True, slots=True, eq=False)
class ChessGame:
    """One recorded game. Unknown fields are None.

    ``moves`` are native actions (see `kedge.games.chess`) from the start or from ``fen``;
    ``clocks`` are the seconds left to the mover after each move, NaN if missing. ``evals`` are an
    engine's evaluations after each move, in centipawns from White's view, NaN if missing; mates are
    large numbers: see `kedge.records.chess.evals`. The moves are legal and may go on past a draw
    that nobody claimed.
    """

    moves: npt.NDArray[np.uint16]
    result: str = "*"  #: "1-0", "0-1", "1/2-1/2" or "*"
    white_elo: int | None = None
    black_elo: int | None = None
    time_control: str | None = None
    time_class: TimeClass = "unknown"
    clocks: npt.NDArray[np.float32] | None = None
    rated: bool | None = None
    white: str | None = None  #: a name, or its hash
    black: str | None = None
    white_title: str | None = None
    black_title: str | None = None
    date: str | None = None  #: 2024-12-31, or its known first part
    site: str | None = None  #: on Lichess, the game's URL
    variant: str = "Standard"
    termination: str | None = None
    fen: str | None = None
    source: str | None = None
    event: str | None = None  #: None if it is of no tournament
    round: str | None = None
    scale: str | None = None  #: where the ratings were earned, one of `SCALES`
    evals: npt.NDArray[np.float32] | None = None

    sides: ClassVar = ("White", "Black")  #: player 0 first
    opening: ClassVar = 10  #: half-moves played from memory, which are not scored

    @property
    def has_bot(self) -> bool:
        return "BOT" in (self.white_title, self.black_title)

    def seconds_left(self) -> npt.NDArray[np.float32]:
        """The seconds that the mover had before each move; NaN if unknown."""
        left = np.full(len(self), np.nan, np.float32)
        if self.clocks is not None:
            left[2:] = self.clocks[:-2]
            control = clock_of(self.time_control)
            if control is not None:
                left[:2] = control[0]
        return left

    def evals_before(self) -> npt.NDArray[np.float32]:
        """The evaluations before each move; NaN if unknown, as the first is."""
        before = np.full(len(self), np.nan, np.float32)
        if self.evals is not None:
            before[1:] = self.evals[:-1]
        return before

    @property
    def first_player(self) -> int:
        """The player who moves first: 0 is white."""
        return 1 if self.fen is not None and self.fen.split()[1] == "b" else 0

    def mover(self, ply: int) -> int:
        """The player who makes ``moves[ply]``: 0 is white."""
        return (self.first_player + ply) % 2

    def name(self, player: int) -> str | None:
        return self.black if player else self.white

    def rating(self, player: int) -> int | None:
        return self.black_elo if player else self.white_elo

    @staticmethod
    def label(number: int, player: int) -> str:
        """The label of a move in a list of moves."""
        return f"{number}{'…' if player else '.'}"

    @property
    def place(self) -> str | None:
        """A short description of where the game was played."""
        return self.site

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the game other than its moves."""
        return {
            "white": self.white,
            "black": self.black,
            "white_elo": self.white_elo,
            "black_elo": self.black_elo,
            "result": self.result,
            "fen": self.state(0).fen(),
        }

    def state(self, ply: int | None = None) -> ChessState:
        """Return the state before ``moves[ply]``, or at the end of the game."""
        state = ChessState() if self.fen is None else ChessState.from_fen(self.fen)
        for action in self.moves[:ply].tolist():
            state.board.push(action)
            state.history.append(action)
        return state

    def states(self) -> Iterator[ChessState]:
        """Yield the state before each move, and the final one."""
        state = self.state(0)
        yield state
        for action in self.moves.tolist():
            state = state.clone()
            state.board.push(action)  # also past a draw that nobody claimed
            state.history.append(action)
            yield state

    def __len__(self) -> int:
        """Number of half-moves."""
        return len(self.moves)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChessGame):
            return NotImplemented
        if not np.array_equal(self.moves, other.moves):
            return False
        for ours, theirs in ((self.clocks, other.clocks), (self.evals, other.evals)):
            if ours is None or theirs is None:
                if ours is not theirs:
                    return False
            elif not np.array_equal(ours, theirs, equal_nan=True):
                return False
        return all(getattr(self, name) == getattr(other, name) for name in _PLAIN)

    __hash__ = None  # type: ignore[assignment]


_PLAIN = tuple(f.name for f in fields(ChessGame) if f.name not in ("moves", "clocks", "evals"))


__all__ = ["TIME_CLASSES", "ChessGame", "TimeClass", "time_class_of"]

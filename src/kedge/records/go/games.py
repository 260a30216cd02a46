"""A recorded game of Go: moves, players, date and result.

The paper divides games into training and test sets by year: `split_of`.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from kedge.games.go import GoState
from kedge.records.splits import is_one_in

SIZES = range(2, 20)  #: board sizes, in lines
KOMI = 6.5  #: in points, if the record does not say
KOMI_BOUND = 60.0  #: in points; the paper leaves out games with more, either way

Split = Literal["train", "test", "modern", "modern-test"]
SPLITS: tuple[Split, ...] = get_args(Split)
# The first two are the years of Cazenave (2017), which the paper uses too.
_YEARS: dict[Split, range] = {
    "train": range(1900, 2015),
    "test": range(2015, 2017),
    "modern": range(2017, 10_000),
    "modern-test": range(2017, 10_000),
}
_MODERN: tuple[Split, ...] = ("modern", "modern-test")
_MODERN_TESTED = 20  # one game in 20 is a test game

_DATE = re.compile(
    r"(1\d{3}|20\d{2})(?:\s*[-./年]\s*(0?[1-9]|1[0-2])(?!\d)(?:\s*[-./月]\s*(0?[1-9]|[12]\d|3[01])(?!\d))?)?",
    re.ASCII,
)
_KOMI = re.compile(
    r"([-−]?)\s*(\d{1,4}(?:[.,]\d{1,4})?|[.,]\d{1,4})(?:\s*又?\s*(\d)/(\d))?\s*(目|子)?\s*([半½])?",
    re.ASCII,
)
_MARGIN = re.compile(
    r"([BW])(?:lack|hite)?\s*\+\s*(?:(\d{1,3}(?:\.\d{1,2})?|\.\d)\s*(半)?|([RTF]))?",
    re.ASCII | re.IGNORECASE,
)
_WINNER = re.compile(
    r"(?:(black|黑|黒)|white|白).*?(?:win|won|胜|勝|勝ち)", re.IGNORECASE | re.DOTALL
)
_RESIGNED = re.compile(r"resign|中[盘盤押]", re.IGNORECASE)
_DRAWN = re.compile(r"0\s*$|draw|jigo|tie|持碁|和棋", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class GoGame:
    """One recorded game. Unknown fields are None.

    ``moves`` are points, y · size + x from the upper left corner, or size² for a pass. The reader
    does not check the rules: moves are on the board, but may be illegal.
    """

    moves: npt.NDArray[np.int16]
    colours: npt.NDArray[np.uint8] | None = None
    """The player of each move, 0 black and 1 white; None if they alternate from `first_player`."""
    size: int = 19
    komi: float | None = None
    rules: str | None = None
    handicap: int = 0  #: stones: 0 or at least 2, since one stone is Black's first move
    black_stones: tuple[int, ...] = ()  #: on the board before the first move
    white_stones: tuple[int, ...] = ()
    result: str = "?"  #: "B+3.5", "W+R", "B+T", "W+F", "B+", "0" for a draw, "Void" or "?"
    black: str | None = None
    white: str | None = None
    black_rank: str | None = None
    white_rank: str | None = None
    date: str | None = None  #: 2024-12-31, or its known first part
    event: str | None = None
    source: str | None = None
    server: str | None = None  #: where it was played, if on the internet
    time: str | None = None  #: the time limits, as the server writes them
    ai: bool = False  #: whether a program took part
    bots: str = ""  #: "B", "W" or "BW": the sides that are known programs

    sides: ClassVar = ("Black", "White")  #: player 0 first
    opening: ClassVar = 0  #: half-moves that are not scored: the paper's tables score all

    def __post_init__(self) -> None:
        if self.colours is not None:
            turns = (np.arange(len(self.moves)) + self.first_player) % 2
            if np.array_equal(self.colours, turns):
                object.__setattr__(self, "colours", None)

    @property
    def first_player(self) -> int:
        """The player who moves first unless `colours` differs: White after handicap or a setup."""
        return int(self.handicap > 0 or bool(self.black_stones or self.white_stones))

    def until(self, ply: int) -> "GoGame":
        """Return the game up to a half-move; its result stays."""
        colours = None if self.colours is None else self.colours[:ply]
        return replace(self, moves=self.moves[:ply], colours=colours)

    def mover(self, ply: int) -> int:
        """The player who makes ``moves[ply]``: 0 is black."""
        if self.colours is not None:
            return int(self.colours[ply])
        return (self.first_player + ply) % 2

    def name(self, player: int) -> str | None:
        return self.white if player else self.black

    def rating(self, player: int) -> str | None:
        """The player's rank, as written in the record."""
        return self.white_rank if player else self.black_rank

    @staticmethod
    def label(number: int, player: int) -> str:
        """The label of a move in a list of moves."""
        return f"{number}. {'BW'[player]}"

    @property
    def place(self) -> str | None:
        """A short description of where the game was played."""
        return self.event or self.server

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the game other than its moves."""
        return {
            "black": self.black,
            "white": self.white,
            "black_rank": self.black_rank,
            "white_rank": self.white_rank,
            "result": self.result,
            "size": self.size,
            "komi": self.komi,
            "handicap": self.handicap,
        }

    def state(self, ply: int | None = None) -> GoState:
        """Return the state before ``moves[ply]``, or the final one; the moves must be legal."""
        *_, state = self._replayed(len(self) if ply is None else ply, copied=False)
        return state

    def states(self) -> Iterator[GoState]:
        """Yield the state before each move, and the final one."""
        return self._replayed(len(self), copied=True)

    def _replayed(self, length: int, *, copied: bool) -> Iterator[GoState]:
        # Records follow simple ko; some violate superko.
        state = GoState(
            self.size,
            KOMI if self.komi is None else self.komi,
            superko="simple",
            black=self.black_stones,
            white=self.white_stones,
            player=self.mover(0) if len(self) else self.first_player,
        )
        yield state
        for ply, move in enumerate(self.moves[:length].tolist()):
            state = state.clone() if copied else state
            state.apply_action(move)
            if self.colours is not None and ply + 1 < len(self):
                state.set_player(self.mover(ply + 1))
            yield state

    @property
    def year(self) -> int | None:
        return None if self.date is None else int(self.date[:4])

    @property
    def black_return(self) -> float | None:
        """1 if Black won, −1 if White did, 0 for a draw; None if unknown."""
        if self.result == "0":
            return 0.0
        return {"B+": 1.0, "W+": -1.0}.get(self.result[:2])

    @property
    def is_even(self) -> bool:
        """Whether there is no handicap or setup, and Black and White alternate."""
        return self.first_player == 0 and self.colours is None

    def __len__(self) -> int:
        return len(self.moves)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GoGame):
            return NotImplemented
        ours, theirs = self.colours, other.colours
        if ours is None or theirs is None:
            if ours is not theirs:
                return False
        elif not np.array_equal(ours, theirs):
            return False
        return np.array_equal(self.moves, other.moves) and all(
            getattr(self, name) == getattr(other, name) for name in _PLAIN
        )

    __hash__ = None  # type: ignore[assignment]


_PLAIN = tuple(f.name for f in fields(GoGame) if f.name not in ("moves", "colours"))


def split_of(game: GoGame) -> Split | None:
    """Return the paper's set that a game is in: even games of people on 19×19, by year.

    The training set is 1900–2014, the test set 2015–2016. Games from 2017 on are not the paper's:
    one in twenty, by a hash of its moves, is "modern-test", the others "modern". Games with extreme
    komi are in no set; games with unknown komi stay.
    """
    if game.ai or game.size != 19 or not game.is_even or game.year is None:
        return None
    if game.komi is not None and abs(game.komi) > KOMI_BOUND:
        return None
    split = next((name for name, years in _YEARS.items() if game.year in years), None)
    if split == "modern" and is_one_in(_MODERN_TESTED, game.moves.astype("<i2").tobytes()):
        return "modern-test"
    return split


def years_words(split: Split) -> str:
    """Return the years of a set, as text.

    >>> years_words("test"), years_words("modern")
    ('2015-2016', '2017 and later')
    """
    years = _YEARS[split]
    return f"{years.start} and later" if split in _MODERN else f"{years.start}-{years.stop - 1}"


def years_in(split: Split) -> range:
    """Return the years of a set."""
    return _YEARS[split]


# --- Fields of a record ---------------------------------------------------------------------------


@functools.lru_cache(4096)
def date_of(text: str) -> str | None:
    """Return the first date in the text in ISO format, without its unknown parts.

    >>> [date_of(text) for text in ("1996-5-6,07", "1996-05", "c. 1660s", "May 3rd, 1951", "?")]
    ['1996-05-06', '1996-05', '1660', '1951', None]
    """
    match = _DATE.search(text)
    if match is None:
        return None
    return "-".join(part.zfill(2) for part in match.groups() if part)


@functools.lru_cache(4096)
def komi_of(text: str) -> float | None:
    """Return komi in points. Some records use hundredths, or stones of two points each.

    >>> [komi_of(text) for text in ("6.50", "550", "3 3/4", "375", "5目半", "-2,5", "none")]
    [6.5, 5.5, 7.5, 7.5, 5.5, -2.5, None]
    """
    match = _KOMI.search(text)
    if match is None:
        return None
    sign, number, above, below, unit, half = match.groups()
    value = float(number.replace(",", "."))
    if below not in (None, "0"):
        value += int(above) / int(below)
    value += 0.5 if half else 0.0
    if value >= 100 and value % 25 == 0:
        value /= 100
    if unit == "子" or value % 0.5 == 0.25:
        value *= 2
    return -value if sign and value else value


def handicap_of(text: str) -> int:
    """Return the handicap stones; 1 counts as 0, since it is Black's first move."""
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0
    return count if count > 1 else 0


@functools.lru_cache(4096)
def result_of(text: str) -> str:
    """Return the result in SGF's form, or "?".

    >>> [result_of(text) for text in ("W+0.50", "B+Resign", "Jigo", "White wins", "unfinished")]
    ['W+0.5', 'B+R', '0', 'W+', '?']
    """
    text = text.strip()
    match = _MARGIN.match(text)
    if match is not None:
        winner, number, half, how = match.groups()
        margin = (how or "").upper() if number is None else f"{float(number) + 0.5 * bool(half):g}"
        return f"{winner.upper()}+{margin}"
    if _DRAWN.match(text):
        return "0"
    if text.lower() == "void":
        return "Void"
    won = _WINNER.match(text)
    if won is None:
        return "?"
    return f"{'B' if won[1] else 'W'}+{'R' if _RESIGNED.search(text) else ''}"


def points_of(letters: bytes, size: int) -> npt.NDArray[np.int16]:
    """Return the points of SGF moves of two letters each; ``tt`` is a pass.

    Raises
    ------
    ValueError
        If a move is off the board; the message names it.
    """
    places = np.frombuffer(letters, np.uint8).reshape(-1, 2).astype(np.int16) - ord("a")
    points = places[:, 1] * np.int16(size) + places[:, 0]
    off = ((places < 0) | (places >= size)).any(axis=1)
    if off.any():
        passes = (places == ord("t") - ord("a")).all(axis=1)
        points[passes] = size * size
        wrong = np.flatnonzero(off & ~passes)
        if wrong.size:
            name = letters[2 * wrong[0] : 2 * wrong[0] + 2].decode("latin-1")
            raise ValueError(
                f"move {wrong[0] + 1}: {name!r} is not a point of a {size}×{size} board"
            )
    return points


__all__ = [
    "KOMI_BOUND",
    "SIZES",
    "SPLITS",
    "GoGame",
    "Split",
    "date_of",
    "handicap_of",
    "komi_of",
    "points_of",
    "result_of",
    "split_of",
    "years_in",
    "years_words",
]

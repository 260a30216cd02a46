"""Count the games read from a file, and collect the reasons why others were left out."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kedge.errors import InputError
from kedge.words import counted

Game = TypeVar("Game")
Replayable = TypeVar("Replayable", bound=Sized)

_MOST_KINDS = 100  # bounds the memory that a malicious file can take
_DETAIL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+""")


@dataclass(frozen=True, slots=True)
class Broken:
    """A game that cannot be read or replayed."""

    number: int  #: position in its file, from 1
    where: str
    reason: str


@dataclass(slots=True)
class ReadReport:
    """Counts of what was read. Pass one to a reader of games, or the same one to several."""

    limit: int = 1000  #: most broken games to remember; the rest are only counted
    games: int = 0
    positions: int = 0  #: half-moves of those games
    broken_games: int = 0
    broken: list[Broken] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    """Broken games by reason, with numbers and quoted text left out of the reason."""
    noise: int = 0  #: broken games that are hardly games: other text, random bytes, damage
    bytes_read: int = 0  #: of the file as stored, before decompression
    last: tuple[int, str] = (0, "")  #: number and place of the last game, if known

    def add_game(self, number: int, where: str, positions: int) -> None:
        self.games += 1
        self.positions += positions
        self.last = number, where

    def reject(self, positions: int, reason: str) -> None:
        """Count the last game as broken: it could be read, but not replayed."""
        self.games -= 1
        self.positions -= positions
        self.add_broken(*self.last, reason)

    def add_broken(self, number: int, where: str, reason: str, *, noise: bool = False) -> None:
        self.broken_games += 1
        self.noise += noise
        kind = _DETAIL.sub("…", reason)
        is_known = kind in self.kinds or len(self.kinds) < _MOST_KINDS
        self.kinds[kind if is_known else "other reasons"] += 1
        if len(self.broken) < self.limit:
            self.broken.append(Broken(number, where, reason))


def no_game(name: object, faults: Sequence[Broken] = ()) -> InputError:
    """Return the error for a file without a valid game; it has the first of its `faults`."""
    why = f" ({faults[0].where}: {faults[0].reason})" if faults else ""
    return InputError(f"{name}: holds no game{why}")


def unbroken(
    games: Iterable[Replayable], report: ReadReport, fault: Callable[[Replayable], str | None]
) -> Iterator[Replayable]:
    """Yield the legal games; record the `fault` of the others in `report`."""
    for game in games:
        reason = fault(game)
        if reason is None:
            yield game
        else:
            report.reject(len(game), reason)


def first_games(games: Iterable[Game], limit: int | None) -> Iterator[Game]:
    """Return the first games, or all if `limit` is None or huge."""
    return islice(games, limit and min(limit, sys.maxsize))


def numbered_game(games: Iterable[Game], report: ReadReport, file: Path, number: int) -> Game:
    """Return game `number` of `file`; its reader fills `report`."""
    for game in games:
        if report.games + report.broken_games == number:
            return game
    for fault in report.broken:
        if fault.number == number:
            raise InputError(f"{fault.where}: game {number} is invalid: {fault.reason}")
    total = report.games + report.broken_games
    raise InputError(f"{file}: no game {number}; the file has {counted(total, 'game')}")


__all__ = ["Broken", "ReadReport", "first_games", "no_game", "numbered_game", "unbroken"]

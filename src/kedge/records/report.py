"""What reading a file of games came upon."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kedge.errors import InputError

Game = TypeVar("Game")
Replayable = TypeVar("Replayable", bound=Sized)

_MOST_KINDS = 100  # so that a file made to have many takes no memory
_DETAIL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\d+""")


@dataclass(frozen=True, slots=True)
class Broken:
    """A game that cannot be read or replayed."""

    number: int  #: in its file, from 1
    where: str
    reason: str


@dataclass(slots=True)
class ReadReport:
    """What reading came upon. Hand one to a reader of games, or the same one to many calls."""

    limit: int = 1000  #: broken games to remember; the rest are only counted
    games: int = 0
    positions: int = 0  #: half-moves of those games: each is a position and the move made in it
    broken_games: int = 0
    broken: list[Broken] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    """How many are broken for which reason, whatever its numbers and what it quotes."""
    noise: int = 0  #: of the broken ones, those that hardly are games: text, bytes, damage
    bytes_read: int = 0  #: of the file as it is stored
    last: tuple[int, str] = (0, "")  #: of the game read last, its number and place, where told

    def add_game(self, number: int, where: str, positions: int) -> None:
        self.games += 1
        self.positions += positions
        self.last = number, where

    def reject(self, positions: int, reason: str) -> None:
        """The game read last is broken, after all."""
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


def unbroken(
    games: Iterable[Replayable], report: ReadReport, fault: Callable[[Replayable], str | None]
) -> Iterator[Replayable]:
    """Those that the rules have nothing against; the `fault` of the others is told to `report`."""
    for game in games:
        reason = fault(game)
        if reason is None:
            yield game
        else:
            report.reject(len(game), reason)


def numbered_game(games: Iterable[Game], report: ReadReport, file: Path, number: int) -> Game:
    """Of the games of `file`, which tell `report` of themselves, the one with this number."""
    for game in games:
        if report.games + report.broken_games == number:
            return game
    for one in report.broken:
        if one.number == number:
            raise InputError(f"{one.where}: game {number} is broken: {one.reason}")
    held = report.games + report.broken_games
    raise InputError(f"{file}: holds {held} games, and no game {number}")


__all__ = ["Broken", "ReadReport", "numbered_game", "unbroken"]

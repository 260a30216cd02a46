"""The games that an experiment predicts: in memory, or read as far as tasks need them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

#: A game, and the half-moves of it that count.
Chosen: TypeAlias = tuple[Any, list[int]]


@dataclass(frozen=True)
class ChosenGames:
    """The games that pass a sieve."""

    count: int
    counts: dict[str, Any]
    """What was read and left out, by `Sieve.to_json`."""
    kept: Sequence[Chosen] | None
    """The games, if they stay in memory."""


class GameStream:
    """Games that are read in order."""

    def __init__(self, games: Iterator[Chosen]) -> None:
        self._games = games
        #: Number of the next game.
        self.at = 0

    def take(self, first: int, end: int) -> list[Chosen]:
        """Return the games with these numbers; earlier games cannot be read again."""
        games = list(islice(self._games, first - self.at, end - self.at))
        self.at = end
        return games

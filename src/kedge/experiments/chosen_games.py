"""The games that an experiment predicts: kept in memory, or read as far as tasks need them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

from kedge.records.sieve import Sieve

#: A game, and the half-moves of it that count.
Chosen: TypeAlias = tuple[Any, list[int]]


class ChosenGames:
    """The games that pass a sieve.

    Parameters
    ----------
    choose
        Yields the games, from a sieve that counts what it leaves out and a number of threads.
    sieve
        Makes the sieve.
    is_kept
        Whether the games stay in memory: choosing them again would take as long as all tasks.
    """

    def __init__(
        self,
        choose: Callable[[Sieve, int], Iterator[Chosen]],
        sieve: Callable[[], Sieve],
        *,
        is_kept: bool,
    ) -> None:
        self._choose, self._sieve, self._is_kept = choose, sieve, is_kept
        self._at, self._stream = 0, iter(())  # type: tuple[int, Iterator[Chosen]]

    @cached_property
    def summary(self) -> tuple[int, dict[str, Any]]:
        """The number of games, and what the sieve left out."""
        if self._is_kept:
            games, read = self._kept
            return len(games), read
        sieve = self._sieve()
        return sum(1 for _ in self._choose(sieve, 0)), sieve.to_json()

    @cached_property
    def _kept(self) -> tuple[list[Chosen], dict[str, Any]]:
        """All games, and what the sieve left out."""
        sieve = self._sieve()
        return list(self._choose(sieve, 0)), sieve.to_json()

    def take(self, first: int, end: int) -> Sequence[Chosen]:
        """Return the games of these numbers. Tasks come in order; going back reads again."""
        if self._is_kept:
            return self._kept[0][first:end]
        if first < self._at or self._at == 0:
            self._at, self._stream = 0, self._choose(self._sieve(), 1)
        games = list(islice(self._stream, first - self._at, end - self._at))
        self._at = end
        return games

"""The games that an experiment predicts: in memory, or read as far as tasks need them."""

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
        Whether the games stay in memory and go to the workers with their tasks: choosing them again
        would take as long as all tasks.
    """

    def __init__(
        self,
        choose: Callable[[Sieve, int], Iterator[Chosen]],
        sieve: Callable[[], Sieve],
        *,
        is_kept: bool,
    ) -> None:
        self._choose, self._sieve, self._is_kept = choose, sieve, is_kept
        self._kept: list[Chosen] = []
        self._at, self._stream = 0, iter(())  # type: tuple[int, Iterator[Chosen]]

    @cached_property
    def summary(self) -> tuple[int, dict[str, Any]]:
        """The number of games, and what the sieve left out."""
        sieve, count = self._sieve(), 0
        for chosen in self._choose(sieve, 0):
            count += 1
            if self._is_kept:
                self._kept.append(chosen)
        return count, sieve.to_json()

    def kept(self, first: int, end: int) -> Sequence[Chosen] | None:
        """Return the games of these numbers if they are in memory."""
        return self._kept[first:end] if self._is_kept else None

    def take(self, first: int, end: int) -> Sequence[Chosen]:
        """Read the games of these numbers. Tasks come in order; going back reads again."""
        if first < self._at or self._at == 0:
            self._at, self._stream = 0, self._choose(self._sieve(), 1)
        games = list(islice(self._stream, first - self._at, end - self._at))
        self._at = end
        return games

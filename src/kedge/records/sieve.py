"""Filters that select positions of recorded games, for all games alike.

A filter takes a game and answers for all its positions at once: True or False for the whole game,
or an array with one boolean per half-move. `chosen_plies` keeps the half-moves that pass every
filter.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.records.report import ReadReport
from kedge.words import counted

Filter = Callable[[Any], "bool | npt.NDArray[np.bool_]"]


def chosen_plies(game: Any, filters: Iterable[Filter]) -> npt.NDArray[np.int64]:
    """Return the half-moves of `game` that pass every filter."""
    kept = np.ones(len(game), np.bool_)
    for keep in filters:
        answer = keep(game)
        if answer is False:
            return np.empty(0, np.int64)
        kept &= answer
    return np.flatnonzero(kept)


@dataclass
class Sieve:
    """Named filters, and how many games each of them removed."""

    filters: Mapping[str, Filter]  #: by the name of what they leave out
    read: ReadReport = field(default_factory=ReadReport)  #: pass this one to the reader of games
    left_out: Counter[str] = field(default_factory=Counter)

    def plies(self, game: Any) -> npt.NDArray[np.int64]:
        """Return the half-moves that pass every filter; count the game if there are none."""
        kept, remover = np.ones(len(game), np.bool_), "too short"
        for name, keep in self.filters.items():
            answer = keep(game)
            kept &= answer
            if answer is not True and not kept.any():
                remover = name
                break
        if not kept.any():
            self.left_out[remover] += 1
        return np.flatnonzero(kept)

    def to_json(self) -> dict[str, Any]:
        first = self.read.broken[0] if self.read.broken else None
        return {
            "games": self.read.games,
            "left_out": dict(self.left_out),
            "broken": self.read.broken_games,
            "first_broken": None if first is None else f"{first.where}: {first.reason}",
        }


def sifted_words(read: Mapping[str, Any]) -> str:
    """Return the content of `Sieve.to_json` as text.

    >>> sifted_words({"games": 12, "left_out": {"not rated": 3, "bullet": 9}, "broken": 0})
    '12 games read, 9 bullet, 3 not rated'
    """
    parts = [f"{counted(read['games'], 'game')} read"]
    left_out = sorted(read["left_out"].items(), key=lambda item: -item[1])
    parts += [f"{count:,} {name}" for name, count in left_out]
    if read["broken"]:
        parts.append(f"{read['broken']:,} invalid ({read['first_broken']})")
    return ", ".join(parts)


__all__ = ["Filter", "Sieve", "chosen_plies", "sifted_words"]

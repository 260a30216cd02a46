"""Which moves of Go games a model learns from, and which choose and test it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kedge.records.go.arrays import AI, COLOURS, GoArrays
from kedge.records.go.duplicates import games_among
from kedge.records.go.games import KOMI_BOUND, SPLITS, years_in
from kedge.records.splits import CHOOSE, LEARN, TEST

_SIDE = 19  # of the full board


class Lessons(NamedTuple):
    """Masks (games, 2) of the sides whose moves train, choose or test a model."""

    learned: npt.NDArray[np.bool_]
    chosen_by: npt.NDArray[np.bool_]
    tested: npt.NDArray[np.bool_]


def lessons_of(table: GoArrays) -> Lessons:
    """Divide the games of people into those to learn from and those held out.

    Over the board, professionals' games of 2015 and 2016 test the model, and one in twenty of the
    later games chooses it. On servers, persons are held out with all their games. A held-out game
    is not learned from under another record either. Moves of programs are never learned.
    """
    on_server = table.servers > 0
    usable = (table.sizes == _SIDE) & ~(np.abs(table.komi) > KOMI_BOUND)
    usable &= (table.flags & COLOURS) == 0
    people = usable[:, None] & ~table.bots
    people &= (table.bots.any(axis=1) | ((table.flags & AI) == 0))[:, None]
    chosen_by = people & on_server[:, None] & (table.parts == CHOOSE)
    chosen_by |= (
        people & (table.splits == SPLITS.index("modern-test"))[:, None] & ~on_server[:, None]
    )
    tested = people & on_server[:, None] & (table.parts == TEST)
    tested |= people & (table.splits == SPLITS.index("test"))[:, None] & ~on_server[:, None]
    held_out = (chosen_by | tested).any(axis=1)
    held_out |= ~on_server & np.isin(table.years, years_in("test"))
    held_out |= on_server & ((table.parts != LEARN) & ~table.bots).any(axis=1)
    held_out |= games_among(table, np.flatnonzero(held_out))
    return Lessons(people & ~held_out[:, None], chosen_by, tested)


__all__ = ["Lessons", "lessons_of"]

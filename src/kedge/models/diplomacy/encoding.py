"""Inputs of Diplomacy networks, and the choices of powers.

A position is 88 tokens, one per place and one per power, each with at most ten facts; an order has
five facts. A fact is a row of a table, and a network adds up the rows; row 0 is empty.

A power chooses one order at a time: unit by unit in order of place, or builds and removals in a
fixed order, so that each set of orders can be chosen in only one way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.games.diplomacy import LOCATIONS, POWERS, DiplomacyState, PackedOrders, place_of

PLACES = len(LOCATIONS)
TOKENS = PLACES + len(POWERS)
FACTS = 10
FACT_ROWS = _core.DIPLOMACY_FACT_ROWS
ORDER_ROWS = _core.DIPLOMACY_ORDER_ROWS
#: Roles that a place can have in an order.
PURPOSES = 4
#: Most units of a power: with 18 centres the game is over.
MOST_CHOICES = 17
EVERYBODY = len(POWERS)
WAIVE = 10
#: The province of each place.
PROVINCES = np.array([LOCATIONS.index(name[:3]) for name in LOCATIONS])

Facts = npt.NDArray[np.uint16]
Integers = npt.NDArray[np.int64]


def facts_of(states: Sequence[DiplomacyState], threads: int = 0) -> Facts:
    """The facts of positions, (n, 88, 10), with the orders of the last movement phase."""
    boards = [state.board for state in states]
    return _core.diplomacy_facts(boards, [state.previous for state in states], threads)


def tells_previous() -> npt.NDArray[np.bool_]:
    """(88, 10): mask of the facts about previous orders."""
    which = np.zeros((TOKENS, FACTS), bool)
    which[:PLACES, -3:] = True
    return which


def is_waive(orders: PackedOrders) -> npt.NDArray[np.bool_]:
    waived: npt.NDArray[np.bool_] = np.equal(orders & 15, WAIVE)
    return waived


@dataclass(frozen=True)
class Choices:
    """The choices of powers on many boards, by board, power and place."""

    places: npt.NDArray[np.uint8]  # (s,) place of the unit; PLACES for builds and removals
    offsets: Integers  # (s + 1,) where its orders begin
    orders: PackedOrders
    boards: Integers  # (g,) the board of each power that has any choice, board by board
    powers: Integers  # (g,)
    first: Integers  # (g,) its first choice
    counts: Integers  # (g,) the number of its choices

    @classmethod
    def on(
        cls, boards: Sequence[_core.DiplomacyBoard], powers: Sequence[int], threads: int = 0
    ) -> "Choices":
        """The choices of one power on each board, or of `EVERYBODY`."""
        return cls(*_core.diplomacy_choices(boards, np.asarray(powers, np.uint8), threads))

    def of(self, choice: int) -> PackedOrders:
        return self.orders[self.offsets[choice] : self.offsets[choice + 1]]

    def openings(self) -> tuple[Integers, Integers]:
        """The first order allowed after each order, and the end of the orders allowed in each
        choice; both count within a choice.

        Orders to units are free. Builds and removals must follow in order: earlier ones and others
        at the same place are closed, and after a waived build only waived builds may come. Enough
        units to remove must remain.
        """
        after, until = np.zeros(len(self.orders), np.int64), np.diff(self.offsets)
        adjusting = self.places == PLACES
        choices = np.repeat(np.arange(len(until)), until)
        which = np.flatnonzero(adjusting[choices])
        orders, own = self.orders[which], choices[which]
        waived = is_waive(orders)
        provinces = np.where(waived, PLACES, PROVINCES[place_of(orders) % PLACES])
        keys = own * (PLACES + 1) + provinces
        # `which` has gaps where other boards are in another phase: count from the choice's first.
        later = np.searchsorted(keys, keys, side="right") - np.searchsorted(own, own)
        after[which] = np.where(waived, until[own] - 1, later)
        left = np.repeat(self.first + self.counts - 1, self.counts) - np.arange(len(until))
        removing = adjusting & ~is_waive(self.orders[self.offsets[1:] - 1])
        return after, np.where(removing, until - left, until)

    def matched(self, own: slice, given: PackedOrders) -> PackedOrders:
        """The `given` order for each of a power's `own` choices; 0 if there is none.

        Builds and removals are sorted by place, and missing builds count as waived. If there are
        too many or too few, none is matched.
        """
        wanted = np.zeros(own.stop - own.start, np.uint32)
        if self.places[own.start] == PLACES:
            made = given[~is_waive(given)]
            made = made[np.argsort(place_of(made), kind="stable")]
            if is_waive(self.of(own.start)[-1:]).any():
                made = np.append(made, np.full(max(0, len(wanted) - len(made)), WAIVE, np.uint32))
            return made if len(made) == len(wanted) else wanted
        places = self.places[own].astype(np.int64)
        at = np.searchsorted(places, place_of(given)).clip(0, len(places) - 1)
        known = places[at] == place_of(given)
        wanted[at[known]] = given[known]
        return wanted

"""What a record of a game of Diplomacy says: the phases, and who gave which orders in them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kedge.games.diplomacy import POWERS, DiplomacyState, PackedOrders, shares_of
from kedge.records.splits import is_one_in

#: The `diplomacy` package's name for what follows the last phase.
COMPLETED = "COMPLETED"
_INDEX = {power: i for i, power in enumerate(POWERS)}


class ByPower(Mapping[str, tuple[str, ...]]):
    """Units, centres or orders of the powers that have any, in the order of `POWERS`.

    They are kept in one tuple: 2.4 million orders would take four times the memory in dictionaries.

    >>> orders = ByPower.of({"ITALY": ["A VEN H"], "FRANCE": ["A PAR - BUR", "F BRE - MAO"]})
    >>> list(orders), orders["FRANCE"], orders.flat[-1]
    (['FRANCE', 'ITALY'], ('A PAR - BUR', 'F BRE - MAO'), 'A VEN H')
    """

    __slots__ = ("_ends", "flat")

    def __init__(self, flat: tuple[str, ...] = (), ends: bytes = bytes(len(POWERS))) -> None:
        self.flat = flat  #: of all powers
        self._ends = ends  # of each power's part

    @classmethod
    def of(cls, lists: Mapping[str, Iterable[str]]) -> "ByPower":
        flat: list[str] = []
        ends = bytearray()
        for power in POWERS:
            flat += lists.get(power, ())
            ends.append(len(flat))
        return cls(tuple(flat), bytes(ends))

    def __getitem__(self, power: str) -> tuple[str, ...]:
        i = _INDEX[power]
        found = self.flat[self._ends[i - 1] if i else 0 : self._ends[i]]
        if not found:
            raise KeyError(power)
        return found

    def __iter__(self) -> Iterator[str]:
        before = 0
        for power, end in zip(POWERS, self._ends, strict=True):
            if end > before:
                yield power
            before = end

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __hash__(self) -> int:
        return hash((self.flat, self._ends))

    def __repr__(self) -> str:
        return f"ByPower.of({dict(self)})"

    def to_json(self) -> dict[str, list[str]]:
        return {power: list(texts) for power, texts in self.items()}


NOTHING = ByPower()


@dataclass(frozen=True, slots=True)
class Phase:
    """A position, and the orders that were given in it.

    The reader knows no rules: units stand on the map and orders are well formed, but they may be
    illegal, or for a unit that is not there.
    """

    name: str  #: S1901M, F1901R, W1901A; COMPLETED where a record ends in a position
    units: ByPower
    centers: ByPower
    orders: ByPower = NOTHING  #: a unit without one held
    dislodged: ByPower = NOTHING  #: not among `units`
    auto: ByPower = NOTHING  #: removals by the platform, which nobody chose
    invalid: ByPower = NOTHING  #: what was ordered against the rules, and not carried out

    @classmethod
    def of(cls, state: DiplomacyState, orders: Mapping[str, Iterable[str]] = NOTHING) -> "Phase":
        """The position of a game that is played, and what is ordered in it."""
        found = state.to_json()
        lists = {
            name: ByPower.of(found.get(name, {})) for name in ("units", "centers", "dislodged")
        }
        return cls(state.phase, orders=ByPower.of(orders), **lists)

    @property
    def kind(self) -> str:
        """M for movement, R for retreats, A for adjustments."""
        return self.name[-1]

    @property
    def year(self) -> int:
        return int(self.name[1:5])

    def state(self) -> DiplomacyState:
        """The position. Where dislodged units may go is better known to `DiplomacyGame.states`."""
        state: DiplomacyState = DiplomacyState.from_json(self.to_json())
        return state

    def all_orders(self) -> dict[str, tuple[str, ...]]:
        """What was carried out: the orders, and the platform's removals."""
        return {
            power: self.orders.get(power, ()) + self.auto.get(power, ())
            for power in (*self.orders, *self.auto)
        }

    def to_json(self) -> dict[str, Any]:
        """The plain form: lists by power, and what is empty left out but for the first four."""
        found: dict[str, Any] = {"name": self.name}
        for name in _LISTS:
            lists: ByPower = getattr(self, name)
            if lists or name in _LISTS[:3]:
                found[name] = lists.to_json()
        return found


_LISTS = ("units", "centers", "orders", "dislodged", "auto", "invalid")


@dataclass(frozen=True, slots=True)
class Final:
    """How a game stood after its last phase."""

    phase: str  #: the one that would have followed, or COMPLETED
    counts: tuple[int, ...]  #: of centres, one a power
    done: bool | None = None  #: whether the game was over
    position: Phase | None = None  #: where the record has it


class Decision(NamedTuple):
    """A phase as the rules see it."""

    phase: Phase
    state: DiplomacyState  #: before the orders
    orders: dict[str, PackedOrders]  #: the legal ones, by power; not the platform's


@dataclass(frozen=True, slots=True)
class DiplomacyGame:
    """One game. What the record does not say is None."""

    id: str
    phases: tuple[Phase, ...]  #: that were played, in their order
    final: Final | None = None
    human_powers: tuple[str, ...] | None = None
    press: str | None = None  #: none, public, full, bot, or in the source's words
    tier: str | None = None  #: of Droidippy's games, A: all seven powers were active throughout
    activity: tuple[float, ...] | None = None  #: the share of phases in which each power ordered
    players: tuple[str | None, ...] | None = None  #: who had each power
    ratings: tuple[float | None, ...] | None = None  #: of these players
    source: str | None = None
    licence: str | None = None

    @property
    def bot_powers(self) -> tuple[str, ...] | None:
        if self.human_powers is None:
            return None
        return tuple(power for power in POWERS if power not in self.human_powers)

    def states(self) -> Iterator[DiplomacyState]:
        """The game before each of its phases and at its end, as its orders lead to it.

        A record may show a phase in which nobody has a choice; the rules pass over it, and the
        state is that of the phase after it.
        """
        state = self.phases[0].state()
        yield state
        for phase in self.phases:
            if phase.kind == "M" or phase.name == state.phase:
                state = state.clone()
                state.apply(phase.all_orders())
            yield state

    def decisions(self) -> Iterator[Decision]:
        """The phases of the game in which somebody has a choice, replayed."""
        state = self.phases[0].state()
        for phase in self.phases:
            if phase.name != state.phase:
                if phase.kind == "M":
                    return  # the record contradicts the rules
                continue
            given = {power: state.pack({power: orders}) for power, orders in phase.orders.items()}
            yield Decision(phase, state, given)
            state = state.clone()
            state.apply_packed(np.concatenate([*given.values(), state.pack(phase.auto)]))

    def shares(self) -> list[float] | None:
        """Sum-of-Squares shares of how it ended."""
        return None if self.final is None else shares_of(self.final.counts)

    def __len__(self) -> int:
        return len(self.phases)


def is_held_out(game: DiplomacyGame) -> bool:
    """Games that models are not trained on, to be tested on.

    One in twenty by a hash of its id, so in every tier, and whatever file it is in.
    """
    return is_one_in(20, game.id.encode("utf-8", "surrogatepass"))


__all__ = [
    "COMPLETED",
    "NOTHING",
    "ByPower",
    "Decision",
    "DiplomacyGame",
    "Final",
    "Phase",
    "is_held_out",
]

"""A recorded game of Diplomacy: its phases and the orders given in them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kedge.games.diplomacy import POWERS, DiplomacyState, PackedOrders, shares_of
from kedge.records.splits import CHOOSE, LEARN, TEST, is_one_in

#: The `diplomacy` package's name for what follows the last phase.
COMPLETED = "COMPLETED"
_INDEX = {power: i for i, power in enumerate(POWERS)}


class ByPower(Mapping[str, tuple[str, ...]]):
    """Units, centres or orders of the powers that have any, in the order of `POWERS`.

    They are stored in one tuple: dictionaries would take four times the memory.

    >>> orders = ByPower.of({"ITALY": ["A VEN H"], "FRANCE": ["A PAR - BUR", "F BRE - MAO"]})
    >>> list(orders), orders["FRANCE"], orders.flat[-1]
    (['FRANCE', 'ITALY'], ('A PAR - BUR', 'F BRE - MAO'), 'A VEN H')
    """

    __slots__ = ("_ends", "flat")

    def __init__(self, flat: tuple[str, ...] = (), ends: bytes = bytes(len(POWERS))) -> None:
        self.flat = flat  #: the entries of all powers
        self._ends = ends  # where each power's entries end

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
        entries = self.flat[self._ends[i - 1] if i else 0 : self._ends[i]]
        if not entries:
            raise KeyError(power)
        return entries

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
    """A position, and the orders given in it.

    The reader does not check the rules: units are on the map and orders are well formed, but they
    may be illegal, or for a unit that does not exist.
    """

    name: str  #: S1901M, F1901R, W1901A; COMPLETED for a final position
    units: ByPower
    centers: ByPower
    orders: ByPower = NOTHING  #: a unit without an order holds
    dislodged: ByPower = NOTHING  #: not among `units`
    auto: ByPower = NOTHING  #: removals by the platform, not by a player
    invalid: ByPower = NOTHING  #: illegal orders, which were not carried out

    @classmethod
    def of(cls, state: DiplomacyState, orders: Mapping[str, Iterable[str]] = NOTHING) -> "Phase":
        """Return the phase of a state, with the orders given in it."""
        plain = state.to_json()
        lists = {
            name: ByPower.of(plain.get(name, {})) for name in ("units", "centers", "dislodged")
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
        """Return the position. `DiplomacyGame.states` also knows the possible retreats."""
        state: DiplomacyState = DiplomacyState.from_json(self.to_json())
        return state

    def all_orders(self) -> dict[str, tuple[str, ...]]:
        """Return what was carried out: the orders, and the platform's removals."""
        return {
            power: self.orders.get(power, ()) + self.auto.get(power, ())
            for power in (*self.orders, *self.auto)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plain form: lists by power, without most empty fields."""
        plain: dict[str, Any] = {"name": self.name}
        for name in _LISTS:
            lists: ByPower = getattr(self, name)
            if lists or name in _LISTS[:3]:
                plain[name] = lists.to_json()
        return plain


_LISTS = ("units", "centers", "orders", "dislodged", "auto", "invalid")


@dataclass(frozen=True, slots=True)
class Final:
    """The end of a game, after its last phase."""

    phase: str  #: the phase that would have followed, or COMPLETED
    counts: tuple[int, ...]  #: supply centres per power
    done: bool | None = None  #: whether the game was over
    position: Phase | None = None  #: the final position, if recorded


class ReplayedPhase(NamedTuple):
    """A phase, replayed by the rules."""

    phase: Phase
    state: DiplomacyState  #: before the orders
    orders: dict[str, PackedOrders]  #: the legal orders by power, without the platform's


@dataclass(frozen=True, slots=True)
class DiplomacyGame:
    """One recorded game. Unknown fields are None."""

    id: str
    phases: tuple[Phase, ...]  #: the phases played, in order
    final: Final | None = None
    human_powers: tuple[str, ...] | None = None
    press: str | None = None  #: none, public, full, bot, or another word of the source
    tier: str | None = None  #: for Droidippy's games; A: all seven powers were always active
    activity: tuple[float, ...] | None = None  #: share of phases in which each power gave orders
    players: tuple[str | None, ...] | None = None  #: the player of each power
    ratings: tuple[float | None, ...] | None = None  #: ratings of these players
    source: str | None = None
    licence: str | None = None

    @property
    def bot_powers(self) -> tuple[str, ...] | None:
        if self.human_powers is None:
            return None
        return tuple(power for power in POWERS if power not in self.human_powers)

    def states(self) -> Iterator[DiplomacyState]:
        """Yield the state before each phase, and the final one, by replaying the orders.

        A record may show a phase in which nobody has a choice. The rules skip it, and the state is
        that of the next phase.
        """
        state = self.phases[0].state()
        yield state
        for phase in self.phases:
            if phase.kind == "M" or phase.name == state.phase:
                state = state.clone()
                state.apply(phase.all_orders())
            yield state

    def decisions(self) -> Iterator[ReplayedPhase]:
        """Yield the phases in which somebody has a choice, replayed."""
        state = self.phases[0].state()
        for phase in self.phases:
            if phase.name != state.phase:
                if phase.kind == "M":
                    return  # the record contradicts the rules
                continue
            given = {power: state.pack({power: orders}) for power, orders in phase.orders.items()}
            yield ReplayedPhase(phase, state, given)
            state = state.clone()
            state.apply_packed(np.concatenate([*given.values(), state.pack(phase.auto)]))

    def shares(self) -> list[float] | None:
        """Return the Sum-of-Squares shares of the final position, or None."""
        return None if self.final is None else shares_of(self.final.counts)

    def __len__(self) -> int:
        return len(self.phases)


def part_of(game: DiplomacyGame) -> int:
    """Return what a game is for: LEARN, CHOOSE or TEST.

    Players are unknown, so games are split, by hashes of their ids: in every tier, and in whatever
    file they are. One in twenty is held out of training. A third of these choose models, the others
    test them.
    """
    key = game.id.encode("utf-8", "surrogatepass")
    if not is_one_in(20, b"held out " + key):
        return LEARN
    return CHOOSE if is_one_in(3, b"choose " + key) else TEST


def is_for_testing(game: DiplomacyGame) -> bool:
    """Whether a game is held out of training and of the choice of models."""
    return part_of(game) == TEST


__all__ = [
    "COMPLETED",
    "NOTHING",
    "ByPower",
    "DiplomacyGame",
    "Final",
    "Phase",
    "ReplayedPhase",
    "is_for_testing",
    "part_of",
]

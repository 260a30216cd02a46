"""Diplomacy on the standard map: the rules. The native board does the work.

Positions come and go in the plain form of the field's records: a phase such as ``S1901M``, units
such as ``A PAR`` and ``F STP/SC``, centres and orders by power. Powers are players 0 to 6 in the
order of `POWERS`. All of them write orders at once; what is not legal is as good as not written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy.drawing import draw

#: What `current_player` answers, as in OpenSpiel.
SIMULTANEOUS, TERMINAL = -2, -4
POWERS = ("AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY")
#: Centres that win the game.
VICTORY = 18
#: The 75 provinces, and the coasts of those that have two, by name.
LOCATIONS = tuple(_core.diplomacy_locations())
#: Places by the unit, ``A`` or ``F``, that may go from the first to the second.
BORDERS = {
    unit: frozenset((LOCATIONS[a], LOCATIONS[b]) for a, b in _core.diplomacy_borders(unit == "F"))
    for unit in "AF"
}

PackedOrders = npt.NDArray[np.uint32]


class Diplomacy:
    """The rules, as `kedge.games.load_game` hands them out.

    A game without a winner is drawn after the year `last_year`, or once no centre has changed
    hands for `quiet_years`; by the rules alone it goes on until somebody has 18 centres.
    """

    name = "diplomacy"
    num_players = len(POWERS)

    def __init__(self, last_year: int | None = None, quiet_years: int | None = None) -> None:
        for name, years in (("last_year", last_year), ("quiet_years", quiet_years)):
            if years is not None and (not isinstance(years, int) or years < 1):
                raise InputError(f"diplomacy: {name} is a number of years, not {years!r}")
        self.last_year, self.quiet_years = last_year, quiet_years

    def initial_state(self) -> "DiplomacyState":
        return DiplomacyState(_core.DiplomacyBoard(), self)

    def __str__(self) -> str:
        limits = {"last_year": self.last_year, "quiet_years": self.quiet_years}
        given = ", ".join(f"{name}={years}" for name, years in limits.items() if years)
        return f"{self.name}({given})" if given else self.name


class DiplomacyState:
    """A position of Diplomacy, with OpenSpiel's verbs as far as orders allow.

    >>> state = Diplomacy().initial_state()
    >>> state.orders()["PAR"][:3]
    ['A PAR H', 'A PAR - BRE', 'A PAR - BUR']
    >>> state.apply({"FRANCE": ["A PAR - BUR", "A MAR S A PAR - BUR"]})
    >>> state.phase, state.to_json()["units"]["FRANCE"]
    ('F1901M', ['A BUR', 'A MAR', 'F BRE'])
    """

    num_players = len(POWERS)
    powers = POWERS

    def __init__(self, board: _core.DiplomacyBoard, game: Diplomacy | None = None) -> None:
        #: The native board, for searches and encoders.
        self.board = board
        self.game = game or Diplomacy()
        self._drawn = False
        #: What everyone ordered in the last movement phase, as far as it was legal.
        self.previous: PackedOrders = np.zeros(0, np.uint32)
        # Since when no centre has changed hands.
        self._quiet_since = board.year - 1

    @classmethod
    def from_json(cls, position: Mapping[str, Any], game: Diplomacy | None = None) -> Self:
        """The position in plain form: ``name``, ``units``, ``centers`` and, in R phases,
        ``dislodged``, with ``retreats`` (places by unit) where they are known.

        A unit that was dislodged may also stand among the units as ``*A PAR``, as the `diplomacy`
        package writes it. Without ``retreats`` it may go wherever nobody is.
        """
        try:
            name = position["name"]
            units = _by_power(position, "units")
            centres = _by_power(position, "centers")
            dislodged = _by_power(position, "dislodged")
            retreats = position.get("retreats") or {}
            starred = [(power, text[1:]) for power, text in units if text.startswith("*")]
            units = [(power, text) for power, text in units if not text.startswith("*")]
            going = [
                (power, text, (retreats.get(POWERS[power]) or {}).get(text))
                for power, text in dict.fromkeys(dislodged + starred)
            ]
            return cls(_core.DiplomacyBoard.set_up(name, units, centres, going), game)
        except KeyError as error:
            raise InputError(f"position: {error} is missing") from None
        except ValueError as error:
            raise InputError(f"position: {error}") from None
        except (TypeError, AttributeError):
            raise InputError(
                'position: not of the form {"name": "S1901M", "units": {"FRANCE": ["A PAR"]}, '
                '"centers": {"FRANCE": ["PAR"]}}'
            ) from None

    def to_json(self) -> dict[str, Any]:
        """The position in plain form; powers without any are left out."""
        position: dict[str, Any] = {
            "name": self.phase,
            "units": _named(self.board.units()),
            "centers": _named(self.board.centres()),
        }
        retreats = _named(self.board.dislodged())
        if retreats:
            position["dislodged"] = {power: list(units) for power, units in retreats.items()}
            position["retreats"] = retreats
        return position

    @property
    def phase(self) -> str:
        """Such as ``S1901M``: Spring, Fall or Winter; moves, retreats or adjustments."""
        return self.board.phase

    def current_player(self) -> int:
        return TERMINAL if self.is_terminal() else SIMULTANEOUS

    def orders(self, power: str | None = None) -> dict[str, list[str]]:
        """Every legal order of `power`, or of all, by the place it is for; none at the end.

        In Winter a place has its builds, more of them than may be made (see `adjustment`).
        """
        if self.is_terminal():
            return {}
        return self.board.orders() if power is None else self.board.orders(player(power))

    def adjustment(self, power: str) -> int:
        """Units that `power` may build, or, below 0, must disband; 0 but in Winter."""
        return self.board.adjustment(player(power)) if self.phase.endswith("A") else 0

    def pack(self, orders: Mapping[str, Iterable[str]]) -> PackedOrders:
        """Orders by power, as numbers that the native core reads; the illegal ones left out."""
        packed = [
            self.board.legal_order(text, player(power))
            for power, given in _checked(orders).items()
            for text in given
        ]
        return np.array([order for order in packed if order], np.uint32)

    def illegal(self, orders: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        """Those of the orders that are not legal, by power."""
        wrong = {
            power: [text for text in given if not self.board.legal_order(text, player(power))]
            for power, given in _checked(orders).items()
        }
        return {power: texts for power, texts in wrong.items() if texts}

    def surplus(self, orders: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        """Those of the legal orders that come too late to count, by power.

        Of several for a unit, or for a place to build in, the first counts; of more builds or
        removals than are due, the first ones.
        """
        late: dict[str, list[str]] = {}
        for power, given in _checked(orders).items():
            number, ordered = player(power), set[str]()
            due = self.board.orders_due(number)
            for text in given:
                words = text.split()
                if not self.board.legal_order(text, number) or len(words) < 2:
                    continue  # or WAIVE
                place = words[1][:3]
                if place in ordered or len(ordered) >= due:
                    late.setdefault(power, []).append(text)
                ordered.add(place)
        return late

    def apply(self, orders: Mapping[str, Iterable[str]]) -> None:
        """Everyone's orders at once. Units without a legal one hold, disband or stay unbuilt."""
        self.apply_packed(self.pack(orders))

    def apply_packed(self, orders: PackedOrders) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        before = self.board
        self.board = before.adjudicate(orders)
        if before.phase[-1] == "M":
            self.previous = orders
        if before.phase[0] != "F" or self.board.phase[0] == "F":
            return
        # Fall is over: centres have changed hands.
        if before.centres() != self.board.centres():
            self._quiet_since = before.year
        last, quiet = self.game.last_year, self.game.quiet_years
        self._drawn = (last is not None and before.year >= last) or (
            quiet is not None and before.year - self._quiet_since >= quiet
        )

    def end_in_draw(self) -> None:
        """The powers agree to end the game; centres stay as they are."""
        self._drawn = True

    def is_terminal(self) -> bool:
        return self._drawn or self.board.winner is not None

    def returns(self) -> list[float]:
        """Shares of the game at its end, zeros before."""
        return self.shares() if self.is_terminal() else [0.0] * len(POWERS)

    def shares(self) -> list[float]:
        """The shares if the game ended now: see `shares_of`."""
        return self.board.shares()

    def to_svg(self, orders: Mapping[str, Sequence[str]] | None = None) -> str:
        """The map with its units and centres, and with `orders` if there are any."""
        return draw(self.to_json(), orders)

    def clone(self) -> "DiplomacyState":
        copy = DiplomacyState.__new__(DiplomacyState)
        copy.__dict__.update(self.__dict__, board=self.board.copy())
        return copy

    def __str__(self) -> str:
        position = self.to_json()
        rows = [f"{self.phase}{', over' if self.is_terminal() else ''}"]
        for power in POWERS:
            units = position["units"].get(power, [])
            gone = [f"*{unit}" for unit in position.get("dislodged", {}).get(power, [])]
            centres = position["centers"].get(power, [])
            if units or gone or centres:
                rows.append(f"{power:8} {len(centres):2} centres: {', '.join([*units, *gone])}")
        return "\n".join(rows)


def shares_of(centres: Sequence[int]) -> list[float]:
    """Sum of Squares: each power's centres squared, as shares of 1; all to who has 18."""
    if max(centres) >= VICTORY:
        return [float(count >= VICTORY) for count in centres]
    squares = [count**2 for count in centres]
    return [square / max(1, sum(squares)) for square in squares]


def adjudicate_many(
    board: _core.DiplomacyBoard, orders: PackedOrders, *, threads: int = 0
) -> _core.DiplomacyBatch:
    """The boards that many joint orders lead to from one: a row of packed orders each, 0 for none.

    Rows are shared out over `threads`, 0 for all there are; the GIL is not held.
    """
    return _core.diplomacy_adjudicate_many(board, orders, threads)


def coordinated(orders: PackedOrders) -> npt.NDArray[np.bool_]:
    """Whether each row, one power's orders, means what it says of that power's own units.

    It does not where a unit supports or convoys another that is ordered to do something else.
    """
    return _core.diplomacy_coordinated(orders).astype(np.bool_)


def failed_moves(
    before: _core.DiplomacyBoard, orders: Mapping[str, Iterable[str]], after: _core.DiplomacyBoard
) -> set[str]:
    """Those of the moves and retreats that did not come about, as far as the map shows it.

    Two units of a power that change places do so by sea, if at all.
    """
    stood, stands = (_standing(board.units()) for board in (before, after))
    beaten = _standing(after.dislodged())
    moves = {
        (power, " ".join(words[:2])): ((power, f"{words[0]} {words[3]}"), text)
        for power, given in orders.items()
        for text in given
        if len(words := text.split()) > 3 and words[2] in "-R"
    }
    failed: dict[tuple[str, str], str] = {}
    while True:
        going = {unit: goal for unit, (goal, _) in moves.items() if unit not in failed}
        more = {
            unit: moves[unit][1]
            for unit, goal in going.items()
            if goal not in stands  # it is not there,
            or unit in beaten  # it was driven out of where it was,
            or (unit in stands and unit not in going.values())  # it is still there,
            or (goal in stood and goal not in going)  # one of its own never left,
            or (going.get(goal) == unit and not moves[unit][1].endswith("VIA"))  # or it met it
        }
        if not more:
            return set(failed.values())
        failed |= more


def player(power: str) -> int:
    """The number of the power of this name."""
    try:
        return POWERS.index(power)
    except ValueError:
        raise InputError(f"{power!r} is not a power; they are {', '.join(POWERS)}") from None


def format_orders(orders: PackedOrders) -> list[str]:
    """Packed orders in words."""
    return [_core.diplomacy_format_order(order) for order in orders.tolist()]


def short_order(order: str) -> str:
    """As players note it: ``PAR-BUR``, ``MAR S PAR-BUR``; builds say what is built.

    >>> short_order("A MAR S A PAR - BUR"), short_order("F BRE B")
    ('MAR S PAR-BUR', '+F BRE')
    """
    if order.endswith((" B", "WAIVE")):
        return order.lower() if order == "WAIVE" else f"+{order[:-2]}"
    return re.sub(r"\b[AF] ", "", order).replace(" - ", "-")


def place_of(orders: PackedOrders) -> npt.NDArray[np.int64]:
    """Where the unit stands that an order is for."""
    return (orders >> 4 & 127).astype(np.int64)


def unit_of(order: int) -> str:
    """The unit that a packed order is for, such as ``A PAR``."""
    return " ".join(_core.diplomacy_format_order(order).split()[:2])


def _checked(orders: Mapping[str, Iterable[str]]) -> Mapping[str, Iterable[str]]:
    """Orders, if they are lists by power."""
    if not isinstance(orders, Mapping) or any(isinstance(given, str) for given in orders.values()):
        raise InputError('orders: not of the form {"FRANCE": ["A PAR - BUR", "F BRE H"]}')
    for power in orders:
        player(power)
    return orders


def _by_power(position: Mapping[str, Any], field: str) -> list[tuple[int, str]]:
    lists: Mapping[str, Sequence[str]] = position.get(field) or {}
    if any(isinstance(texts, str) for texts in lists.values()):
        raise TypeError
    return [(player(power), text) for power, texts in lists.items() for text in texts]


def _standing(units: Sequence[Iterable[str]]) -> set[tuple[str, str]]:
    return {(power, unit) for power, found in zip(POWERS, units, strict=True) for unit in found}


def _named(lists: Sequence[Any]) -> dict[str, Any]:
    return {power: one for power, one in zip(POWERS, lists, strict=True) if one}

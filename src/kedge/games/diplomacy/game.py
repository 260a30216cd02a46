"""Diplomacy on the standard map: the rules. The native board does the work.

Positions use the plain form of common records: a phase such as ``S1901M``, units such as ``A PAR``
and ``F STP/SC``, centres and orders by power. Powers are players 0 to 6 in the order of `POWERS`.
All powers give orders at once; illegal orders have no effect.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy.drawing import draw
from kedge.words import counted

#: Results of `current_player`, as in OpenSpiel.
SIMULTANEOUS, TERMINAL = -2, -4
POWERS = ("AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY")
#: Centres that win the game.
VICTORY = 18
#: Names of the 75 provinces, and of the coasts of provinces with two.
LOCATIONS = tuple(_core.diplomacy_locations())
#: Pairs (from, to) of neighbouring places, by unit: ``A`` or ``F``.
BORDERS = {
    unit: frozenset((LOCATIONS[a], LOCATIONS[b]) for a, b in _core.diplomacy_borders(unit == "F"))
    for unit in "AF"
}

PackedOrders = npt.NDArray[np.uint32]


class Diplomacy:
    """The rules of Diplomacy; see `kedge.games.load_game`.

    A game without a winner is drawn after the year `last_year`, or after `quiet_years` without a
    change of centres. Without these limits it goes on until a power has 18 centres.
    """

    name = "diplomacy"
    num_players = len(POWERS)

    def __init__(self, last_year: int | None = None, quiet_years: int | None = None) -> None:
        for name, years in (("last_year", last_year), ("quiet_years", quiet_years)):
            if years is not None and (not isinstance(years, int) or years < 1):
                raise InputError(
                    f"diplomacy: {name} must be a positive whole number, not {years!r}"
                )
        self.last_year, self.quiet_years = last_year, quiet_years

    def initial_state(self) -> "DiplomacyState":
        return DiplomacyState(_core.DiplomacyBoard(), self)

    def __str__(self) -> str:
        limits = {"last_year": self.last_year, "quiet_years": self.quiet_years}
        given = ", ".join(f"{name}={years}" for name, years in limits.items() if years)
        return f"{self.name}({given})" if given else self.name


class DiplomacyState:
    """A position of Diplomacy, with the methods of OpenSpiel that fit orders.

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
        self._due: tuple[int, ...] | None = None  # known once somebody asks
        #: The legal orders of all powers in the last movement phase.
        self.previous: PackedOrders = np.zeros(0, np.uint32)
        # The last year in which a centre changed hands.
        self._quiet_since = board.year - 1

    @classmethod
    def from_json(cls, position: Mapping[str, Any], game: Diplomacy | None = None) -> Self:
        """Return the state of a position in plain form.

        Its keys are ``name``, ``units``, ``centers`` and, in R phases, ``dislodged`` and optionally
        ``retreats`` (places by unit). A dislodged unit may also be among the units as ``*A PAR``,
        as the `diplomacy` package writes it. Without ``retreats`` it may retreat to any empty
        neighbouring place.
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
        """Return the position in plain form; empty lists are left out."""
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
        """The phase, such as ``S1901M``: Spring, Fall or Winter; moves, retreats or adjustments."""
        return self.board.phase

    @property
    def due(self) -> tuple[int, ...]:
        """The number of orders that each power has to give."""
        if self._due is None:
            self._due = tuple(self.board.orders_due(power) for power in range(len(POWERS)))
        return self._due

    def current_player(self) -> int:
        return TERMINAL if self.is_terminal() else SIMULTANEOUS

    def orders(self, power: str | None = None) -> dict[str, list[str]]:
        """Return the legal orders of `power`, or of all powers, by place; none at the end.

        In Winter they may include more builds than allowed (see `adjustment`).
        """
        if self.is_terminal():
            return {}
        return self.board.orders() if power is None else self.board.orders(player(power))

    def order_parts(self, power: str) -> dict[str, dict[str, dict[str, str]]]:
        """Return the legal orders of `power` by place and by text, as `parts_of` returns them."""
        return {} if self.is_terminal() else self.board.order_parts(player(power))

    def adjustment(self, power: str) -> int:
        """Units that `power` may build or, if negative, must disband; 0 except in Winter."""
        return self.board.adjustment(player(power)) if self.phase.endswith("A") else 0

    def pack(self, orders: Mapping[str, Iterable[str]]) -> PackedOrders:
        """Return the legal orders as numbers for the native core."""
        packed = [
            self.board.legal_order(text, player(power))
            for power, given in _checked(orders).items()
            for text in given
        ]
        return np.array([order for order in packed if order], np.uint32)

    def illegal(self, orders: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        """Return the illegal orders, by power."""
        wrong = {
            power: [text for text in given if not self.board.legal_order(text, player(power))]
            for power, given in _checked(orders).items()
        }
        return {power: texts for power, texts in wrong.items() if texts}

    def surplus(self, orders: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        """Return the legal orders that have no effect because earlier ones came first, by power.

        The first order for a unit or a place to build counts, and the first builds or removals up
        to the number due.
        """
        late: dict[str, list[str]] = {}
        for power, given in _checked(orders).items():
            number, ordered = player(power), set[str]()
            due = self.due[number]
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
        """Carry out all orders at once. Units without a legal order hold or disband."""
        self.apply_packed(self.pack(orders))

    def apply_packed(self, orders: PackedOrders) -> None:
        self.go_to(self.board.adjudicate(orders), orders)

    def go_to(self, board: _core.DiplomacyBoard, orders: PackedOrders) -> None:
        """Go to the position after `orders`, which is `board`."""
        if self.is_terminal():
            raise InputError("the game is over")
        before, self.board, self._due = self.board, board, None
        if before.moving:
            self.previous = orders
        if not before.in_fall or board.in_fall:
            return
        # Fall is over: centres have changed hands.
        if not board.same_owners(before):
            self._quiet_since = before.year
        last, quiet = self.game.last_year, self.game.quiet_years
        self._drawn = (last is not None and before.year >= last) or (
            quiet is not None and before.year - self._quiet_since >= quiet
        )

    def end_in_draw(self) -> None:
        """End the game by agreement; centres stay as they are."""
        self._drawn = True

    def is_terminal(self) -> bool:
        return self._drawn or self.board.winner is not None

    def returns(self) -> list[float]:
        """Each power's share of the game at its end, zeros before."""
        return self.shares() if self.is_terminal() else [0.0] * len(POWERS)

    def shares(self) -> list[float]:
        """The shares if the game ended now: see `shares_of`."""
        return self.board.shares()

    def to_svg(self, orders: Mapping[str, Sequence[str]] | None = None) -> str:
        """Return the map with units and centres, and with `orders` if given."""
        return draw(self.to_json(), orders)

    def clone(self) -> "DiplomacyState":
        copy = DiplomacyState.__new__(DiplomacyState)
        copy.__dict__.update(self.__dict__)  # the board never changes: a turn replaces it
        return copy

    def __str__(self) -> str:
        position = self.to_json()
        rows = [f"{self.phase}{', over' if self.is_terminal() else ''}"]
        for power in POWERS:
            units = position["units"].get(power, [])
            gone = [f"*{unit}" for unit in position.get("dislodged", {}).get(power, [])]
            centres = position["centers"].get(power, [])
            if units or gone or centres:
                count = f"{counted(len(centres), 'centre'):>10}"
                rows.append(f"{power:8} {count}: {', '.join([*units, *gone])}")
        return "\n".join(rows)


def shares_of(centres: Sequence[int]) -> list[float]:
    """Return Sum-of-Squares shares: centres squared, as shares of 1; 18 centres win all."""
    if max(centres) >= VICTORY:
        return [float(count >= VICTORY) for count in centres]
    squares = [count**2 for count in centres]
    return [square / max(1, sum(squares)) for square in squares]


def adjudicate_many(
    board: _core.DiplomacyBoard, orders: PackedOrders, *, threads: int = 0
) -> _core.DiplomacyBatch:
    """Return the boards after many joint orders, each a row of packed orders, 0 for none.

    Rows are divided among `threads` (0 uses all cores); the GIL is released.
    """
    return _core.diplomacy_adjudicate_many(board, orders, threads)


def coordinated(joint: Sequence[PackedOrders]) -> npt.NDArray[np.bool_]:
    """Return whether each joint order of one power is consistent.

    It is not if a unit supports or convoys an own unit that is ordered to do something else.
    """
    return _core.diplomacy_coordinated(joint).astype(np.bool_)


def failed_moves(board: _core.DiplomacyBoard, orders: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the legal moves and retreats among `orders` that fail on `board`."""
    legal = {
        number: text
        for power, given in _checked(orders).items()
        for text in given
        if (number := board.legal_order(text, player(power)))
    }
    _, failed = board.resolve(np.array([*legal], np.uint32))
    return {legal[order] for order in failed.tolist()}


def player(power: str) -> int:
    """Return the number of a power."""
    try:
        return POWERS.index(power)
    except ValueError:
        raise InputError(f"{power!r} is not a power; known: {', '.join(POWERS)}") from None


def format_orders(orders: PackedOrders) -> list[str]:
    """Return packed orders as text."""
    return [_core.diplomacy_format_order(order) for order in orders.tolist()]


def parts_of(order: int) -> dict[str, str]:
    """Return what the words of a packed order say, by name.

    >>> parts_of(Diplomacy().initial_state().board.legal_order("A PAR S F BRE"))
    {'verb': 'S', 'kind': 'A', 'at': 'PAR', 'other': 'BRE'}
    """
    return _core.diplomacy_order_parts(order)


def short_order(order: str) -> str:
    """Return the order in short form: ``PAR-BUR``, ``MAR S PAR-BUR``, ``+F BRE`` for builds.

    >>> short_order("A MAR S A PAR - BUR"), short_order("F BRE B")
    ('MAR S PAR-BUR', '+F BRE')
    """
    if order.endswith((" B", "WAIVE")):
        return order.lower() if order == "WAIVE" else f"+{order[:-2]}"
    return re.sub(r"\b[AF] ", "", order).replace(" - ", "-")


def place_of(orders: PackedOrders) -> npt.NDArray[np.int64]:
    """Return the place of the unit of each order."""
    return (orders >> 4 & 127).astype(np.int64)


def unit_of(order: int) -> str:
    """Return the unit of a packed order, such as ``A PAR``."""
    return " ".join(_core.diplomacy_format_order(order).split()[:2])


def _checked(orders: Mapping[str, Iterable[str]]) -> Mapping[str, Iterable[str]]:
    """Return `orders` if they are lists by power, else raise an `InputError`."""
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


def _named(lists: Sequence[Any]) -> dict[str, Any]:
    return {power: entries for power, entries in zip(POWERS, lists, strict=True) if entries}

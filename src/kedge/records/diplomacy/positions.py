"""Replay Diplomacy games by the rules, and read positions."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, DiplomacyState, PackedOrders, place_of, player, unit_of
from kedge.records import streams
from kedge.records.diplomacy.files import read_diplomacy_games
from kedge.records.diplomacy.games import (
    ByPower,
    DiplomacyGame,
    Final,
    Phase,
    is_for_testing,
)
from kedge.records.json_games import object_texts
from kedge.records.report import ReadReport, unbroken
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_FOR_TESTING


def replayed_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[DiplomacyGame]:
    """Yield the games of `read_diplomacy_games` that follow the rules.

    The report counts a game as broken if the orders of a phase do not lead to the next recorded
    position.
    """
    report = ReadReport() if report is None else report
    return unbroken(read_diplomacy_games(path, report), report, contradiction)


def contradiction(game: DiplomacyGame) -> str | None:
    """Return how the record first departs from the rules, or None.

    Two differences have no effect on play and are allowed. Some records list dislodged units that
    cannot retreat, and phases in which nobody has a choice. Others hand over centres before the
    retreats.
    """
    states = game.states()
    before = "the start"
    try:
        for phase, state in zip(game.phases, states, strict=False):
            difference = _difference(phase, state)
            if difference is not None:
                return f"{difference} after {before}"
            before = repr(phase.name)
        state = next(states)
    except InputError as error:
        return f"{error} after {before}"
    difference = None if game.final is None else _final_difference(game.final, state)
    return None if difference is None else f"{difference} after {before}, the last phase"


def _difference(phase: Phase, state: DiplomacyState) -> str | None:
    board = state.board
    if phase.name != state.phase and phase.kind == "M":
        return "another phase"
    if not _same(phase.units, board.units()):
        return "other units"
    if phase.kind != "R" and not _same(phase.centers, board.centres()):
        return "other centres"
    going = {unit for units in board.dislodged() for unit in units}
    return None if going <= set(phase.dislodged.flat) else "other dislodged units"


def _final_difference(final: Final, state: DiplomacyState) -> str | None:
    kind = final.phase[-1]
    if kind == "M" and final.phase != state.phase and not state.is_terminal():
        return "another phase"
    if kind != "R" and final.counts != tuple(map(len, state.board.centres())):
        return "other centres"
    return None if final.position is None else _difference(final.position, state)


def _same(recorded: ByPower, lists: Sequence[Sequence[str]]) -> bool:
    return all(
        sorted(recorded.get(power, ())) == sorted(units)
        for power, units in zip(POWERS, lists, strict=True)
    )


NO_PEOPLE, NO_BOTS = "by bots", "by people"  #: names of filters that remove games

_MOVES = r"[SF]\d{4}M"
_GAME = "this is a game, not a position; with `kedge policy`, add --phase"


def read_positions(
    path: str | Path | IO[bytes], *, ordered: bool = False
) -> Iterator[tuple[DiplomacyState, dict[str, list[str]]]]:
    """Yield positions in plain form, one object per line or per file, each with its orders.

    A position of a finished game is an error; so is one without orders if `ordered`.
    """
    with streams.opened(path) as (stored, content, where):
        pieces = streams.Pieces(stored, content, where, ReadReport())
        is_empty = True
        for line, text in object_texts(pieces):
            try:
                record = streams.json_object(text)
                if "units" not in record:
                    raise ValueError(_no_units(record))
                if "centers" not in record:  # without centres, Winter would remove all units
                    raise ValueError('"centers" is missing')
                if ordered and "orders" not in record:
                    raise ValueError('"orders" is missing; write {} for no orders')
                state = DiplomacyState.from_json(record)
                if state.is_terminal():
                    raise ValueError("the game is over")
                state.previous = _previous_of(record)
                yield state, _orders_of(record, "orders")
            except ValueError as error:
                raise InputError(f"{where}, line {line}: {error}") from None
            is_empty = False
        if is_empty:
            raise InputError(f"{where}: no position found")
        if pieces.damage is not None:
            raise InputError(f"{where}: ends early: {pieces.damage}")


def _no_units(record: dict[str, Any]) -> str:
    """Say why an object is not a position; of a game, name its first movement."""
    if "phases" not in record:
        return '"units" is missing'
    phases = record["phases"] if isinstance(record["phases"], list) else []
    names = (phase.get("name") for phase in phases if isinstance(phase, dict))
    movement = [name for name in names if isinstance(name, str) and re.fullmatch(_MOVES, name)]
    return f"{_GAME} {movement[0]}" if movement else f"{_GAME} and the name of one"


def read_phase(path: str | Path | IO[bytes], name: str) -> DiplomacyState:
    """Return the position before the phase `name` of the only game in a file."""
    report, where = ReadReport(), getattr(path, "name", path)
    games = list(islice(read_diplomacy_games(path, report), 2))
    if len(games) != 1:
        fault = "several games; pass a file with one game" if games else "no game found"
        reasons = [broken.reason for broken in report.broken[:1]]
        raise InputError("; ".join([f"{where}: {fault}", *reasons]))
    [game] = games
    for decision in game.decisions():
        if decision.phase.name == name:
            return decision.state
    if not re.fullmatch(r"[SFW]\d{4}[MRA]", name):
        raise InputError(f"{name!r} is not a phase, such as {game.phases[0].name}")
    raise InputError(
        f"{where}: nobody has a choice in {name}; the game goes from {game.phases[0].name} to "
        f"{game.phases[-1].name}"
    )


def _previous_of(position: dict[str, Any]) -> PackedOrders:
    """Return the orders of the last movement phase, which cannot be checked any more."""
    orders = _orders_of(position, "previous_orders")
    return np.array([_packed(text) for texts in orders.values() for text in texts], np.uint32)


def _packed(text: str) -> int:
    try:
        return _core.diplomacy_parse_order(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is {error}") from None


def _orders_of(position: dict[str, Any], name: str) -> dict[str, list[str]]:
    orders = position.get(name) or {}
    if not isinstance(orders, dict) or any(
        not isinstance(texts, (list, type(None)))
        or not all(isinstance(text, str) for text in texts or ())
        for texts in orders.values()
    ):
        raise ValueError(f'"{name}" is not of the form {{"FRANCE": ["A PAR - BUR"]}}')
    for power in orders:
        player(power)
    return {power: texts or [] for power, texts in orders.items()}


# --- Orders of people ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class HumanOrders:
    """The orders of one person, or of one program, in a movement phase: one per unit."""

    game: DiplomacyGame
    phase: Phase
    state: DiplomacyState
    power: int
    orders: PackedOrders
    """Sorted by place, as models answer; units without a legal order hold."""


def human_orders(
    game: DiplomacyGame, phases: Collection[int], *, bots: bool = False
) -> Iterator[HumanOrders]:
    """Yield the orders of people, or of `bots`, in some phases of a game, given by number.

    A power without orders in a phase was absent, and is left out. All powers of a phase share one
    state object.
    """
    wanted = {game.phases[number].name for number in phases}
    for phase, state, orders in game.decisions():
        if phase.name in wanted:
            for name in _present(game, phase, bots=bots):
                power = POWERS.index(name)
                units = state.board.units()[power]
                holds = state.pack({name: [f"{unit} H" for unit in units]})
                # The first of two orders for a unit counts.
                given = [*holds.tolist(), *reversed(orders[name].tolist())]
                ordered = {unit_of(order): order for order in given}
                packed = np.array([ordered[unit] for unit in units], np.uint32)
                yield HumanOrders(game, phase, state, power, packed[np.argsort(place_of(packed))])


def order_sieve(*, everything: bool = False, tier: str | None = None, bots: bool = False) -> Sieve:
    """Return the filters for phases in which people moved, or `bots`.

    The games are those for testing; with `everything` all games.
    """
    filters: dict[str, Any] = {}
    if not everything:
        filters[NOT_FOR_TESTING] = is_for_testing
    if tier is not None:
        filters["of other tiers"] = lambda game: game.tier == tier
    filters[NO_BOTS if bots else NO_PEOPLE] = lambda game: bool(_movers(game, bots=bots))

    def phases_with_moves(game: DiplomacyGame) -> npt.NDArray[np.bool_]:
        return np.array(
            [phase.kind == "M" and bool(_present(game, phase, bots=bots)) for phase in game.phases]
        )

    filters["without orders"] = phases_with_moves
    filters["against the rules"] = lambda game: contradiction(game) is None
    return Sieve(filters)


def _movers(game: DiplomacyGame, *, bots: bool) -> Sequence[str]:
    """Return the powers of people, or of `bots`. Unless the record tells, all are people's."""
    if bots:
        return game.bot_powers or ()
    return POWERS if game.human_powers is None else game.human_powers


def _present(game: DiplomacyGame, phase: Phase, *, bots: bool) -> list[str]:
    """Return the powers of people, or of `bots`, that gave any order."""
    movers = _movers(game, bots=bots)
    return [power for power in movers if power in phase.orders and power in phase.units]


__all__ = [
    "NOT_FOR_TESTING",
    "NO_BOTS",
    "NO_PEOPLE",
    "HumanOrders",
    "contradiction",
    "human_orders",
    "order_sieve",
    "read_phase",
    "read_positions",
    "replayed_games",
]

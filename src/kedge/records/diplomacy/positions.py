"""Diplomacy games and positions, replayed by the rules."""

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
from kedge.records.diplomacy.games import ByPower, DiplomacyGame, Final, Phase, is_held_out
from kedge.records.json_games import object_texts
from kedge.records.report import ReadReport, unbroken
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_HELD_OUT


def replayed_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[DiplomacyGame]:
    """What `read_diplomacy_games` reads, replayed: broken too are games that the rules contradict.

    They do where the orders of a phase lead to another position than the one recorded next.
    """
    report = ReadReport() if report is None else report
    return unbroken(read_diplomacy_games(path, report), report, contradiction)


def contradiction(game: DiplomacyGame) -> str | None:
    """Where the record first departs from the rules, and in what; None if it never does.

    Records differ in two things that nobody plays by. Some list dislodged units that have nowhere
    to go, and phases in which nobody has a choice; and some hand over centres before the retreats.
    """
    states = game.states()
    before = "the start"
    try:
        for phase, state in zip(game.phases, states, strict=False):
            wrong = _difference(phase, state)
            if wrong is not None:
                return f"{wrong} after {before}"
            before = repr(phase.name)
        state = next(states)
    except InputError as error:
        return f"{error} after {before}"
    wrong = None if game.final is None else _final_difference(game.final, state)
    return None if wrong is None else f"{wrong} after {before}, the last phase"


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
        sorted(recorded.get(power, ())) == sorted(found)
        for power, found in zip(POWERS, lists, strict=True)
    )


_GAME = "a game, not a position; `kedge policy` asks about a phase of it with --phase S1902M"


def read_positions(
    path: str | Path | IO[bytes], *, ordered: bool = False
) -> Iterator[tuple[DiplomacyState, dict[str, list[str]]]]:
    """Positions in plain form, an object a line or one alone, each with the orders in it.

    Those of a game that is over are refused: nobody orders anything in them. So are those that
    have none, where they are to be `ordered`.
    """
    with streams.opened(path) as (stored, content, where):
        pieces = streams.Pieces(stored, content, where, ReadReport())
        is_empty = True
        for line, text in object_texts(pieces):
            try:
                found = streams.json_object(text)
                if "units" not in found:
                    is_game = "phases" in found
                    raise ValueError(_GAME if is_game else '"units" is missing')
                if "centers" not in found:  # all units would go in Winter
                    raise ValueError('"centers" is missing')
                if ordered and "orders" not in found:
                    raise ValueError('"orders" is missing; {} says that nobody orders anything')
                state = DiplomacyState.from_json(found)
                if state.is_terminal():
                    raise ValueError("the game is over")
                state.previous = _previous_of(found)
                yield state, _orders_of(found, "orders")
            except ValueError as error:
                raise InputError(f"{where}, line {line}: {error}") from None
            is_empty = False
        if is_empty:
            raise InputError(f"{where}: holds no position")
        if pieces.damage is not None:
            raise InputError(f"{where}: ends early: {pieces.damage}")


def read_phase(path: str | Path | IO[bytes], name: str) -> DiplomacyState:
    """The position before the phase `name` of the one game in a file, replayed."""
    report, where = ReadReport(), getattr(path, "name", path)
    games = list(islice(read_diplomacy_games(path, report), 2))
    if len(games) != 1:
        why = "several games; put one of them into a file of its own" if games else "no game"
        reasons = [one.reason for one in report.broken[:1]]
        raise InputError("; ".join([f"{where}: holds {why}", *reasons]))
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
    """What was ordered in the last movement phase; nobody knows any more whether it was legal."""
    orders = _orders_of(position, "previous_orders")
    return np.array([_packed(text) for texts in orders.values() for text in texts], np.uint32)


def _packed(text: str) -> int:
    try:
        return _core.diplomacy_parse_order(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is {error}") from None


def _orders_of(position: dict[str, Any], name: str) -> dict[str, list[str]]:
    found = position.get(name) or {}
    if not isinstance(found, dict) or any(
        not isinstance(texts, (list, type(None)))
        or not all(isinstance(text, str) for text in texts or ())
        for texts in found.values()
    ):
        raise ValueError(f'"{name}" is not of the form {{"FRANCE": ["A PAR - BUR"]}}')
    for power in found:
        player(power)
    return {power: texts or [] for power, texts in found.items()}


# --- What people ordered ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class HumanOrders:
    """What a person ordered in a movement phase: one order a unit."""

    game: DiplomacyGame
    phase: Phase
    state: DiplomacyState
    power: int
    orders: PackedOrders
    """By place, as models answer; units that were given none, or none that is legal, hold."""


def human_orders(game: DiplomacyGame, phases: Collection[int]) -> Iterator[HumanOrders]:
    """What people ordered in some of a game's phases, by their numbers.

    Those who ordered nothing in a phase were away, and are left out. All powers of a phase have the
    very same state.
    """
    wanted = {game.phases[number].name for number in phases}
    for phase, state, orders in game.decisions():
        if phase.name in wanted:
            for name in _present(game, phase):
                power = POWERS.index(name)
                units = state.board.units()[power]
                holds = state.pack({name: [f"{unit} H" for unit in units]})
                # Of two orders for a unit the first counts.
                given = [*holds.tolist(), *reversed(orders[name].tolist())]
                ordered = {unit_of(order): order for order in given}
                packed = np.array([ordered[unit] for unit in units], np.uint32)
                yield HumanOrders(game, phase, state, power, packed[np.argsort(place_of(packed))])


def order_sieve(*, everything: bool = False, tier: str | None = None) -> Sieve:
    """Which phases count: those in which people moved, of games that are held out, or of all."""
    filters: dict[str, Any] = {} if everything else {NOT_HELD_OUT: is_held_out}
    if tier is not None:
        filters["of other tiers"] = lambda game: game.tier == tier
    filters["by bots"] = lambda game: game.human_powers != ()
    filters["without orders"] = _phases_with_moves
    filters["against the rules"] = lambda game: contradiction(game) is None
    return Sieve(filters)


def _phases_with_moves(game: DiplomacyGame) -> npt.NDArray[np.bool_]:
    return np.array([phase.kind == "M" and bool(_present(game, phase)) for phase in game.phases])


def _present(game: DiplomacyGame, phase: Phase) -> list[str]:
    """The powers of people that ordered anything."""
    people = POWERS if game.human_powers is None else game.human_powers
    return [power for power in people if power in phase.orders and power in phase.units]


__all__ = [
    "NOT_HELD_OUT",
    "HumanOrders",
    "contradiction",
    "human_orders",
    "order_sieve",
    "read_phase",
    "read_positions",
    "replayed_games",
]

"""Diplomacy games and positions, replayed by the rules."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, DiplomacyState, player
from kedge.records import streams
from kedge.records.diplomacy_files import object_texts, read_diplomacy_games
from kedge.records.diplomacy_games import ByPower, DiplomacyGame, Final, Phase
from kedge.records.report import ReadReport


def replayed_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[DiplomacyGame]:
    """What `read_diplomacy_games` reads, replayed: broken too are games that the rules contradict.

    They do where the orders of a phase lead to another position than the one recorded next.
    """
    report = ReadReport() if report is None else report
    for game in read_diplomacy_games(path, report):
        reason = contradiction(game)
        if reason is None:
            yield game
        else:
            report.reject(len(game), reason)


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


def read_positions(
    path: str | Path | IO[bytes],
) -> Iterator[tuple[DiplomacyState, dict[str, list[str]]]]:
    """Positions in plain form, an object a line or one alone, each with the orders in it."""
    with streams.opened(path) as (stored, content, where):
        pieces = streams.Pieces(stored, content, where, ReadReport())
        is_empty = True
        for line, text in object_texts(pieces):
            try:
                found = streams.json_object(text)
                yield DiplomacyState.from_json(found), _orders_of(found.get("orders") or {})
            except ValueError as error:
                raise InputError(f"{where}, line {line}: {error}") from None
            is_empty = False
        if is_empty:
            raise InputError(f"{where}: holds no position")
        if pieces.damage is not None:
            raise InputError(f"{where}: ends early: {pieces.damage}")


def _orders_of(found: Any) -> dict[str, list[str]]:
    if not isinstance(found, dict) or any(
        not isinstance(texts, (list, type(None)))
        or not all(isinstance(text, str) for text in texts or ())
        for texts in found.values()
    ):
        raise ValueError('"orders" is not of the form {"FRANCE": ["A PAR - BUR"]}')
    for power in found:
        player(power)
    return {power: texts or [] for power, texts in found.items()}


__all__ = ["contradiction", "read_positions", "replayed_games"]

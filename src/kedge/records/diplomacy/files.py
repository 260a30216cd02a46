"""Files of Diplomacy games: JSON lines, and the `diplomacy` package's saved games.

DipNet's ``standard_no_press.jsonl`` and similar files hold such saved games, one per line. Only the
standard map is read. Memory does not grow with the length of the file.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from kedge import _core
from kedge.games.diplomacy import POWERS
from kedge.records.diplomacy.games import COMPLETED, NOTHING, ByPower, DiplomacyGame, Final, Phase
from kedge.records.json_games import known, read_json_games, short, write_json_games
from kedge.records.report import ReadReport

_T = TypeVar("_T")

_POWER_SET = frozenset(POWERS)
_PHASE = re.compile(r"([SF])([1-9][0-9]{3})([MR])|(W)([1-9][0-9]{3})(A)")
_TURNS = ("SM", "SR", "FM", "FR", "WA")

_MOST = 100  # most units, centres or orders in a phase; the map has 75 provinces
_HIGHEST_RATING = 10_000
_MOST_WORDS, _LONGEST_WORD = 1 << 16, 40  # bounds of each cache, in words and letters
_RULES = {"none": "NO_PRESS", "public": "PUBLIC_PRESS"}  # the package's rules by our press


class _Words(dict[str, str]):
    """Texts of one kind in canonical form; each is parsed once and shared by all games."""

    def __init__(self, noun: str, read: Callable[[str], str]) -> None:
        self._noun, self._read = noun, read

    def __missing__(self, text: object) -> str:
        try:
            if not isinstance(text, str) or len(text) > _LONGEST_WORD:
                raise ValueError
            word = self._read(text)
        except (ValueError, TypeError):
            raise ValueError(f"{short(text)} is not {self._noun}") from None
        if len(self) < _MOST_WORDS:
            self[text] = word
        return word


def _unit_of(text: str) -> str:
    [unit] = _core.DiplomacyBoard.set_up("S1901M", [(0, text)], [], []).units()[0]
    return unit


def _starred_unit_of(text: str) -> str:
    return f"*{_unit_of(text[1:])}" if text.startswith("*") else _unit_of(text)


def _center_of(text: str) -> str:
    [center] = _core.DiplomacyBoard.set_up("S1901M", [], [(0, text)], []).centres()[0]
    return center


def _order_of(text: str) -> str:
    return _core.diplomacy_format_order(_core.diplomacy_parse_order(text))


def _order_in(verbs: str, text: str) -> str:
    order = _order_of(text)
    verb = order if order == "WAIVE" else order.split()[2]
    if verb not in verbs.split():
        raise ValueError
    return order


_UNITS = _Words("a unit of the map", _unit_of)
_STARRED = _Words("a unit of the map", _starred_unit_of)
_OWNED = _Words("a supply centre", _center_of)
_ANY_ORDER = _Words("an order", _order_of)
_ORDERS = {
    "M": _Words("an order to move, support, convoy or hold", partial(_order_in, "H - S C")),
    "R": _Words("an order to retreat or disband", partial(_order_in, "R D")),
    "A": _Words("an order to build or disband", partial(_order_in, "B D WAIVE")),
}


def read_diplomacy_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[DiplomacyGame]:
    """Yield the games of a file.

    Parameters
    ----------
    path
        A file of games as JSON, one per line, or one game: with the fields of `DiplomacyGame`, or
        as the `diplomacy` package saves it. Or a binary stream (buffered, or one that can seek).
        It may be compressed: gzip, bzip2, xz, and zstd with the ``records`` extra.
    report
        Counts what is read, one position per phase, and collects why games are left out: an
        invalid order or unit, a province with two units, phases out of order, another map than the
        standard one.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    return read_json_games(path, report, game_of, mark="phases")


# --- Games --------------------------------------------------------------------------------------


def game_of(record: Mapping[str, Any]) -> DiplomacyGame:
    """Return the game in a JSON object of either format, or raise a ValueError with the reason."""
    raws = record.get("phases")
    if not isinstance(raws, list) or not raws or not all(isinstance(raw, dict) for raw in raws):
        raise ValueError('"phases" is not a list of phases')
    if record.get("map", "standard") != "standard":
        raise ValueError(f"{short(record['map'])} is not the standard map")
    name = known(record, "id", str)
    if not name:
        raise ValueError('"id" is missing')
    phases = _phases_of(raws)
    final = _final_of(record.get("final"))
    # A game saved by the package ends with a position without orders.
    last = phases[-1]
    if "state" in raws[-1] and not last.orders and (final is None or final.phase == last.name):
        phases.pop()
        counts = tuple(len(last.centers.get(power, ())) for power in POWERS)
        done = final.done if final is not None else last.name == COMPLETED or None
        final = Final(last.name, counts, done, last)
    if not phases or phases[-1].name == COMPLETED:
        raise ValueError(
            "no phase was played" if not phases else "orders after the end of the game"
        )
    quality = known(record, "quality", dict) or {}
    return DiplomacyGame(
        id=name,
        phases=tuple(phases),
        final=final,
        human_powers=_humans_of(record),
        press=known(record, "press", str) or _press_of(known(record, "rules", list) or []),
        tier=known(quality, "tier", str),
        activity=_numbers(quality, "active_frac", 1.0),
        players=_each(record, "players", lambda name: isinstance(name, str)),
        ratings=_each(record, "ratings", _is_rating),
        source=known(record, "source", str),
        licence=known(record, "licence", str),
    )


def _phases_of(raws: list[dict[str, Any]]) -> list[Phase]:
    phases: list[Phase] = []
    before = -1
    raw_centers, centers = None, NOTHING
    for raw in raws:
        name = raw.get("name")
        time = _time_of(name) if isinstance(name, str) else None
        if time is None:
            raise ValueError(f"{short(name)} is not a phase")
        try:
            if time <= before:
                raise ValueError("comes after a later phase")
            before = time
            state = raw.get("state", raw)
            if not isinstance(state, dict):
                raise ValueError('"state" is not a JSON object')
            if raw_centers is None or state.get("centers") != raw_centers:  # they rarely change
                centers = _by_power(state, "centers", _OWNED, required=True)
                _refuse_twice(centers.flat, "has two owners")
                raw_centers = state["centers"]
            phases.append(_phase_of(raw, state, cast(str, name), centers))
        except ValueError as error:
            raise ValueError(f"phase {short(name)}: {error}") from None
    return phases


def _phase_of(raw: dict[str, Any], state: dict[str, Any], name: str, centers: ByPower) -> Phase:
    retreats = name[-1] == "R"
    units = _by_power(state, "units", _STARRED if retreats else _UNITS, required=True)
    dislodged = _by_power(raw, "dislodged", _UNITS)
    if retreats and any(unit[0] == "*" for unit in units.flat):  # the form of the package
        lists = dict(units)
        dislodged, units = (
            ByPower.of(
                {
                    power: [unit.lstrip("*") for unit in listed if (unit[0] == "*") is starred]
                    for power, listed in lists.items()
                }
            )
            for starred in (True, False)
        )
    for standing in (units, dislodged):
        _refuse_twice([unit[2:5] for unit in standing.flat], "has two units")
    words = _ORDERS.get(name[-1], _ANY_ORDER)
    return Phase(
        name,
        units,
        centers,
        orders=_by_power(raw, "orders", words),
        dislodged=dislodged,
        auto=_by_power(raw, "auto", words),
        invalid=_by_power(raw, "invalid", _ANY_ORDER),
    )


@lru_cache(4096)
def _time_of(name: str) -> int | None:
    """Return a number that grows from phase to phase, or None if `name` is not a phase."""
    if name == COMPLETED:
        return len(_TURNS) * 10_000
    match = _PHASE.fullmatch(name)
    if match is None:
        return None
    season, year, kind = filter(None, match.groups())
    return int(year) * len(_TURNS) + _TURNS.index(season + kind)


def _by_power(
    record: dict[str, Any], name: str, words: _Words, *, required: bool = False
) -> ByPower:
    lists = record.get(name)
    if lists is None and not required:
        return NOTHING
    if not isinstance(lists, dict):
        raise ValueError(f'"{name}" is not an object with one list per power')
    if not _POWER_SET.issuperset(lists):
        raise ValueError(f"{short(min(lists.keys() - _POWER_SET))} is not a power")
    parts = [lists.get(power) or [] for power in POWERS]
    if set(map(type, parts)) != {list}:
        raise ValueError(f'"{name}" is not an object with one list per power')
    ends = list(itertools.accumulate(map(len, parts)))
    if ends[-1] > _MOST:
        raise ValueError(f'"{name}" has more than {_MOST} entries')
    try:
        flat = tuple(map(words.__getitem__, itertools.chain.from_iterable(parts)))
    except TypeError:
        raise ValueError(f'"{name}" has an entry that is not text') from None
    return ByPower(flat, bytes(ends)) if flat else NOTHING


def _refuse_twice(places: Sequence[str], reason: str) -> None:
    if len(set(places)) < len(places):
        twice = next(place for i, place in enumerate(places) if place in places[:i])
        raise ValueError(f"{short(twice)} {reason}")


def _final_of(record: Any) -> Final | None:
    if record is None:
        return None
    phase = record.get("phase") if isinstance(record, dict) else None
    if not isinstance(phase, str) or _time_of(phase) is None:
        raise ValueError('"final" has no phase')
    counts = _numbers(record, "centers", 34)
    if counts is None:
        raise ValueError('"final" has no centers')
    done = known(record, "done", bool)
    return Final(
        phase, tuple(map(int, counts)), phase == COMPLETED or None if done is None else done
    )


def _numbers(record: dict[str, Any], name: str, most: float) -> tuple[float, ...] | None:
    """Return one number per power, from 0 to `most`."""
    numbers = record.get(name)
    if numbers is None:
        return None
    if not isinstance(numbers, dict) or not numbers.keys() <= _POWER_SET:
        raise ValueError(f'"{name}" is not an object with one number per power')
    values = tuple(numbers.get(power, 0) for power in POWERS)
    if not all(isinstance(value, (int, float)) and 0 <= value <= most for value in values):
        raise ValueError(f'"{name}" has a value that is not a number from 0 to {most:g}')
    return values


def _each(
    record: Mapping[str, Any], name: str, is_valid: Callable[[Any], bool]
) -> tuple[Any, ...] | None:
    """Return one value per power, or None for a power without one."""
    values = known(record, name, dict)
    if values is None:
        return None
    if not values.keys() <= _POWER_SET:
        raise ValueError(f'"{name}" has a key that is not a power')
    if not all(value is None or is_valid(value) for value in values.values()):
        raise ValueError(f'"{name}" has an invalid value')
    return tuple(values.get(power) for power in POWERS)


def _is_rating(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= _HIGHEST_RATING


def _humans_of(record: Mapping[str, Any]) -> tuple[str, ...] | None:
    humans, bots = known(record, "human_powers", list), known(record, "bot_powers", list)
    named = [*(humans or ()), *(bots or ())]
    if not all(isinstance(power, str) and power in _POWER_SET for power in named):
        raise ValueError('"human_powers" or "bot_powers" has an entry that is not a power')
    if len(set(named)) < len(named):
        raise ValueError("a power is in human_powers or bot_powers twice")
    if humans is None and bots is None:
        return None
    return tuple(power for power in POWERS if power in (named if humans is None else humans))


def _press_of(rules: list[Any]) -> str | None:
    return next((press for press, rule in _RULES.items() if rule in rules), None)


# --- Writing ------------------------------------------------------------------------------------


def write_diplomacy_games(games: Iterable[DiplomacyGame], path: str | Path) -> int:
    """Write games as the `diplomacy` package saves them, one per line; return their number.

    The suffix of `path` selects the compression. Fields that the package does not have are added,
    and `read_diplomacy_games` reads them back.
    """
    return write_json_games(map(saved_game, games), path)


def saved_game(game: DiplomacyGame) -> dict[str, Any]:
    """Return a game as input for the `diplomacy` package's ``from_saved_game_format``."""
    final = game.final
    rules = [_RULES[game.press]] if game.press in _RULES else []
    phases = [*game.phases, *([final.position] if final and final.position else [])]
    saved: dict[str, Any] = {
        "id": game.id,
        "map": "standard",
        "rules": rules,
        "phases": [_saved_phase(phase) for phase in phases],
        "source": game.source,
        "licence": game.licence,
        "press": game.press,
        "human_powers": game.human_powers,
        "quality": {"tier": game.tier, "active_frac": _named(game.activity)},
        "players": _named(game.players),
        "ratings": _named(game.ratings),
    }
    if final is not None:
        saved["final"] = {"phase": final.phase, "centers": _named(final.counts), "done": final.done}
    return saved


def _named(values: tuple[_T, ...] | None) -> dict[str, _T] | None:
    return None if values is None else dict(zip(POWERS, values, strict=True))


def _saved_phase(phase: Phase) -> dict[str, Any]:
    dislodged = {power: [f"*{unit}" for unit in units] for power, units in phase.dislodged.items()}
    units = {power: [*phase.units.get(power, ()), *dislodged.get(power, ())] for power in POWERS}
    centers = {power: phase.centers.get(power, ()) for power in POWERS}
    more = {
        name: getattr(phase, name).to_json() for name in ("auto", "invalid") if getattr(phase, name)
    }
    return {
        "name": phase.name,
        "state": {"name": phase.name, "units": units, "centers": centers},
        "orders": {power: phase.orders.get(power, ()) for power in POWERS},
        "results": {},
        "messages": [],
        **more,
    }


__all__ = ["game_of", "read_diplomacy_games", "saved_game", "write_diplomacy_games"]

"""Draw the Diplomacy map as SVG: provinces, units and orders.

``map.json`` holds the map: the coasts are Natural Earth's (public domain), stretched so
that a unit and a name fit into every province, and the borders are ours. Neighbours share every
point of their border. The drawing checks no rules. Points are complex numbers, x to the right and y
down.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from kedge.errors import InputError

#: The map's file.
MAP = Path(str(files("kedge.games.diplomacy") / "map.json"))
#: Colours after Okabe and Ito, which colour-blind readers can distinguish.
_COLOURS = {
    "AUSTRIA": "#d55e00",
    "ENGLAND": "#0072b2",
    "FRANCE": "#56b4e9",
    "GERMANY": "#5f5f5f",
    "ITALY": "#009e73",
    "RUSSIA": "#cc79a7",
    "TURKEY": "#f0d83c",
}
_PAPER, _SEA, _INK, _RED, _GREEN = "#f4eee0", "#c9dae6", "#2b2a33", "#c00000", "#00703c"
_SEASONS = {"S": "Spring", "F": "Fall", "W": "Winter"}
_PHASES = {"M": "movement", "R": "retreats", "A": "adjustments"}
#: An army is a cannon, a fleet a ship; hatched land is impassable.
_DEFINITIONS = (
    '<g id="A"><path d="M-11 4 6-8 10-2.5-6 8Z"/><circle cx="-2" cy="3.5" r="6"/>'
    '<circle cx="-2" cy="3.5" r="1.6" fill="white" stroke="none"/></g>'
    '<g id="F"><path d="M-12 2.5H12L8 9H-8Z"/><path d="M-1.2-10V.5H-9.5Z"/>'
    '<path d="M1.2-10 9.5.5H1.2Z"/></g>'
    '<pattern id="rock" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="5" height="5" fill="#e3ddd0"/>'
    '<path d="M0 0V5" stroke="#b9b1a2" stroke-width="2"/></pattern>'
)


def draw(
    position: Mapping[str, Any],
    orders: Mapping[str, Sequence[str]] | None = None,
    failed: Collection[str] = (),
) -> str:
    """Return the map with a position and with `orders`, by default the position's own.

    Both are in the plain form: ``{"name": "S1901M", "units": {"FRANCE": ["A PAR", …]}, "centers":
    {"FRANCE": ["BRE", …]}}`` and ``{"FRANCE": ["A PAR - BUR", …]}``. A province is tinted by the
    owner of its centre or, without a centre, by the unit in it. Moves in `failed` are dashed.
    """
    named = _entries(position.get("units"))
    units = [(power, unit) for power, unit in named if not unit.startswith("*")]
    starred = [(power, unit[1:]) for power, unit in named if unit.startswith("*")]
    dislodged = dict.fromkeys(starred + _entries(position.get("dislodged")))
    centres = _entries(position.get("centers"))
    ordered = _entries(position.get("orders") if orders is None else orders)
    owners = _owners(units, centres)
    stands = {unit[2:5]: _stand(unit) for _, unit in units}
    # Only the dislodged have orders while there are some.
    stands |= {unit[2:5]: _beside(unit) for _, unit in dislodged}
    drawn = list(_orders(ordered, stands, failed))
    width, height = _map()["size"]
    frame = f'width="{width}" height="{height}" rx="10"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Diplomacy map" '
        'font-family="sans-serif" stroke-linejoin="round">',
        f'<defs><clipPath id="frame"><rect {frame}/></clipPath>{_DEFINITIONS}</defs>',
        '<g clip-path="url(#frame)">',
        *_provinces(owners),
        "</g>",
        *_legend(str(position.get("name", "")), [power for power, _ in centres]),
        *(line for line, _ in drawn),
        *_names(owners),
        *(_glyph(_stand(unit), power, unit) for power, unit in units),
        *(_glyph(_beside(unit), power, unit, _RED) for power, unit in dislodged),
        *(mark for _, mark in drawn),
        f'<rect {frame} fill="none" stroke="{_INK}" stroke-width="1.5"/>',
        "</svg>",
    ]
    return "\n".join(filter(None, parts))


@cache
def _map() -> Any:
    return json.loads(MAP.read_text(encoding="utf-8"))


@cache
def _points() -> dict[str, complex]:
    """The point of a unit in each of the 81 locations."""
    return {
        location: complex(*point)
        for province in _map()["provinces"].values()
        for location, point in province["units"].items()
    }


def _point(location: str) -> complex:
    if location not in _points():
        raise InputError(f"{location!r} is not a place on the map, such as PAR or STP/SC")
    return _points()[location]


def _stand(unit: str) -> complex:
    if unit[:2] not in ("A ", "F "):
        raise InputError(f"{unit!r} is not a unit, such as A PAR or F STP/SC")
    return _point(unit[2:])


def _beside(unit: str) -> complex:
    """The point of a dislodged unit, beside its attacker."""
    return _stand(unit) + 15 - 12j


def _entries(table: Mapping[str, Sequence[str]] | None) -> list[tuple[str, str]]:
    """Return (power, entry) pairs of units, centres or orders."""
    for power in table or {}:
        if power not in _COLOURS:
            raise InputError(f"{power!r} is not a power; known: {', '.join(_COLOURS)}")
    return [(power, entry) for power, entries in (table or {}).items() for entry in entries or ()]


def _owners(units: list[tuple[str, str]], centres: list[tuple[str, str]]) -> dict[str, str]:
    """Return the power that tints each land province."""
    owners = {unit[2:5]: power for power, unit in units}
    for name, province in _map()["provinces"].items():
        if province["sea"] or "centre" in province:
            owners.pop(name, None)
    for power, name in centres:
        if "centre" not in _map()["provinces"].get(name, ()):
            raise InputError(f"{name!r} is not a supply centre, such as PAR")
        owners[name] = power
    return owners


def _provinces(owners: Mapping[str, str]) -> Iterator[str]:
    """Yield the seas, a bright line along the coasts, and the land."""
    seas: list[str] = []
    lands: list[str] = []
    for name, province in _map()["provinces"].items():
        owner = owners.get(name)
        fill = f' fill="{_mix(_COLOURS[owner], _PAPER, 0.52)}"' if owner else ""
        title = f"{province['name']} ({name})" + (f", {owner.title()}" if owner else "")
        (seas if province["sea"] else lands).append(
            f'<polygon points="{province["border"]}"{fill}><title>{title}</title></polygon>'
        )
    for name, border in _map()["impassable"].items():
        lands.append(
            f'<polygon points="{border}" fill="url(#rock)"><title>{name}</title></polygon>'
        )
    yield from [f'<g fill="{_SEA}" stroke="#9db8cb">', *seas, "</g>"]
    yield '<use href="#land" stroke="#e2edf4" stroke-width="7"/>'
    yield from ['<g stroke="#776c5c">', f'<g id="land" fill="{_PAPER}">', *lands, "</g></g>"]


def _names(owners: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the provinces with a pale edge, and discs for supply centres."""
    yield '<use href="#names" stroke="white" stroke-opacity="0.5" stroke-width="3"/>'
    style = 'font-size="12.5" text-anchor="middle" pointer-events="none"'
    yield f'<g id="names" {style} fill="{_INK}">'
    for name, province in _map()["provinces"].items():
        x, y = province["label"]
        style = ' font-style="italic" fill="#47627a"' if province["sea"] else ""
        yield f'<text x="{x}" y="{y}"{style}>{name}</text>'
        if "centre" in province:
            x, y = province["centre"]
            owner = owners.get(name)
            yield (
                f'<circle cx="{x}" cy="{y}" r="4.4" fill="white" stroke="{_INK}"/>'
                f'<circle cx="{x}" cy="{y}" r="2.6" fill="{_COLOURS[owner] if owner else "none"}"/>'
            )
    yield "</g>"


def _legend(name: str, owners: list[str]) -> Iterator[str]:
    """Yield the phase and each power's number of centres."""
    phase = re.fullmatch(r"([SFW])(\d+)([MRA])", name)
    if phase:
        season, year, kind = phase.groups()
        name = f"{_SEASONS[season]} {year}, {_PHASES[kind]}"
    yield f'<g font-size="13" fill="{_INK}">'
    yield f'<text x="16" y="28" font-size="16" font-weight="bold">{escape(name)}</text>'
    for row, (power, colour) in enumerate(_COLOURS.items()):
        y = 50 + 18 * row
        yield (
            f'<rect x="16" y="{y - 11}" width="13" height="13" rx="2" fill="{colour}" '
            f'stroke="{_INK}" stroke-width="0.7"/><text x="36" y="{y}">{power.title()}</text>'
            f'<text x="126" y="{y}" text-anchor="end">{owners.count(power)}</text>'
        )
    yield "</g>"


def _glyph(point: complex, power: str, unit: str, edge: str = _INK) -> str:
    use = f'<use href="#{unit[0]}"'
    return (
        f'<g transform="translate({_xy(point)})"><title>{power.title()}: {unit}</title>'
        f'{use} stroke="white" stroke-width="4.5"/>'
        f'{use} fill="{_COLOURS[power]}" stroke="{edge}" stroke-width="1.3"/></g>'
    )


def _orders(
    orders: list[tuple[str, str]], stands: Mapping[str, complex], failed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield for each order a line, drawn under the units, and a mark, drawn over them."""
    words = [order.removeprefix("*").split() for _, order in orders]
    moves = [move for move in words if len(move) > 3 and move[2] == "-"]
    goals = {(move[1][:3], move[3][:3]): move[3] for move in moves}

    def start(location: str) -> complex:
        point = _point(location)
        return stands.get(location[:3], point)

    def middle(unit: str, goal: str) -> complex:
        # Supports and convoys may leave out the coast that the move itself names.
        return _middle(start(unit), _point(goals.get((unit[:3], goal[:3]), goal)))

    for (power, order), parsed in zip(orders, words, strict=True):
        colour = _mix(_COLOURS[power], "#000000", 0.25)
        line = mark = ""
        match parsed:
            case ["WAIVE"]:
                pass
            case ["A" | "F", unit, "H"]:
                line = _stroke(_ring(start(unit)), colour)
            case ["A" | "F", unit, "-" | "R", goal] | ["A", unit, "-", goal, "VIA"]:
                line, mark = _arrow(start(unit), _point(goal), colour, order in failed)
            case ["A" | "F", unit, "S", "A" | "F", other]:
                toward = _step(start(unit), start(other))
                path = f"M{_xy(start(unit))}L{_xy(start(other) - 16 * toward)}"
                line = _stroke(path + _ring(start(other)), colour, "5 3.5")
            case ["A" | "F", unit, "S", "A" | "F", other, "-", goal]:
                end = middle(other, goal)
                line = _stroke(f"M{_xy(start(unit))}L{_xy(end)}", colour, "5 3.5")
                mark = _dot(end, colour)
            case ["F", unit, "C", "A", other, "-", goal]:
                end = middle(other, goal)
                line = _stroke(_wave(start(unit), end), colour)
                mark = _dot(end, colour)
            case ["A" | "F" as kind, unit, "B"]:
                line = _glyph(start(unit), power, f"{kind} {unit}")
                mark = _badge(f"M{_xy(start(unit) + 7 - 9j)}h10m-5-5v10", _GREEN)
            case ["A" | "F", unit, "D"]:
                mark = _badge(f"M{_xy(start(unit) - 9 - 9j)}l18 18m-18 0 18-18", _RED)
            case _:
                raise InputError(
                    f"{order!r} is not an order, such as A PAR - BUR or F MAO S A PAR - BUR"
                )
        yield line, mark


def _bend(start: complex, end: complex) -> complex:
    """The control point of a move's curve, bent so that two swapping units show both arrows."""
    return (start + end) / 2 + 0.13j * (end - start)


def _middle(start: complex, end: complex) -> complex:
    """The middle of a move's curve."""
    return (start + end) / 4 + _bend(start, end) / 2


def _arrow(start: complex, end: complex, colour: str, failed: bool) -> tuple[str, str]:
    """Return the line and the head of an arrow."""
    bend = _bend(start, end)
    toward = _step(bend, end)
    tip = end - 10 * toward
    base = tip - 11 * toward
    head = f"M{_xy(tip)}L{_xy(base + 6j * toward)}L{_xy(base - 6j * toward)}Z"
    line = _stroke(f"M{_xy(start)}Q{_xy(bend)} {_xy(base)}", colour, "7 5" if failed else "", 3.2)
    return line, f'<path d="{head}" fill="{colour}" stroke="white" stroke-width="0.8"/>'


def _wave(start: complex, end: complex) -> str:
    """Return a wavy path with ripples of about nine units each."""
    ripples = max(1, round(abs(end - start) / 9))
    step = (end - start) / ripples
    first = f"M{_xy(start)}q{_xy(step / 2 + 5j * _step(start, end))} {_xy(step)}"
    return first + f"t{_xy(step)}" * (ripples - 1)


def _ring(point: complex, radius: int = 16) -> str:
    arc = f"a{radius} {radius} 0 1 0"
    return f"M{_xy(point - radius)}{arc} {2 * radius} 0{arc} {-2 * radius} 0"


def _dot(point: complex, colour: str) -> str:
    return (
        f'<circle cx="{point.real:.1f}" cy="{point.imag:.1f}" r="3.6" fill="{colour}" '
        'stroke="white" stroke-width="0.8"/>'
    )


def _badge(path: str, colour: str) -> str:
    return "".join(
        f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="{width}" '
        'stroke-linecap="round"/>'
        for ink, width in (("white", 6), (colour, 3))
    )


def _stroke(path: str, colour: str, dashes: str = "", width: float = 2.2) -> str:
    """Return a line with a pale edge, to contrast with borders."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="{path}" fill="none" stroke="white" stroke-opacity="0.7" '
        f'stroke-width="{width + 2}"/>'
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'
    )


def _step(start: complex, end: complex) -> complex:
    """One unit of length from `start` towards `end`."""
    return (end - start) / (abs(end - start) or 1)


def _xy(point: complex) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"


def _mix(colour: str, other: str, share: float) -> str:
    """Return `colour` mixed with a share of `other`."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


__all__ = ["MAP", "draw"]

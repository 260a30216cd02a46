"""Draw a Go board as SVG: wood, lines 30 units apart, stones, a ring on the last move."""

from collections.abc import Iterator
from itertools import cycle

from kedge.games.go.game import BLACK, COLUMNS, EMPTY, GoState, hoshi

_UNIT, _MARGIN = 30, 45
_SHADES = (
    "<defs>"
    '<linearGradient id="wood" x1="0" y1="0" x2="1" y2="1">'
    '<stop offset="0" stop-color="#ecc586"/><stop offset="0.5" stop-color="#e2b56c"/>'
    '<stop offset="1" stop-color="#d8a759"/></linearGradient>'
    '<radialGradient id="black" cx="0.36" cy="0.32" r="0.75">'
    '<stop offset="0" stop-color="#6d6d70"/><stop offset="0.35" stop-color="#2c2c2f"/>'
    '<stop offset="1" stop-color="#0a0a0c"/></radialGradient>'
    '<radialGradient id="white" cx="0.36" cy="0.32" r="0.8">'
    '<stop offset="0" stop-color="#ffffff"/><stop offset="0.6" stop-color="#f3f1ec"/>'
    '<stop offset="1" stop-color="#c9c4ba"/></radialGradient></defs>'
)


def draw(state: GoState) -> str:
    """Return the board as SVG."""
    side = (state.size - 1) * _UNIT + 2 * _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" '
        f'width="{side}" height="{side}">'
    )
    return "\n".join([head, _SHADES, *_wood(state.size, side), *_stones(state), "</svg>"])


def _at(place: int) -> int:
    return _MARGIN + place * _UNIT


def _wood(size: int, side: int) -> Iterator[str]:
    """Yield the empty board, with the names of its lines."""
    yield f'<rect width="{side}" height="{side}" rx="8" fill="url(#wood)"/>'
    grain = [
        f"M0 {y} C{side // 3} {y + bend} {2 * side // 3} {y - bend} {side} {y + 3}"
        for y, bend in zip(range(14, side, 23), cycle((8, -8)))
    ]
    yield (
        f'<path d="{"".join(grain)}" fill="none" stroke="#a8742f" stroke-opacity="0.13" '
        'stroke-width="2"/>'
    )
    first, last = _at(0), _at(size - 1)
    lines = "".join(f"M{first} {_at(i)}H{last}M{_at(i)} {first}V{last}" for i in range(size))
    yield f'<path d="{lines}" stroke="#4a3414" stroke-width="1" stroke-linecap="square"/>'
    yield (
        f'<rect x="{first}" y="{first}" width="{last - first}" height="{last - first}" '
        'fill="none" stroke="#4a3414" stroke-width="2"/>'
    )
    for point in hoshi(size):
        y, x = divmod(point, size)
        yield f'<circle cx="{_at(x)}" cy="{_at(y)}" r="3.4" fill="#4a3414"/>'
    names = '<g font-family="sans-serif" font-size="12" fill="#5d431c" text-anchor="middle">'
    for i in range(size):
        for edge in (17, side - 17):
            names += f'<text x="{_at(i)}" y="{edge + 4}">{COLUMNS[i]}</text>'
            names += f'<text x="{edge}" y="{_at(i) + 4}">{size - i}</text>'
    yield names + "</g>"


def _stones(state: GoState) -> Iterator[str]:
    last = state.history[-1] if state.history else None
    for point, colour in enumerate(state.colours()):
        if colour == EMPTY:
            continue
        y, x = divmod(point, state.size)
        name = "black" if colour == BLACK else "white"
        yield (
            f'<circle cx="{_at(x) + 1.2}" cy="{_at(y) + 1.8}" r="14.2" fill-opacity="0.28"/>'
            f'<circle cx="{_at(x)}" cy="{_at(y)}" r="14.2" fill="url(#{name})"/>'
        )
        if point == last:
            ink = "#f6f3ec" if colour == BLACK else "#1c1c1f"
            yield (
                f'<circle cx="{_at(x)}" cy="{_at(y)}" r="6.5" fill="none" stroke="{ink}" '
                'stroke-width="2"/>'
            )

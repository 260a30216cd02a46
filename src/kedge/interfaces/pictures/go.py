"""A Go board with the moves of people and of a search, as SVG and in a terminal."""

from collections.abc import Sequence
from math import sqrt

from rich.text import Text

from kedge.agents.agent import Row
from kedge.games.go import EMPTY, GoState, format_gtp, hoshi

_LEAST = 0.005  # smallest share with a disc
_LABELLED = 0.03  # smallest share with a number
_MARKS = "123456789"
_ANCHOR, _SEARCH = "#2f66b0", "#d9480f"
_UNIT, _MARGIN = 30, 45  # of `GoState.to_svg`
_WOOD, _LINES, _MARKED = "#5d431c on #d9ab5b", "#8a6430 on #d9ab5b", "bold #9c1f00 on #d9ab5b"
_STONES = ("bold #000000 on #d9ab5b", "bold #ffffff on #d9ab5b")


def draw(state: GoState, rows: Sequence[Row]) -> str:
    """Return an SVG with people's moves as blue discs, and search's as smaller orange ones.

    The likelier a move, the larger and darker its disc; a pass is in the lower right corner.
    The numbers are the agent's policy in percent.
    """
    parts = []
    for row in rows:
        (x, y), name = _place(state, row.action), state.gtp(row.action)
        parts += _disc(x, y, name, row.anchor, _ANCHOR, 14.5)
        if row.visits is not None:
            parts += _disc(x, y, name, row.policy, _SEARCH, 11.0)
        share = row.policy
        if share >= _LABELLED:
            parts.append(
                f'<text x="{x}" y="{y + 3.5:g}" font-family="sans-serif" font-size="10" '
                f'font-weight="bold" text-anchor="middle" fill="#ffffff">{100.0 * share:.0f}</text>'
            )
    return state.to_svg().removesuffix("</svg>") + "\n".join([*parts, "</svg>"])


def _place(state: GoState, point: int) -> tuple[int, int]:
    size = state.size
    if point == size * size:
        corner = (size - 1) * _UNIT + 2 * _MARGIN - 18
        return corner, corner
    y, x = divmod(point, size)
    return _MARGIN + x * _UNIT, _MARGIN + y * _UNIT


def _disc(x: int, y: int, name: str, share: float, colour: str, widest: float) -> list[str]:
    if share < _LEAST:
        return []
    size = sqrt(min(1.0, share))
    title = f"<title>{name} {share:.1%}</title>"
    return [
        f'<circle cx="{x}" cy="{y}" r="{widest * (0.45 + 0.55 * size):.1f}" fill="{colour}" '
        f'fill-opacity="{0.55 + 0.4 * size:.2f}">{title}</circle>'
    ]


def board_text(state: GoState, marked: Sequence[int], *, coloured: bool) -> Text:
    """Return the board for a terminal: last move in brackets, `marked` points as 1, 2, ….

    Without colours, ● is black.
    """
    wood, lines, mark = (_WOOD, _LINES, _MARKED) if coloured else ("", "", "")
    stones = list(zip("●●", _STONES, strict=True)) if coloured else [("●", ""), ("○", "")]
    size, stars = state.size, set(hoshi(state.size))
    numbers = dict(zip(marked, _MARKS, strict=False))
    last = state.history[-1] if state.history else None
    columns = "    " + " ".join(format_gtp(x, size)[0] for x in range(size)) + "    "
    text = Text(f"{columns}\n", style=wood)
    for y in range(size):
        text.append(f"{size - y:2} ")
        for x in range(size):
            point = y * size + x
            text.append(_before(x, point, last), lines)
            colour = state.board.colour(point)
            if colour != EMPTY:
                text.append(*stones[colour])
            elif point in numbers:
                text.append(numbers[point], mark)
            else:
                text.append("╋" if point in stars else _crossing(x, y, size), lines)
        text.append(")" if point == last else " ", lines)
        text.append(f"{size - y:<2} \n")
    return text.append(columns)


def _before(x: int, point: int, last: int | None) -> str:
    """Return the character to the left of a point."""
    if point == last:
        return "("
    if x and point - 1 == last:
        return ")"
    return "─" if x else " "


def _crossing(x: int, y: int, size: int) -> str:
    row = "┌┬┐" if y == 0 else "└┴┘" if y == size - 1 else "├┼┤"
    return row[0] if x == 0 else row[2] if x == size - 1 else row[1]

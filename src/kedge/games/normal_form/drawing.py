"""Draw a payoff matrix as a table of colours."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kedge.games.normal_form.game import NormalFormGame

_CELL, _MARGIN, _TITLE = 64, 96, 36
_LABELLED = 12  # more actions than this are drawn as a plain heat map


def payoff_svg(game: "NormalFormGame", chosen: tuple[int, ...] | None) -> str:
    """Return the payoffs of two players as SVG; others keep their chosen (or first) actions."""
    others = (chosen or (0,) * game.num_players)[2:]
    tables: Any = game.payoffs
    for action in reversed(others):
        tables = tables[..., action]
    if game.num_players == 1:
        tables = tables[:, :, None]
    rows, columns = tables.shape[1:]
    labelled = max(rows, columns) <= _LABELLED
    cell = _CELL if labelled else max(1, 640 // max(rows, columns))
    left = _MARGIN if labelled else 8
    top = _TITLE + (24 if labelled else 0)
    low, high = float(tables[0].min()), float(tables[0].max())
    parts = [_text(8, 24, str(game), anchor="start", size=16)]
    for r, c in np.ndindex(rows, columns):
        x, y = left + c * cell, top + r * cell
        share = (float(tables[0, r, c]) - low) / (high - low) if high > low else 0.5
        here = chosen is not None and (r, c) == (*chosen, 0)[:2]
        edge = ' stroke="#d62728" stroke-width="3"' if here else ' stroke="white"' * labelled
        parts.append(
            f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="{_colour(share)}"{edge}/>'
        )
        if labelled:
            payoffs = ", ".join(f"{value:g}" for value in tables[:, r, c])
            parts.append(_text(x + cell / 2, y + cell / 2 + 4, payoffs))
    if labelled:
        for r in range(rows):
            name = game.action_name(0, r)
            parts.append(_text(left - 6, top + (r + 0.5) * cell + 4, name, anchor="end"))
        parts += [
            _text(left + (c + 0.5) * cell, top - 8, game.action_name(1, c))
            for c in range(columns if game.num_players > 1 else 0)
        ]
    width, height = left + columns * cell + 8, top + rows * cell + 8
    width = max(width, 16 + 9 * len(str(game)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(str(game))}">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _colour(share: float) -> str:
    """Return a colour from blue (worst for the row player) through white to orange (best)."""
    low, middle, high = (94, 142, 193), (247, 247, 247), (240, 163, 92)
    start, end, along = (low, middle, 2 * share) if share < 0.5 else (middle, high, 2 * share - 1)
    red, green, blue = (round(a + (b - a) * along) for a, b in zip(start, end, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _text(x: float, y: float, text: str, anchor: str = "middle", size: int = 12) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" '
        f'font-family="sans-serif" fill="#222">{escape(text)}</text>'
    )

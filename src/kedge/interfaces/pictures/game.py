"""A picture of a game: the expected score after each move, and how human the moves were."""

from typing import TYPE_CHECKING

import numpy as np

from kedge.evaluation.board.game_analysis import GameReport, MoveReport
from kedge.experiments.reports.report import render
from kedge.interfaces.reviews.board import both_players
from kedge.paper.style import EXACT, PIKL, RM, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _PLY = 6.5, 0.055  # inches: of a short game, and per half-move of a long one
_NAME = 0.4, 0.1  # size of a move's name: width in inches, height in score
_WHITE, _BLACK = "#e9e4d8", "#55534e"
_GROUNDS = {"White": _WHITE, "Black": _BLACK}
_INKS = {_WHITE: EXACT, _BLACK: _WHITE}
_GOOD = "#009e73"
_MARKS = {"??": RM, "?": "#e69f00", "!": _GOOD}


def draw(report: GameReport) -> bytes:
    """Return an SVG of one side's expected score, and below it the share of people per move."""
    return render(lambda figure: _draw(figure, report), (_width(report), 4.6), "svg")


def _width(report: GameReport) -> float:
    return min(16.0, max(_WIDTH, _PLY * len(report.moves) + 2.0))


def _draw(figure: "Figure", report: GameReport) -> None:
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw_value(above, report)
    _draw_people(below, report)
    title = f"{both_players(report)}, {report.game.result}"
    figure.suptitle(title.replace("$", r"\$"), fontsize=11)


def _draw_value(axes: "Axes", report: GameReport) -> None:
    score = (1.0 + np.array(report.values)) / 2.0
    after = np.arange(len(score))  # 0 is the first position
    below, above = (_GROUNDS[side] for side in report.game.sides)
    axes.fill_between(after, score, 0.0, color=below, linewidth=0)
    axes.fill_between(after, score, 1.0, color=above, linewidth=0)
    axes.plot(after, score, color=EXACT, linewidth=1.2)
    axes.axhline(0.5, color=RM, linewidth=0.6, alpha=0.6)
    plies, high = _NAME[0] * len(report.moves) / _width(report), _NAME[1]
    named: list[tuple[int, float]] = []
    for move in sorted(report.moves, key=lambda move: -move.loss):
        if not move.mark:
            continue
        at, is_above = score[move.ply + 1], _is_above(move, score[move.ply + 1])
        place = move.ply, at + (high if is_above else -high)
        _dot(axes, move, at)
        # Where names would hide each other, only the costliest move has its name.
        if all(abs(place[0] - x) > plies or abs(place[1] - y) > high for x, y in named):
            named.append(place)
            _label(axes, move, at, is_above, above if is_above else below)
    tidy(axes, f"{report.game.sides[0]}'s expected score", "", "")
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.0, 0.5, 1.0], ["0", "½", "1"])
    axes.grid(False)


def _is_above(move: MoveReport, score: float) -> bool:
    """Whether the name goes above the line: on the mover's own colour, if there is room."""
    return score < 0.85 if move.player else score < 0.15


def _dot(axes: "Axes", move: MoveReport, score: float) -> None:
    axes.plot(
        move.ply + 1,
        score,
        "o",
        color=_MARKS[move.mark],
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.8,
        clip_on=False,
        zorder=3,
    )


def _label(axes: "Axes", move: MoveReport, score: float, is_above: bool, ground: str) -> None:
    from matplotlib.patheffects import withStroke

    axes.annotate(
        f"{move.name}{move.mark}",
        (move.ply + 1, score),
        xytext=(0, 6 if is_above else -7),
        textcoords="offset points",
        ha="center",
        va="bottom" if is_above else "top",
        fontsize=7,
        color=_INKS[ground],
        path_effects=[withStroke(linewidth=1.5, foreground=ground)],
    )


def _draw_people(axes: "Axes", report: GameReport) -> None:
    """Draw one side's moves upward and the other's downward, the opening pale."""
    for move in report.moves:
        height = move.anchor if move.player == 0 else -move.anchor
        axes.bar(move.ply + 1, height, width=0.9, color=PIKL, alpha=_strength(move), linewidth=0)
    axes.axhline(0.0, color=EXACT, linewidth=0.8)
    ratings = sorted(set(report.ratings or ()))
    who = " and ".join(f"{rating}s" for rating in ratings) or "people"
    likely, whose = f"How many {who} play it", "their"
    if not report.is_human:
        likely, whose = "How likely the anchor plays it", "its"
    up, down = (side.lower() for side in report.game.sides)
    title = f"{likely} ({up} up, {down} down; dark: {whose} favourite)"
    tidy(axes, title, "move", "")
    axes.set_ylim(-1.0, 1.0)
    axes.set_yticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["100%", "50%", "0", "50%", "100%"])
    axes.grid(False, axis="x")
    plies = len(report.moves)
    axes.set_xlim(0.0, plies + 0.6)
    first = {move.number: move.ply + 1 for move in reversed(report.moves)}
    every = 10 if len(first) > 40 else 5 if len(first) > 10 else 1
    ticks = [number for number in first if number % every == 0]
    axes.set_xticks([first[number] for number in ticks], [str(number) for number in ticks])


def _strength(move: MoveReport) -> float:
    is_favourite = move.rank == 1 and move.ties == 1
    return (0.9 if is_favourite else 0.5) * (0.4 if move.opening else 1.0)

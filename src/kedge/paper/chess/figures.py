"""Figures of the chess tables by rating and by time control."""

from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING

from kedge.paper.figures import Rows, by, legend_below, scaled
from kedge.paper.style import ANCHOR, EXACT, PIKL, SERIES, by_paper, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_by_rating(figure: "Figure", rows: Rows) -> None:
    """Draw accuracy by the players' rating on the left, and the gain of search on the right."""
    levels, gains = figure.subplots(1, 2)
    for (model, group), colour in zip(by(rows, "model").items(), cycle(SERIES), strict=False):
        ratings = [row["bucket"] for row in group]
        for axes, key, style in (
            (levels, "raw", "--"),
            (levels, "mcts", "-"),
            (gains, "gain", "-"),
        ):
            values = [100 * row[key] for row in group]
            errors = [100 * row[f"{key}_se"] for row in group]
            axes.plot(ratings, values, style, color=colour, linewidth=1.5, zorder=3)
            axes.fill_between(
                ratings, _less(values, errors), _more(values, errors), color=colour, alpha=0.13,
                linewidth=0,
            )  # fmt: skip
            edges = [EXACT if row["own"] else colour for row in group]
            axes.scatter(
                ratings, values, s=[52 if row["own"] else 22 for row in group],
                facecolors=["white" if style == "--" else colour] * len(group),
                edgecolors=edges, linewidths=[1.8 if row["own"] else 1.1 for row in group],
                zorder=4,
            )  # fmt: skip
        gains.plot([], [], color=colour, marker="o", markersize=4.5, label=model)
    levels.plot([], [], "--o", color=EXACT, markerfacecolor="white", markersize=4.5, label="raw")
    levels.plot([], [], "-o", color=EXACT, markersize=4.5, label="with MCTS")
    gains.axhline(0.0, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
    tidy(levels, "Moves predicted", "rating of the players predicted", "top-1 accuracy, %")
    tidy(gains, "What MCTS adds", "rating of the players predicted", "percentage points")
    for axes in (levels, gains):
        axes.legend(frameon=False, fontsize=8.5)
    figure.suptitle("Black outline: the rating that the model was trained on", fontsize=10)


def draw_by_time_control(figure: "Figure", rows: Rows) -> None:
    """Draw a panel per model: the gain by time control, the fastest on top."""
    models = by(rows, "model")
    panels = figure.subplots(1, max(1, len(models)), squeeze=False)[0]
    for axes, (model, group) in zip(panels, models.items(), strict=False):
        places = list(range(len(group)))
        axes.axvline(0.0, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
        axes.errorbar(
            [100 * row["gain"] for row in group],
            places,
            xerr=[100 * row["gain_se"] for row in group],
            linestyle="none",
            marker="o",
            markersize=6,
            color=PIKL,
            elinewidth=1.2,
            capsize=3,
            label="kedge ± 1 s.e.",
        )
        if any(row["paper_gain"] is not None for row in group):
            by_paper(
                axes, [scaled(row["paper_gain"], 100) for row in group], places, linestyle="none"
            )
        names = [f"{row['time_control']}, {row['games']:,} games" for row in group]
        axes.set_yticks(places, names)
        axes.set_ylim(len(group) - 0.4, -0.6)
        tidy(axes, f"{model} on {group[0]['bucket']}s", "gain in top-1, percentage points", "")
    legend_below(figure, panels)


def _less(values: Iterable[float], errors: Iterable[float]) -> list[float]:
    return [value - error for value, error in zip(values, errors, strict=True)]


def _more(values: Iterable[float], errors: Iterable[float]) -> list[float]:
    return [value + error for value, error in zip(values, errors, strict=True)]

"""Figures of the Diplomacy tables."""

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from kedge.paper.diplomacy import published
from kedge.paper.figures import Rows, by, dots, legend_below, scaled
from kedge.paper.style import ANCHOR, HEDGE, PIKL, RM, SERIES, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EQUAL = 100 / 7  # per cent of a game
_COLOURS = {published.IL: ANCHOR, published.RM: RM, published.HEDGE: HEDGE}


def draw_cross_entropy(figure: "Figure", rows: Rows) -> None:
    """Draw the cross-entropy of each agent, one per line."""
    axes = figure.subplots()
    dots(axes, rows, "cross_entropy", [row["agent"] for row in rows], scale=1.0)
    tidy(axes, "Orders of people predicted", "cross-entropy, nats", "")
    legend_below(figure, [axes])


def draw_shares(figure: "Figure", panels: Mapping[str, Rows]) -> None:
    """Draw a panel per title: each agent's share of a game."""
    drawn = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, rows) in zip(drawn, panels.items(), strict=True):
        dots(axes, rows, "mean", [row["agent"] for row in rows])
        axes.axvline(EQUAL, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
        tidy(axes, title, "share of a game, %", "")
    legend_below(figure, drawn)


def draw_human_tradeoff(figure: "Figure", rows: Rows) -> None:
    """Draw accuracy over the share of a game among six human models."""
    axes = figure.subplots()
    for row in rows:
        colour = _COLOURS.get(row["agent"], PIKL)
        place = (100 * row["mean"], 100 * row["top1"])
        axes.errorbar(
            *place, xerr=scaled(row["mean_se"], 100), yerr=100 * row["top1_se"], marker="o",
            markersize=6, color=colour, elinewidth=1.0, capsize=2, zorder=3,
        )  # fmt: skip
        axes.annotate(
            row["agent"], place, xytext=(6, 6), textcoords="offset points", fontsize=8.5,
            color=colour,
        )  # fmt: skip
    axes.axvline(EQUAL, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
    axes.margins(x=0.15, y=0.15)
    title = "Predicting people, and playing among six models of them"
    tidy(axes, title, "share of a game, %", "top-1 accuracy of unit orders, %")


def draw_by_pseudo_elo(figure: "Figure", rows: Rows) -> None:
    """Draw a line per agent over the players' rating."""
    axes = figure.subplots()
    ratings = list(dict.fromkeys(row["rating"] for row in rows))
    for (agent, group), colour in zip(by(rows, "agent").items(), cycle(SERIES), strict=False):
        axes.errorbar(
            [ratings.index(row["rating"]) for row in group], [100 * row["top1"] for row in group],
            yerr=[100 * row["top1_se"] for row in group], color=colour, marker="o", markersize=5,
            linewidth=1.4, elinewidth=1.0, capsize=2.5, label=agent,
        )  # fmt: skip
    axes.set_xticks(range(len(ratings)), ratings)
    axes.legend(frameon=False, fontsize=8.5)
    tidy(axes, "Orders of people predicted", "pseudo-Elo", "top-1 accuracy of unit orders, %")

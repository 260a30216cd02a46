"""Figures of the tables on prediction and strength in board games."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

from kedge.paper.figures import Rows, by, dots, legend_below, scaled
from kedge.paper.style import ANCHOR, PIKL, RM, SERIES, by_paper, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEASURES = {"top1": "top-1 accuracy, %", "cross_entropy": "cross-entropy, nats"}


def draw_settings(figure: "Figure", rows: Rows, key: str) -> None:
    """Draw a panel per model: the measure at each c_puct, ours and the paper's."""
    models = by(rows, "model")
    panels = figure.subplots(1, len(models), squeeze=False)[0]
    scale = 100.0 if key == "top1" else 1.0
    for axes, (model, group) in zip(panels, models.items(), strict=True):
        places = list(range(len(group)))
        axes.axhline(scale * group[0][key], color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
        axes.errorbar(
            places,
            [scale * row[key] for row in group],
            yerr=[scale * row[f"{key}_se"] for row in group],
            color=PIKL,
            marker="o",
            markersize=5,
            linewidth=1.4,
            elinewidth=1.0,
            capsize=2.5,
            label="kedge",
        )
        if any(row["paper"] is not None for row in group):
            by_paper(axes, places, [scaled(row["paper"], scale) for row in group])
        axes.set_xticks(places, [row["setting"] for row in group])
        axes.margins(x=0.08, y=0.12)
        bucket = group[0]["bucket"]
        title = f"{model} on {bucket}{'s' if isinstance(bucket, int) else ''}"
        tidy(axes, title, "c_puct", _MEASURES[key] if axes is panels[0] else "")
    legend_below(figure, panels)


def draw_agents(figure: "Figure", rows: Rows) -> None:
    """Draw a line per agent, the first on top: its accuracy, ours and the paper's."""
    axes = figure.subplots()
    dots(axes, rows, "top1", [f"{row['agent']}\nfrom {row['learnt_from']}" for row in rows])
    tidy(axes, "Moves of people predicted", "top-1 accuracy, %", "")
    legend_below(figure, [axes])


def draw_strength(figure: "Figure", rows: Rows) -> None:
    """Draw the score over c_puct, with a line per model and temperature."""
    axes = figure.subplots()
    lines: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["model"], row["temperature"]), []).append(row)
    several = len({model for model, _ in lines}) > 1
    for ((model, temperature), group), colour in zip(
        lines.items(), cycle((PIKL, RM, *SERIES)), strict=False
    ):
        name = f"temperature {temperature:g}"
        places = [row["c_puct"] for row in group]
        axes.errorbar(
            places, [100 * row["score"] for row in group],
            yerr=[100 * row["score_se"] for row in group],
            color=colour, marker="o", markersize=5, linewidth=1.4, elinewidth=1.0, capsize=2.5,
            label=f"{model}, {name}" if several else name,
        )  # fmt: skip
        if any(row["paper"] is not None for row in group):
            by_paper(
                axes, places, [scaled(row["paper"], 100) for row in group],
                color=colour, label=f"the paper, {name}",
            )  # fmt: skip
    axes.axhline(50.0, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
    _log_c_puct(axes, {row["c_puct"] for row in rows})
    title = "MCTS against the model alone"
    tidy(axes, title, "c_puct (less: further from people)", "score, %")
    axes.legend(frameon=False, fontsize=8.5, loc="center right")


def draw_tradeoff(figure: "Figure", rows: Rows) -> None:
    """Draw the gain in accuracy over the score; each dot is a c_puct."""
    axes = figure.subplots()
    models = by(rows, "model")
    for (model, group), colour in zip(models.items(), cycle((PIKL, *SERIES)), strict=False):
        # From the model alone, which scores a half against itself.
        axes.plot(
            [50.0, *(100 * row["score"] for row in group)],
            [0.0, *(100 * row["gain"] for row in group)],
            color=colour, linewidth=1.2, alpha=0.6, zorder=2,
        )  # fmt: skip
        axes.errorbar(
            [100 * row["score"] for row in group], [100 * row["gain"] for row in group],
            xerr=[100 * row["score_se"] for row in group],
            yerr=[100 * row["gain_se"] for row in group],
            linestyle="none", marker="o", markersize=6, color=colour, elinewidth=1.0, capsize=2,
            label=f"kedge, {model}", zorder=3,
        )  # fmt: skip
        for row in group:
            axes.annotate(
                f"{row['c_puct']:g}", (100 * row["score"], 100 * row["gain"]),
                xytext=(7, -13), textcoords="offset points", ha="left", fontsize=8.5, color=colour,
            )  # fmt: skip
    known = [row for row in rows if row["paper_gain"] is not None and row["paper_score"]]
    if known:
        x, y = ([100 * row[key] for row in known] for key in ("paper_score", "paper_gain"))
        by_paper(axes, [50.0, *x], [0.0, *y])
    axes.plot([50.0], [0.0], "s", color=ANCHOR, markersize=7, zorder=5)
    axes.annotate(
        "the model", (50.0, 0.0), xytext=(9, -4), textcoords="offset points", ha="left", va="top",
        fontsize=8.5, color="#666666",
    )  # fmt: skip
    axes.axhline(0.0, color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
    axes.margins(x=0.08, y=0.15)
    title = "Predicting people and beating the model, by c_puct"
    tidy(axes, title, "score against the model alone, %", "gain in top-1, percentage points")
    axes.legend(frameon=False, fontsize=8.5, loc="lower left")


def _log_c_puct(axes: "Axes", values: Iterable[float]) -> None:
    """A log axis from the model to the search, with ticks at the measured values."""
    ticks = sorted(values, reverse=True)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.invert_xaxis()

"""Figures of the tables on prediction and strength."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from kedge.paper.style import ANCHOR, PIKL, RM, SERIES, by_paper, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]


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


_MEASURES = {"top1": "top-1 accuracy, %", "cross_entropy": "cross-entropy, nats"}


def draw_agents(figure: "Figure", rows: Rows) -> None:
    """Draw a line per agent, the first on top: its accuracy, ours and the paper's."""
    axes = figure.subplots()
    dots(axes, rows, "top1", [f"{row['agent']}\nfrom {row['learnt_from']}" for row in rows])
    tidy(axes, "Moves of people predicted", "top-1 accuracy, %", "")
    legend_below(figure, [axes])


def dots(axes: "Axes", rows: Rows, key: str, names: Sequence[str], scale: float = 100.0) -> None:
    """Draw a line per row, the first on top: its `key`, and the paper's figure if known."""
    places = list(range(len(rows)))
    axes.errorbar(
        [scaled(row[key], scale) for row in rows], places,
        xerr=[scaled(row[f"{key}_se"], scale) for row in rows],
        linestyle="none", marker="o", markersize=6, color=PIKL, elinewidth=1.2, capsize=3,
        label="kedge ± 1 s.e.",
    )  # fmt: skip
    paper = [row.get("paper") for row in rows]
    if any(known is not None for known in paper):
        by_paper(axes, [scaled(known, scale) for known in paper], places, linestyle="none")
    axes.set_yticks(places, names)
    axes.set_ylim(len(rows) - 0.4, -0.6)


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
    title = "MCTS against the model by itself"
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
    tidy(axes, title, "score against the model by itself, %", "gain in top-1, percentage points")
    axes.legend(frameon=False, fontsize=8.5, loc="lower left")


def by(rows: Rows, key: str) -> dict[str, list[Mapping[str, Any]]]:
    """Group rows by their value of `key`."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def legend_below(figure: "Figure", panels: Sequence["Axes"]) -> None:
    """Draw one legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries = {**dict(zip(labels, handles, strict=True)), **entries}
    if entries:
        figure.legend(
            entries.values(), entries.keys(), loc="outside lower center", ncols=2, frameon=False,
            fontsize=8.5,
        )  # fmt: skip


def scaled(value: float | None, scale: float) -> float:
    """The scaled value; NaN, which is not drawn, if it is unknown."""
    return float("nan") if value is None else scale * value


def _log_c_puct(axes: "Axes", values: Iterable[float]) -> None:
    """A log axis from the model to the search, with ticks at the measured values."""
    ticks = sorted(values, reverse=True)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.invert_xaxis()

"""Figures of the Hanabi tables."""

from typing import TYPE_CHECKING, Any

from kedge.paper.figures import Rows, by, legend_below, scaled
from kedge.paper.hanabi.published import IL
from kedge.paper.style import ANCHOR, EXACT, PIKL, RM, by_paper, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BESIDE = -0.4  # left of every λ


def draw_prediction(figure: "Figure", rows: Rows) -> None:
    """Draw a panel per subset: top-1 at each λ, ours and the paper's."""
    subsets = by(rows, "subset")
    panels = figure.subplots(1, len(subsets), squeeze=False, sharey=True)[0]
    for axes, (subset, group) in zip(panels, subsets.items(), strict=True):
        _line(axes, group, "top1", "top1_se", 100.0, color=PIKL, label="")
        axes.axhline(100 * group[-1]["top1"], color=ANCHOR, linewidth=1.0, linestyle="--")
        tidy(axes, subset, "λ, points", "top-1 accuracy, %" if axes is panels[0] else "")
    legend_below(figure, panels)


def draw_scores(figure: "Figure", rows: Rows) -> None:
    """Draw panels of sampled and greedy play: the score at each λ, with one or two searchers."""
    plays = by(rows, "play")
    panels = figure.subplots(1, len(plays), squeeze=False, sharey=True)[0]
    for axes, (play, group) in zip(panels, plays.items(), strict=True):
        lines = by([row for row in group if not row["is_exact"]], "searchers")
        [raw] = lines.pop("none")
        for (searchers, swept), colour in zip(lines.items(), (RM, PIKL), strict=True):
            _line(axes, [*swept, raw], "mean", "se", 1.0, color=colour, label=f", {searchers}")
        axes.axhline(raw["mean"], color=ANCHOR, linewidth=1.0, linestyle="--", zorder=1)
        for row in (row for row in group if row["is_exact"]):
            star: dict[str, Any] = {"color": EXACT, "markersize": 11, "zorder": 5}
            axes.plot([_BESIDE], [row["mean"]], "*", label="kedge, 1p, exact beliefs", **star)
            star |= {"markerfacecolor": "none"}
            axes.plot([_BESIDE], [row["paper"]], "*", label="the paper, 1p, exact beliefs", **star)
        tidy(axes, f"{play.capitalize()} play", "λ, points", "score" if axes is panels[0] else "")
    legend_below(figure, panels)


def draw_tradeoff(figure: "Figure", rows: Rows) -> None:
    """Draw accuracy over the score; each dot is a λ."""
    axes = figure.subplots()
    axes.errorbar(
        [row["mean"] for row in rows], [100 * row["top1"] for row in rows],
        xerr=[row["se"] for row in rows], yerr=[100 * row["top1_se"] for row in rows],
        color=PIKL, marker="o", markersize=6, linewidth=1.2, elinewidth=1.0, capsize=2,
        label="kedge ± 1 s.e.", zorder=3,
    )  # fmt: skip
    for label, at in _labels(rows):
        offset = (-4, -22) if "," in label else (7, 5)  # long labels would reach the next dot's
        axes.annotate(
            label, at, xytext=offset, textcoords="offset points", fontsize=8.5, color=PIKL
        )
    known = [row for row in rows if row["paper"] is not None and row["paper_score"] is not None]
    if known:
        by_paper(axes, [row["paper_score"] for row in known], [100 * row["paper"] for row in known])
    raw = rows[-1]
    axes.plot([raw["mean"]], [100 * raw["top1"]], "s", color=ANCHOR, markersize=7, zorder=5)
    axes.margins(x=0.1, y=0.12)
    title = "Predicting people, and scoring with one's like, by λ"
    tidy(axes, title, "score", "top-1 accuracy on human moves, %")
    legend_below(figure, [axes])


def _labels(rows: Rows) -> list[tuple[str, tuple[float, float]]]:
    """The label of each dot, its λ; dots that nearly coincide share one label."""
    labels: list[tuple[list[str], tuple[float, float]]] = []
    for row in rows:
        at = row["mean"], 100 * row["top1"]
        near = [ticks for ticks, (x, y) in labels if abs(x - at[0]) < 0.4 and abs(y - at[1]) < 1.0]
        if near:
            near[0].append(_tick(row["lambda"]))
        else:
            labels.append(([_tick(row["lambda"])], at))
    return [(", ".join(ticks), at) for ticks, at in labels]


def _line(
    axes: "Axes", rows: Rows, key: str, error: str, scale: float, *, color: str, label: str
) -> None:
    """Draw one measure over λ, ours and the paper's."""
    places = range(len(rows))
    axes.errorbar(
        places, [scale * row[key] for row in rows], yerr=[scale * row[error] for row in rows],
        color=color, marker="o", markersize=5, linewidth=1.4, elinewidth=1.0, capsize=2.5,
        label=f"kedge{label}",
    )  # fmt: skip
    if any(row["paper"] is not None for row in rows):
        paper = [scaled(row["paper"], scale) for row in rows]
        options: dict[str, Any] = {"color": color} if label else {}
        by_paper(axes, places, paper, label=f"the paper{label}", **options)
    axes.set_xticks(places, [_tick(row["lambda"]) for row in rows])
    axes.margins(x=0.08, y=0.12)


def _tick(lam: float) -> str:
    return "IL" if lam == IL else f"{lam:g}"

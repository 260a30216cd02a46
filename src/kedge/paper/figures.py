"""Parts of figures that several games share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kedge.paper.style import PIKL, by_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]


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

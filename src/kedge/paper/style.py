"""The style of the figures: palette, spines and labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIKL, EXACT, RM, HEDGE, ANCHOR = "#0072b2", "#222222", "#d55e00", "#009e73", "#999999"
#: Colours of models and other series, in order.
SERIES = ("#009e73", "#d55e00", "#0072b2", "#cc79a7", "#e69f00", "#56b4e9")


def tidy(axes: "Axes", title: str, x: str, y: str) -> None:
    """Set title and labels, and hide the upper and right spines."""
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def by_paper(axes: "Axes", x: Sequence[Any], y: Sequence[Any], **more: Any) -> None:
    """Plot the paper's figures as hollow diamonds; ours are dots."""
    axes.plot(
        x,
        y,
        marker="D",
        markersize=5.5,
        markerfacecolor="none",
        markeredgewidth=1.2,
        linewidth=1.0,
        zorder=4,
        **{"label": "the paper", "color": EXACT, "linestyle": ":", **more},
    )

"""How the figures look: one palette, thin spines, labels where the eye is."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIKL, EXACT, RM, HEDGE, ANCHOR = "#0072b2", "#222222", "#d55e00", "#009e73", "#999999"


def tidy(axes: "Axes", title: str, x: str, y: str) -> None:
    """Name what is shown and take away what is not."""
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)

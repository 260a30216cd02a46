"""The words of reviews: how they name the anchor, and how they write shares."""

from dataclasses import dataclass
from math import isnan


@dataclass(frozen=True)
class AnchorWords:
    """How a review names the anchor: people, people of a rating, or the anchor."""

    is_human: bool
    rating: int | str | None = None

    @property
    def name(self) -> str:
        if not self.is_human:
            return "the anchor"
        if self.rating is None:
            return "people"
        return f"{self.rating}{' players' if isinstance(self.rating, str) else 's'}"

    @property
    def heading(self) -> str:
        """The heading of a column of probabilities."""
        return self.name if self.is_human else "anchor"

    @property
    def moves_heading(self) -> str:
        """The heading of the column with the likeliest moves."""
        return "what they play" if self.is_human else "what it plays"

    @property
    def disagreements_heading(self) -> str:
        return f"Where search and {'people' if self.is_human else 'the anchor'} disagree most"

    @property
    def prefers(self) -> str:
        """The words before the likeliest move."""
        return "most play" if self.is_human else "the anchor prefers"

    def share(self, share: float) -> str:
        """Return how likely a move is."""
        return f"{percent(share)} {'of' if self.is_human else 'for'} {self.name}"


def percent(share: float) -> str:
    """Format a share in whole percent; only exact shares show as 0% or 100%."""
    if isnan(share):
        return "-"
    if 0.0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1.0 else f"{share:.0%}"

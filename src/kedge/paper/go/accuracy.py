"""Go in Table 1 and appendix C: does search predict professionals better?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kedge.paper.board import published
from kedge.paper.board.by_setting import CROSS_ENTROPY, BySetting, Measure
from kedge.paper.board.prediction import Bucket, Cell
from kedge.paper.go.prediction import GoPrediction
from kedge.paper.table_parts import Scores


@dataclass(frozen=True, kw_only=True)
class GoAccuracy(GoPrediction, BySetting):
    """Table 1: top-1 accuracy of a human model of Go, raw and with MCTS, on professionals."""

    name: ClassVar[str] = "go-accuracy"

    positions: int | None = 100  # about five minutes on two cores; a GPU can do all

    def bucket(self, model: str) -> Bucket:
        return self.years

    def published_as(self, model: str) -> str:
        return "go" if self.split == "test" else ""

    def notes(self, by_cell: Mapping[Cell, Scores], rows: Sequence[Any]) -> list[str]:
        earlier = ", ".join(f"{who} {top1:.1%}" for who, top1 in published.EARLIER_GO.items())
        return [
            *super().notes(by_cell, rows),
            *self.search_notes(),
            f"The paper's model is another, of 20 blocks with 256 channels, and its games are "
            f"GoGoD's, some 6,500 of 2015-2016. Earlier models alone, as it cites them: "
            f"{earlier}.",
        ]


@dataclass(frozen=True, kw_only=True)
class GoCrossEntropy(GoAccuracy):
    """Appendix C: cross-entropy of the smooth policy after MCTS; the same runs as Table 1's."""

    view: ClassVar[str] = "cross-entropy"
    measure: ClassVar[Measure] = CROSS_ENTROPY

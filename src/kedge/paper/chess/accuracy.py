"""Chess in Table 1 and appendix C: does search over a human model predict people better?"""

from dataclasses import dataclass
from typing import ClassVar

from kedge.paper.board.by_setting import CROSS_ENTROPY, BySetting, Measure
from kedge.paper.board.prediction import Bucket
from kedge.paper.chess.prediction import ChessPrediction, imitated_rating
from kedge.paper.table_parts import short_name


@dataclass(frozen=True, kw_only=True)
class ChessAccuracy(ChessPrediction, BySetting):
    """Table 1: top-1 accuracy of Maia, raw and with MCTS, on players of its own rating."""

    name: ClassVar[str] = "chess-accuracy"

    def bucket(self, model: str) -> Bucket:
        return imitated_rating(model)

    def published_as(self, model: str) -> str:
        return short_name(model)


@dataclass(frozen=True, kw_only=True)
class ChessCrossEntropy(ChessAccuracy):
    """Appendix C: cross-entropy of the smooth policy after MCTS; the same runs as Table 1's."""

    view: ClassVar[str] = "cross-entropy"
    measure: ClassVar[Measure] = CROSS_ENTROPY

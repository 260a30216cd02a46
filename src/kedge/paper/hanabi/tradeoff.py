"""The figure of appendix L: is search that outscores a human model still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kedge.experiments import Column, Experiment, Report, Table
from kedge.paper.hanabi.figures import draw_tradeoff
from kedge.paper.hanabi.prediction import HanabiMoves
from kedge.paper.hanabi.published import ALL, IL, SCORE_LAMBDAS
from kedge.paper.hanabi.score import Cell, HanabiGames
from kedge.paper.table_parts import titled


@dataclass(frozen=True, kw_only=True)
class HanabiTradeoff(HanabiMoves, HanabiGames):
    """Appendix L: top-1 accuracy on human moves and score of piKL-SPARTA (2p, sampled), by λ."""

    name: ClassVar[str] = "hanabi-tradeoff"

    lambdas: tuple[float, ...] = SCORE_LAMBDAS

    def cells(self) -> list[Cell]:
        return [*(Cell("2p", False, lam) for lam in self.lambdas), Cell("none", False, IL)]

    def parts(self) -> Mapping[str, Experiment]:
        return {**self.sweep(), **self.tables()}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        scores = {cell.lam: score for cell, score in self.scores(results).items()}
        predicted = self.rows(results, [ALL])
        rows = [
            {
                **row,
                **{key: scores[row["lambda"]][key] for key in ("mean", "se")},
                "matches": scores[row["lambda"]]["games"],
                "paper_score": scores[row["lambda"]]["paper"],
                "paper_score_se": scores[row["lambda"]]["paper_se"],
            }
            for row in predicted
        ]
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("top1", "top-1", ".1%", error="top1_se"),
                    Column("paper", "paper top-1", ".1%", error="paper_se"),
                    Column("gain", "against IL", "+.2%", error="gain_se"),
                    Column("matches", "games", ","),
                    Column("mean", "score", ".2f", error="se"),
                    Column("paper_score", "paper score", ".2f", error="paper_score_se"),
                ],
                rows,
            ),
            notes=[*self.move_notes(predicted, results), *self.game_notes()],
            draw=lambda figure: draw_tradeoff(figure, rows),
            figure_size=(6.4, 4.6),
        )

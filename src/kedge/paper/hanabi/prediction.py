"""Appendix L: does search over a human model still play like people in Hanabi?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kedge.evaluation.hanabi.prediction import LEAST_SCORES
from kedge.evaluation.prediction import GameScore, drawn_of, few_games
from kedge.experiments import Column, Experiment, Report, Table
from kedge.experiments.hanabi.predict import HanabiSweep
from kedge.paper.checks import check_counts
from kedge.paper.hanabi.agents import CAVEAT, HanabiTable
from kedge.paper.hanabi.figures import draw_prediction
from kedge.paper.hanabi.published import (
    ALL,
    GAMES_OF_10,
    GAMES_OF_20,
    IL,
    PREDICTION,
    PREDICTION_LAMBDAS,
    named,
)
from kedge.paper.table_parts import Scores, beside_paper, find_games, titled

USUAL_DATA = Path("data", "hanabi", "human_ai_2p.jsonl.xz")
_MOVES = "moves"  # the label of the only part
#: The least score of a game, by subset.
_SUBSETS = dict(zip((ALL, GAMES_OF_10, GAMES_OF_20), (None, *LEAST_SCORES), strict=True))


@dataclass(frozen=True, kw_only=True)
class HanabiMoves(HanabiTable):
    """Base of the tables that compare people's moves with those of a search at every λ.

    A position is searched once, since the values of its moves do not depend on λ.
    """

    data: str = ""
    positions: int | None = 200
    """Number of people's moves, drawn from all games; None is all."""
    everything: bool = False
    """Whether to keep games that models may learn from or be chosen by."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positions is not None:
            check_counts(positions=self.positions)

    def sweep(self) -> dict[str, HanabiSweep]:
        """The only part of the experiment."""
        data = find_games(self.data, USUAL_DATA, "JSON lines, or hanab.live's")
        return {
            _MOVES: HanabiSweep(
                agent=self.agent(1.0),
                lambdas=tuple(self.swept),
                data=(str(data),),
                limit=self.positions,
                drawn=self.positions is not None,
                everything=self.everything,
                device=self.device,
                dtype=self.dtype,
                seed=self.seed,
            )
        }

    def parts(self) -> Mapping[str, Experiment]:
        return self.sweep()

    def rows(
        self, results: Mapping[str, dict[str, Any]], subsets: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The rows of the table: every λ on each subset, and its gain over IL."""
        predicted = self.sweep()[_MOVES].predicted(self.by_part(results)[_MOVES])
        by_lambda = {lam: prediction.games for lam, prediction in predicted.items()}
        rows = []
        for subset in subsets:
            kept = {lam: _of(subset, games) for lam, games in by_lambda.items()}
            if not kept[IL]:
                continue
            scores = {lam: Scores.of(games) for lam, games in kept.items()}
            for lam, own in scores.items():
                means = own.summary()
                gain = {} if lam == IL else own.gain(scores[IL])
                rows.append(
                    {
                        "subset": subset,
                        "agent": named(lam),
                        "lambda": lam,
                        **{key: means[key] for key in ("games", "positions", "top1", "top1_se")},
                        "drawn": drawn_of(means),
                        "gain": gain.get("top1"),
                        "gain_se": gain.get("top1_se"),
                        **beside_paper(PREDICTION[subset].get(lam)),
                    }
                )
        return rows

    def move_notes(
        self, rows: Sequence[Mapping[str, Any]], results: Mapping[str, dict[str, Any]]
    ) -> list[str]:
        """The notes under each of these tables."""
        unsearched = sum(chunk["unsearched"] for chunk in self.by_part(results)[_MOVES].values())
        drawn = (
            "All moves" if self.positions is None else f"{self.positions:,} moves at most, drawn"
        )
        kept = "all games" if self.everything else "games of participants kept for testing"
        return [
            CAVEAT,
            f"{drawn} from {kept}: {rows[0]['positions']:,} moves of {rows[0]['games']:,} games. "
            f"± is one standard error, clustered by participant; differences are paired: the same "
            f"moves, searched once for all λ. Scores as the source counts them.",
            f"Before {unsearched:,} of the moves the belief was empty, and every λ is IL.",
            *few_games(row["drawn"] for row in rows),
        ]


@dataclass(frozen=True, kw_only=True)
class HanabiPrediction(HanabiMoves):
    """Appendix L: human moves that piKL-SPARTA predicts at each λ, by the score of the game."""

    name: ClassVar[str] = "hanabi-prediction"

    lambdas: tuple[float, ...] = PREDICTION_LAMBDAS

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = self.rows(results, list(_SUBSETS))
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("subset", "in"),
                    Column("agent"),
                    Column("positions", "moves", ","),
                    Column("top1", "top-1", ".1%", error="top1_se"),
                    Column("paper", "paper top-1", ".1%", error="paper_se"),
                    Column("gain", "against IL", "+.2%", error="gain_se"),
                ],
                rows,
            ),
            notes=[*self.move_notes(rows, results), self.search_note()],
            draw=lambda figure: draw_prediction(figure, rows),
            figure_size=(9.6, 3.4),
        )


def _of(subset: str, games: Sequence[GameScore]) -> list[GameScore]:
    least = _SUBSETS[subset]
    return [game for game in games if least is None or f"≥ {least}" in game.groups["score"]]

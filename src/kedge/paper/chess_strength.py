"""Appendix D's matches and Figure 1: how much stronger is search, and is that still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.experiments import Column, Report, Table, Task
from kedge.experiments.match import play_chess
from kedge.games.chess import ChessState
from kedge.paper import published
from kedge.paper.chess_accuracy import ChessAccuracy
from kedge.paper.figures import draw_tradeoff
from kedge.paper.prediction import beside, short_name, titled
from kedge.paper.strength import SearchStrength


@dataclass(frozen=True, kw_only=True)
class ChessStrength(SearchStrength):
    """Appendix D: the score of MCTS over Maia-1900 against the model by itself."""

    name: ClassVar[str] = "chess-strength"
    states: ClassVar[type] = ChessState

    models: tuple[str, ...] = ("maia-1900",)

    def play(
        self, players: tuple[Player, Player], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_chess(players, games, rng)

    def published(
        self, model: str, temperature: float, c_puct: float
    ) -> tuple[float | None, float | None]:
        if short_name(model) != "maia-1900" or self.playouts != 50:
            return None, None
        return published.STRENGTH.get(temperature, {}).get(c_puct, (None, None))


@dataclass(frozen=True, kw_only=True)
class ChessTradeoff(ChessAccuracy):
    """Figure 1: what MCTS does to top-1 accuracy and to strength, for each c_puct."""

    name: ClassVar[str] = "chess-tradeoff"

    models: tuple[str, ...] = ("maia-1900",)
    games: int = 1000
    chunk: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self._strength()

    def _strength(self) -> ChessStrength:
        return ChessStrength(
            models=self.models,
            c_puct=self.c_puct,
            playouts=self.playouts,
            temperatures=(1.0,),
            games=self.games,
            chunk=self.chunk,
            device=self.device,
            dtype=self.dtype,
            seed=self.seed,
        )

    def tasks(self) -> list[Task]:
        return super().tasks() + self._strength().tasks()

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        if "temperature" in task.params:
            return self._strength().run(task, rng)
        return super().run(task, rng)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        found = self.gather(results)
        strength = {(row["model"], row["c_puct"]): row for row in self._strength().rows(results)}
        rows, predicted = [], self.rows(found)
        for row in predicted:
            if row["c_puct"] is None:
                continue
            match = strength[row["model"], row["c_puct"]]
            rows.append(
                {
                    **{key: row[key] for key in ("model", "c_puct", "positions")},
                    **{key: row[key] for key in ("gain", "gain_se", "paper_gain")},
                    **{key: match[key] for key in ("games", "score", "score_se")},
                    "paper_score": match["paper"],
                    "paper_score_se": match["paper_se"],
                }
            )
        known = any(row["paper_score"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("model"),
                    Column("c_puct", format="g"),
                    Column("gain", "top-1 gain", "+.2%", error="gain_se"),
                    *beside(known, Column("paper_gain", "paper gain", "+.1%")),
                    Column("score", "score against raw", ".1%", error="score_se"),
                    *beside(
                        known,
                        Column("paper_score", "paper score", ".1%", error="paper_score_se"),
                    ),
                ],
                rows,
            ),
            notes=[
                *self.notes(found, predicted),
                f"Score: MCTS against the model by itself, {self.games:,} games at temperature 1, "
                f"draws as half a win.",
            ],
            draw=lambda figure: draw_tradeoff(figure, rows),
            figure_size=(6.4, 4.6),
        )

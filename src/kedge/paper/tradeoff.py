"""Figure 1: is search that beats a human model still human?"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.experiments import Column, Report, Table, Task
from kedge.paper.by_setting import BySetting
from kedge.paper.figures import draw_tradeoff
from kedge.paper.prediction import beside, titled
from kedge.paper.strength import SearchStrength


@dataclass(frozen=True, kw_only=True)
class Tradeoff(BySetting):
    """Base of what sets accuracy beside strength, for each c_puct."""

    games: int = 1000
    chunk: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self.strength()

    @abstractmethod
    def strength(self) -> SearchStrength:
        """The matches."""

    def matches(self) -> dict[str, Any]:
        """The fields that they have in common with the predictions."""
        names = ("models", "c_puct", "playouts", "games", "chunk", "device", "dtype", "seed")
        return {"temperatures": (1.0,), **{name: getattr(self, name) for name in names}}

    def tasks(self) -> list[Task]:
        return super().tasks() + self.strength().tasks()

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        if "temperature" in task.params:
            return self.strength().run(task, rng)
        return super().run(task, rng)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        found = self.gather(results)
        strength = {(row["model"], row["c_puct"]): row for row in self.strength().rows(results)}
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

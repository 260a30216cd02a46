"""Figure 1: is search that beats a human model still human?"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kedge.experiments import Column, Experiment, Report, Table, Task
from kedge.experiments.composite import Composite
from kedge.paper.board.by_setting import BySetting
from kedge.paper.board.figures import draw_tradeoff
from kedge.paper.board.strength import SearchStrength
from kedge.paper.table_parts import beside, titled

_TEMPERATURE = 1.0  # of the matches in the figure
_MATCHES = "matches"  # the label of their part


@dataclass(frozen=True, kw_only=True)
class Tradeoff(Composite, BySetting):
    """Base of the figures of accuracy and strength for each c_puct; it shares tasks with both
    tables."""

    games: int = 1000
    chunk: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self.strength()

    @abstractmethod
    def strength(self) -> SearchStrength:
        """The matches."""

    def shared_fields(self, kind: type[Experiment]) -> dict[str, Any]:
        """The values of the fields that `kind` shares with this experiment."""
        own = {field.name for field in fields(self)}
        return {
            field.name: getattr(self, field.name) for field in fields(kind) if field.name in own
        }

    def matches(self) -> dict[Any, Experiment]:
        """The matches as a part, beside those that predict."""
        return {_MATCHES: self.strength()}

    def needs(self, part: Any, task: Task) -> bool:
        return part != _MATCHES or float(task.params["temperature"]) == _TEMPERATURE

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        cells = self.gather(results)
        matches = self.strength().rows(self.by_part(results)[_MATCHES], (_TEMPERATURE,))
        strength = {(row["model"], row["c_puct"]): row for row in matches}
        rows, predicted = [], self.rows(cells)
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
                *self.notes(cells, predicted),
                f"Score: MCTS against the model alone, {self.games:,} games at temperature "
                f"{_TEMPERATURE:g}, "
                f"draws as half a win.",
            ],
            draw=lambda figure: draw_tradeoff(figure, rows),
            figure_size=(6.4, 4.6),
        )

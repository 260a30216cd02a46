"""Tables of models, raw and with MCTS at every c_puct, for any game and measure."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kedge.experiments import Column, Report, Table
from kedge.paper.board import published
from kedge.paper.board.figures import draw_settings
from kedge.paper.board.prediction import Bucket, Cell, SearchPrediction
from kedge.paper.board.published import Setting
from kedge.paper.checks import check_distinct, check_positive
from kedge.paper.table_parts import Scores, beside, short_name, titled


@dataclass(frozen=True)
class Measure:
    """The measure of a table: a key of `Scores.summary`, and how to show it."""

    key: str
    title: str
    format: str
    gain_format: str
    better: Callable[[Iterable[float]], float]
    paper: Mapping[str, Mapping[Setting, float]]
    paper_se: str


ACCURACY = Measure("top1", "top-1", ".1%", "+.2%", max, published.ACCURACY, "0.1% or less")
CROSS_ENTROPY = Measure(
    "cross_entropy", "nats", ".3f", "+.4f", min, published.CROSS_ENTROPY, "0.0033 at most"
)


@dataclass(frozen=True, kw_only=True)
class BySetting(SearchPrediction):
    """Base of the tables that compare every c_puct with the model alone."""

    measure: ClassVar[Measure] = ACCURACY

    c_puct: tuple[float, ...] = (10.0, 5.0, 2.0, 1.0, 0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(c_puct=self.c_puct)
        check_distinct(c_puct=self.c_puct)

    @abstractmethod
    def bucket(self, model: str) -> Bucket:
        """The players whom a model predicts."""

    @abstractmethod
    def published_as(self, model: str) -> str:
        """The key of the paper's figures for this model in `published`."""

    @abstractmethod
    def notes(self, by_cell: Mapping[Cell, Scores], rows: Sequence[Any]) -> list[str]:
        """The notes under the table."""

    def cells(self) -> list[Cell]:
        return [
            Cell(model, self.bucket(model), setting)
            for model in self.models
            for setting in (None, *self.c_puct)
        ]

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        measure = self.measure
        cells = self.gather(results)
        rows = self.rows(cells)
        known = any(row["paper"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("model"),
                    Column("bucket", "predicting"),
                    Column("setting", "c_puct"),
                    Column(measure.key, measure.title, measure.format, error=f"{measure.key}_se"),
                    *beside(known, Column("paper", f"paper {measure.title}", measure.format)),
                    Column("gain", "against raw", measure.gain_format, error="gain_se"),
                    *beside(known, Column("paper_gain", "paper gain", f"+{measure.format}")),
                    Column("best"),
                ],
                rows,
            ),
            notes=[
                *self.notes(cells, rows),
                *([f"The paper's standard errors are about {measure.paper_se}."] if known else []),
            ],
            draw=lambda figure: draw_settings(figure, rows, measure.key),
            figure_size=(3.0 * max(2, len(self.models)), 3.4),
        )

    def rows(self, by_cell: Mapping[Cell, Scores]) -> list[dict[str, Any]]:
        """The rows of the table: every setting, with its gain and the paper's figure."""
        key = self.measure.key
        rows = []
        for model in self.models:
            known = self.measure.paper.get(self.published_as(model), {})
            paper = known if self.playouts == 50 else {}
            cells = [cell for cell in by_cell if cell.model == model]
            summaries = {cell: by_cell[cell].summary() for cell in cells}
            best = self.measure.better(summary[key] for summary in summaries.values())
            for cell, summary in summaries.items():
                gain = by_cell[cell].gain(by_cell[cell.raw]) if cell.c_puct is not None else {}
                published_gain = (
                    paper[cell.c_puct] - paper[None] if gain and cell.c_puct in paper else None
                )
                rows.append(
                    {
                        "model": short_name(model),
                        "bucket": cell.bucket,
                        "setting": "raw" if cell.c_puct is None else f"{cell.c_puct:g}",
                        "c_puct": cell.c_puct,
                        "games": summary["games"],
                        "positions": summary["positions"],
                        key: summary[key],
                        f"{key}_se": summary[f"{key}_se"],
                        "paper": paper.get(cell.c_puct),
                        "gain": gain.get(key),
                        "gain_se": gain.get(f"{key}_se"),
                        "paper_gain": published_gain,
                        "best": "best" if summary[key] == best else "",
                    }
                )
        return rows

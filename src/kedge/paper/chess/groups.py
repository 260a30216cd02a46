"""Figure 2 and the table of appendix D: whom does search help to predict, and when?"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kedge.errors import InputError
from kedge.experiments import Column, Report, Table
from kedge.paper.board import published
from kedge.paper.board.prediction import Cell, one_per_model
from kedge.paper.checks import check_counts, check_distinct, check_positive
from kedge.paper.chess.figures import draw_by_rating, draw_by_time_control
from kedge.paper.chess.prediction import ChessPrediction, imitated_rating
from kedge.paper.table_parts import Scores, beside, short_name, titled


@dataclass(frozen=True, kw_only=True)
class BestSearch(ChessPrediction):
    """Base of the tables that compare each model's best c_puct with the model alone."""

    best: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(best=self.best)
        one_per_model("best", self.best, self.models)

    @abstractmethod
    def buckets_of(self, model: str) -> tuple[int, ...]:
        """The buckets of players whom a model predicts."""

    @abstractmethod
    def rows(self, cell: Cell, searched: Scores, raw: Scores) -> list[dict[str, Any]]:
        """The rows of the table for a cell with search; each begins with `_row`."""

    def cells(self) -> list[Cell]:
        return [
            Cell(model, bucket, setting)
            for model, c_puct in one_per_model("best", self.best, self.models).items()
            for bucket in self.buckets_of(model)
            for setting in (None, c_puct)
        ]

    def searched(self, by_cell: Mapping[Cell, Scores]) -> list[dict[str, Any]]:
        """All rows of the table."""
        return [
            row
            for cell, scores in by_cell.items()
            if cell.c_puct is not None
            for row in self.rows(cell, scores, by_cell[cell.raw])
        ]


@dataclass(frozen=True, kw_only=True)
class ChessByRating(BestSearch):
    """Figure 2: top-1 accuracy of every model on every rating, raw and with its best c_puct."""

    name: ClassVar[str] = "chess-by-rating"

    best: tuple[float, ...] = (5.0, 5.0, 2.0)
    buckets: tuple[int, ...] = tuple(range(1100, 2000, 100))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_distinct(buckets=self.buckets)
        for bucket in self.buckets:
            if bucket <= 0 or bucket % 100:
                raise InputError(f"buckets: multiples of 100 such as 1500, not {bucket}")

    def buckets_of(self, model: str) -> tuple[int, ...]:
        return self.buckets

    def rows(self, cell: Cell, searched: Scores, raw: Scores) -> list[dict[str, Any]]:
        own = "own" if cell.bucket == imitated_rating(cell.model) else ""
        return [{**_row(cell), "own": own, **_compared(searched, raw)}]

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        cells = self.gather(results)
        rows = self.searched(cells)
        return Report(
            title=titled(self),
            table=Table([*_WHO, Column("own", "its own"), *_COMPARED], rows),
            notes=self.notes(cells, rows),
            draw=lambda figure: draw_by_rating(figure, rows),
            figure_size=(9.0, 4.2),
        )


@dataclass(frozen=True, kw_only=True)
class ChessByTimeControl(BestSearch):
    """Appendix D: what search adds to top-1 accuracy, by the time control of the games."""

    name: ClassVar[str] = "chess-by-time-control"

    models: tuple[str, ...] = ("maia-1500", "maia-1900")
    sources: tuple[str, ...] = ()  # sources with many players hardly vary the time control
    best: tuple[float, ...] = (5.0, 2.0)
    fewest: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(fewest=self.fewest)

    def buckets_of(self, model: str) -> tuple[int, ...]:
        return (imitated_rating(model),)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        cells = self.gather(results)
        rows = self.searched(cells)
        known = any(row["paper_gain"] is not None for row in rows)
        most = max(Counter(row["model"] for row in rows).values(), default=0)
        return Report(
            title=titled(self),
            table=Table(
                [
                    *_WHO,
                    Column("time_control", "min + s"),
                    Column("games", format=","),
                    *_COMPARED,
                    *beside(known, Column("paper_gain", "paper gain", "+.1%")),
                    Column("players", format=","),
                    Column("busiest", "busiest in", ".0%"),
                ],
                rows,
            ),
            notes=[
                *self.notes(cells, rows),
                f"Left out: time controls with fewer than {self.fewest} games, and games that do "
                f"not tell theirs. Busiest in: the share of the games that one and the same "
                f"person plays in. Where it is high, the row is about that person, and its "
                f"standard error, which takes games for independent, is too small.",
            ],
            draw=lambda figure: draw_by_time_control(figure, rows),
            figure_size=(9.0, 1.6 + 0.3 * max(4, most)),
        )

    def rows(self, cell: Cell, searched: Scores, raw: Scores) -> list[dict[str, Any]]:
        name = short_name(cell.model)
        paper = published.BY_TIME_CONTROL.get(name, {}) if self.playouts == 50 else {}
        controls = searched.labels["time_control"]
        count = Counter(each for each in controls if re.fullmatch(r"\d{1,6}\+\d{1,4}", each or ""))
        frequent = [control for control in count if count[control] >= self.fewest]
        rows = []
        for control in sorted(frequent, key=_seconds):
            chosen = [number for number, each in enumerate(controls) if each == control]
            part = searched.only(chosen)
            paper_gain, paper_se = paper.get(control, (None, None))
            rows.append(
                {
                    **_row(cell),
                    "time_control": _as_players_say(control),
                    **_compared(part, raw.only(chosen)),
                    "paper_gain": paper_gain,
                    "paper_se": paper_se,
                    **_busiest(part),
                }
            )
        return rows


_WHO = (
    Column("model"),
    Column("c_puct", format="g"),
    Column("bucket", "predicting"),
)
_COMPARED = (
    Column("raw", format=".1%", error="raw_se"),
    Column("mcts", "MCTS", ".1%", error="mcts_se"),
    Column("gain", format="+.2%", error="gain_se"),
)


def _row(cell: Cell) -> dict[str, Any]:
    return {"model": short_name(cell.model), "c_puct": cell.c_puct, "bucket": cell.bucket}


def _compared(searched: Scores, raw: Scores) -> dict[str, Any]:
    """Top-1 of both, and the paired gain."""
    parts = {"raw": raw.summary(), "mcts": searched.summary(), "gain": searched.gain(raw)}
    return {
        "games": parts["raw"]["games"],
        "positions": parts["raw"]["positions"],
        **{
            f"{name}{end}": part[f"top1{end}"]
            for name, part in parts.items()
            for end in ("", "_se")
        },
    }


def _busiest(scores: Scores) -> dict[str, Any]:
    """The number of players in these games, and the largest share of games of one of them."""
    pairs = scores.labels["players"]
    count = Counter(player for pair in pairs for player in pair if player is not None)
    share = max(count.values()) / len(pairs) if count else None
    return {"players": len(count) or None, "busiest": share}


def _seconds(control: str) -> tuple[int, int]:
    """Sort key: the time for 40 moves, Lichess's estimate; then the increment."""
    base, increment = map(int, control.split("+"))
    return base + 40 * increment, increment


def _as_players_say(control: str) -> str:
    """A time control in minutes and seconds: "180+2" becomes "3+2"."""
    base, increment = control.split("+")
    return f"{int(base) / 60:g}+{increment}"

"""The base of the Go prediction tables: moves of professionals in the paper's test years."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kedge.evaluation.prediction import few_games
from kedge.experiments import Experiment
from kedge.experiments.composite import Composite
from kedge.experiments.go.predict import GoPredict
from kedge.paper.board.prediction import Cell, HumanPrediction
from kedge.paper.table_parts import Scores
from kedge.records.go.games import years_words
from kedge.records.go.positions import GoSplit, go_sieve


@dataclass(frozen=True, kw_only=True)
class GoPrediction(Composite, HumanPrediction):
    """Base of the tables on professional Go games, by year."""

    game: ClassVar[str] = "go"
    usual_data: ClassVar[Path] = Path("data", "go", "cwi_pro_games.tsv.xz")
    data_kinds: ClassVar[str] = "SGF, an archive of it, or a table"

    models: tuple[str, ...] = ("go",)
    split: GoSplit = "test"

    def __post_init__(self) -> None:
        super().__post_init__()
        go_sieve(self.split)

    @property
    def years(self) -> str:
        """The years of the games."""
        return "all years" if self.split == "all" else years_words(self.split)

    def parts(self) -> Mapping[Any, Experiment]:
        return {cell: self.prediction(cell) for cell in self.cells()}

    def prediction(self, cell: Cell) -> GoPredict:
        """The experiment of a cell. All cells have the same moves."""
        return GoPredict(agent=str(self.agent(cell)), **self.moves())

    def moves(self) -> dict[str, Any]:
        """The fields of `GoPredict` that all cells share."""
        return {
            "data": (str(self.file()),),
            "split": self.split,
            "limit": self.positions,
            "drawn": self.positions is not None,
            "device": self.device,
            "dtype": self.dtype,
            "seed": self.seed,
        }

    def gather(self, results: Mapping[str, dict[str, Any]]) -> dict[Cell, Scores]:
        parts = self.by_part(results)
        return {
            cell: Scores.of(
                GoPredict.joined(chunk["games"] for chunk in parts[cell].values()).games
            )
            for cell in self.cells()
        }

    def notes(self, by_cell: Mapping[Cell, Scores], rows: Sequence[Any]) -> list[str]:
        """The notes under each of these tables."""
        sums = next(iter(by_cell.values())).sums
        drawn = "All moves" if self.positions is None else f"Moves drawn by seed {self.seed}"
        even = "" if self.split == "all" else "even "
        return [
            f"{drawn} from {even}games of {self.years}: {int(sums[:, 0].sum()):,} moves "
            f"of {len(sums):,} games.",
            *few_games(row["games"] for row in rows),
        ]

"""The base of the prediction tables: models and searches predict the same human moves."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, ClassVar

from kedge.errors import InputError
from kedge.experiments import Experiment
from kedge.models.devices import Dtype
from kedge.paper.board.published import Setting
from kedge.paper.checks import check_counts, check_distinct
from kedge.paper.table_parts import Scores, find_games
from kedge.specs import Spec, parse

#: The players of a cell: the lowest rating of a bucket, or the name of a set of games.
Bucket = int | str


@dataclass(frozen=True)
class Cell:
    """One figure of a table: a model, alone or with search, on the players of one bucket."""

    model: str
    bucket: Bucket
    c_puct: Setting

    def __str__(self) -> str:
        setting = "raw" if self.c_puct is None else f"c_puct {self.c_puct:g}"
        return f"{self.model} {setting} on {self.bucket}"

    @property
    def raw(self) -> "Cell":
        """The same cell without search."""
        return Cell(self.model, self.bucket, None)


@dataclass(frozen=True, kw_only=True)
class HumanPrediction(Experiment):
    """Base of the tables that compare human moves with those of a model and of MCTS over it."""

    #: Name of the game.
    game: ClassVar[str]
    #: Where human games are under ``$KEDGE_DATA``, and what else may be given.
    usual_data: ClassVar[Path]
    data_kinds: ClassVar[str]

    models: tuple[str, ...]
    data: str = ""
    positions: int | None = None
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        check_distinct(models=self.models)
        if self.positions is not None:
            check_counts(positions=self.positions)

    @abstractmethod
    def cells(self) -> list[Cell]:
        """All cells to measure."""

    @abstractmethod
    def gather(self, results: Mapping[str, dict[str, Any]]) -> dict[Cell, Scores]:
        """The scores of every cell, on the same games in the same order."""

    def file(self) -> Path:
        """The file of human games."""
        return find_games(self.data, self.usual_data, self.data_kinds)

    def agent(self, cell: Cell) -> Spec:
        """The agent of a cell."""
        return parse(cell.model)


@dataclass(frozen=True, kw_only=True)
class SearchPrediction(HumanPrediction):
    """Base of the tables in which some cells are MCTS over a model."""

    playouts: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(playouts=self.playouts)

    def agent(self, cell: Cell) -> Spec:
        return agent_spec(cell.model, cell.c_puct, self.playouts)

    def search_notes(self) -> list[str]:
        """The notes on MCTS and its gain."""
        return [
            f"MCTS with {self.playouts} playouts. ± is one standard error, clustered by game; "
            f"differences are paired: the same moves, with and without search."
        ]


def agent_spec(model: str, c_puct: Setting, playouts: int) -> Spec:
    """The spec of a model alone, or of MCTS over it."""
    if c_puct is None:
        return parse(model)
    # As people write it: `kedge predict` with "c_puct=2" and a table share their run.
    written = int(c_puct) if float(c_puct).is_integer() else c_puct
    return Spec("puct", (parse(model),), {"c_puct": written, "playouts": playouts})


def one_per_model(name: str, values: Sequence[float], models: Sequence[str]) -> dict[str, float]:
    """`values` by model; a single value is used for all models."""
    if len(values) not in (1, len(models)):
        raise InputError(
            f"{name}: one number, or one for each of the {len(models)} models, not {len(values)}"
        )
    return dict(zip(models, values if len(values) > 1 else cycle(values), strict=False))

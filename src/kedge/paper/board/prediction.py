"""The base of the prediction tables: models and searches predict the same human moves.

A task is one model, with or without search, on a shard of the games of one bucket. Its result has
sums for each game, so that reports can pool, split and pair games, with standard errors clustered
by game.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Predictor
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction
from kedge.experiments import Experiment, Task
from kedge.experiments.fingerprints import record_hashes, weight_hashes
from kedge.experiments.players import player_on
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
    shards: int = 8
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        check_distinct(models=self.models)
        check_counts(shards=self.shards)
        if self.positions is not None:
            check_counts(positions=self.positions)

    @abstractmethod
    def cells(self) -> list[Cell]:
        """All cells to measure."""

    @abstractmethod
    def sample(self, bucket: Bucket) -> Sequence[Any]:
        """The games of one bucket, the same in every task."""

    @abstractmethod
    def predict(self, games: Sequence[Any], player: Predictor) -> Prediction:
        """Score `player` on what people played in these games, each of which has something."""

    @abstractmethod
    def labels(self, games: Sequence[Any]) -> dict[str, list[Any]]:
        """Labels of games for reports: under each name, one value per game."""

    def file(self) -> Path:
        """The file of human games."""
        return find_games(self.data, self.usual_data, self.data_kinds)

    def agent(self, cell: Cell) -> Spec:
        """The agent of a cell."""
        return parse(cell.model)

    def score(self, cell: Cell, games: Sequence[Any]) -> Prediction:
        """How well a cell's agent does on games."""
        player = player_on(self.device, self.dtype, self.agent(cell), self.game)
        return self.predict(games, player)

    def inputs(self) -> dict[str, Any]:
        return {
            "files": record_hashes([self.file()], self.game),
            "weights": weight_hashes(*self.models),
        }

    def check(self) -> None:
        for model in self.models:
            player_on(self.device, self.dtype, model, self.game)

    def tasks(self) -> list[Task]:
        return [_task(cell, shard) for cell in self.cells() for shard in range(self.shards)]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        cell, shard = Cell(**task.params["cell"]), task.params["shard"]
        games = self.sample(cell.bucket)[shard :: self.shards]
        sums = np.empty((0, len(SUMS)))
        if games:
            prediction = self.score(cell, games)
            sums = np.array([game.sums for game in prediction.games])
        return {**dict(zip(SUMS, sums.T.tolist(), strict=True)), **self.labels(games)}

    def gather(self, results: Mapping[str, Mapping[str, Any]]) -> dict[Cell, Scores]:
        """Join the shards of every cell."""
        cells = {
            cell: Scores.from_shards([results[_task(cell, k).key] for k in range(self.shards)])
            for cell in self.cells()
        }
        if not any(len(scores.sums) for scores in cells.values()):
            raise InputError("the filters leave no position; give other data or sources")
        return cells


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
    return Spec("puct", (parse(model),), {"c_puct": c_puct, "playouts": playouts})


def one_per_model(name: str, values: Sequence[float], models: Sequence[str]) -> dict[str, float]:
    """`values` by model; a single value is used for all models."""
    if len(values) not in (1, len(models)):
        raise InputError(
            f"{name}: one number, or one for each of the {len(models)} models, not {len(values)}"
        )
    return dict(zip(models, values if len(values) > 1 else cycle(values), strict=False))


def _task(cell: Cell, shard: int) -> Task:
    setting = "raw" if cell.c_puct is None else f"c_puct {cell.c_puct:g}"
    key = f"{cell.model} {setting} on {cell.bucket} shard {shard}"
    return Task(key, {"cell": asdict(cell), "shard": shard})

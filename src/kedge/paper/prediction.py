"""What the tables on prediction share: models and searches that predict the same human moves.

A task is one model, with or without search, on a shard of the games of one bucket. Its result is
summed game by game, so that reports can pool, split and pair as they like, with standard errors
clustered by game.
"""

import os
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path, PurePath
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Predictor
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction, clustered, summary
from kedge.experiments import Column, Experiment, Task
from kedge.experiments.fingerprints import files_of, weight_hashes
from kedge.experiments.players import player_on
from kedge.models.board.backends import Dtype
from kedge.paper.published import Setting
from kedge.paper.settings import check_counts, check_distinct
from kedge.regularize import Array
from kedge.specs import Spec, parse

#: Whom a cell is about: players from a rating on, or a set of games by its name.
Bucket = int | str


@dataclass(frozen=True)
class Cell:
    """One figure of a table: a model, by itself or with search, on the players of one bucket."""

    model: str
    bucket: Bucket
    c_puct: Setting

    @property
    def raw(self) -> "Cell":
        """The same without search."""
        return Cell(self.model, self.bucket, None)


@dataclass(frozen=True, kw_only=True)
class HumanPrediction(Experiment):
    """Base of the tables that compare human moves with those of a model and of MCTS over it."""

    #: Of the game that is played.
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
        """What is measured."""

    @abstractmethod
    def sample(self, bucket: Bucket) -> Sequence[Any]:
        """The games of one bucket, the same in every task."""

    @abstractmethod
    def predict(self, games: Sequence[Any], player: Predictor) -> Prediction:
        """Score `player` on what people played in these games, each of which has something."""

    @abstractmethod
    def labels(self, games: Sequence[Any]) -> dict[str, list[Any]]:
        """What reports tell of games, one value a game under each name."""

    def file(self) -> Path:
        """Where the human games are."""
        return find_games(self.data, self.usual_data, self.data_kinds)

    def agent(self, cell: Cell) -> Spec:
        """Who is measured."""
        return parse(cell.model)

    def score(self, cell: Cell, games: Sequence[Any]) -> Prediction:
        """How well a cell's agent does on games."""
        player = player_on(self.device, self.dtype, self.agent(cell), self.game)
        return self.predict(games, player)

    def inputs(self) -> dict[str, Any]:
        return {"files": files_of([self.file()]), "weights": weight_hashes(*self.models)}

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
            found = self.score(cell, games)
            sums = np.array([game.sums for game in found.games])
        return {**dict(zip(SUMS, sums.T.tolist(), strict=True)), **self.labels(games)}

    def gather(self, results: Mapping[str, Mapping[str, Any]]) -> dict[Cell, "Scores"]:
        """The shards of every cell put together."""
        found = {
            cell: Scores.joined([results[_task(cell, k).key] for k in range(self.shards)])
            for cell in self.cells()
        }
        if not any(len(scores.sums) for scores in found.values()):
            raise InputError("no position is left by the filters: give other data or sources")
        return found


@dataclass(frozen=True, kw_only=True)
class SearchPrediction(HumanPrediction):
    """Base of those in which some cells are MCTS over a model."""

    playouts: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(playouts=self.playouts)

    def agent(self, cell: Cell) -> Spec:
        return agent_spec(cell.model, cell.c_puct, self.playouts)

    def search_notes(self) -> list[str]:
        """What a reader must know of MCTS and of what it gains."""
        return [
            f"MCTS with {self.playouts} playouts. ± is one standard error, clustered by game; "
            f"differences are paired: the same moves, with and without search."
        ]


@dataclass(frozen=True)
class Scores:
    """How well one agent predicted each game, and what is known of the game."""

    sums: Array  # (games, 4): `SUMS` of each
    labels: Mapping[str, Sequence[Any]]

    @classmethod
    def joined(cls, parts: Sequence[Mapping[str, Any]]) -> "Scores":
        def column(name: str) -> list[Any]:
            return [value for part in parts for value in part[name]]

        sums = np.array([column(name) for name in SUMS], np.float64).T
        labels = {name: column(name) for name in parts[0] if name not in SUMS}
        return cls(sums, labels)

    def summary(self) -> dict[str, Any]:
        """Means and their standard errors, clustered by game."""
        return summary(self.sums)

    def gain(self, raw: "Scores") -> dict[str, Any]:
        """The same of the difference to `raw`, on the same positions."""
        if not np.array_equal(self.sums[:, 0], raw.sums[:, 0]):
            raise InputError(
                "the games changed between tasks: kedge experiments clean, and run again"
            )
        off = self.sums - raw.sums
        off[:, 0] = raw.sums[:, 0]
        return clustered(off)

    def only(self, numbers: Sequence[int]) -> "Scores":
        """Of these games."""
        labels = {name: [values[k] for k in numbers] for name, values in self.labels.items()}
        return Scores(self.sums[list(numbers)], labels)


def find_games(data: str, usual: Path, kinds: str) -> Path:
    """The file `data`, or the games that are usual under ``$KEDGE_DATA``."""
    advice = f"give human games ({kinds}) by --data FILE"
    if data:
        path = Path(data)
    elif root := os.environ.get("KEDGE_DATA"):
        path = Path(root) / usual
    else:
        raise InputError(f"KEDGE_DATA is not set: {advice}")
    if not path.is_file():
        raise InputError(f"{path}: no such file; {advice}")
    return path


def agent_spec(model: str, c_puct: Setting, playouts: int) -> Spec:
    """The model by itself, or MCTS over it."""
    if c_puct is None:
        return parse(model)
    return Spec("puct", (parse(model),), {"c_puct": c_puct, "playouts": playouts})


def short_name(model: str) -> str:
    """A model as tables show it: of a path, the name of the file."""
    spec = parse(model)
    stem = PurePath(spec.name).name.partition(".")[0]
    return str(Spec(stem, spec.args, spec.kwargs))


def titled(experiment: Any) -> str:
    """What its class says of itself, with the models that were measured in place of Maia."""
    told = (type(experiment).__doc__ or "").strip()
    names = [short_name(model) for model in experiment.models]
    if all(re.fullmatch(r"maia-\d+", name) for name in names):
        names = [name.capitalize() for name in names] if "Maia-" in told else ["Maia"]
    return re.sub(r"Maia(-\d+)?", lambda _: ", ".join(names), told)


def beside(known: bool, column: Column) -> list[Column]:
    """A column for the paper's figures, if one of them is known."""
    return [column] if known else []


def beside_paper(known: tuple[float, float] | None) -> dict[str, float | None]:
    """The paper's figure in a row, and its standard error."""
    mean, error = known or (None, None)
    return {"paper": mean, "paper_se": error}


def one_a_model(name: str, values: Sequence[float], models: Sequence[str]) -> dict[str, float]:
    """`values` by model; a single one is everybody's."""
    if len(values) not in (1, len(models)):
        raise InputError(f"{name}: one number, or one for each of the {len(models)} models")
    return dict(zip(models, values if len(values) > 1 else cycle(values), strict=False))


def _task(cell: Cell, shard: int) -> Task:
    setting = "raw" if cell.c_puct is None else f"c_puct {cell.c_puct:g}"
    key = f"{cell.model} {setting} on {cell.bucket} shard {shard}"
    return Task(key, {"cell": asdict(cell), "shard": shard})

"""What the chess tables share: models and searches that predict the same human moves.

A task is one model, with or without search, on a shard of the games of one rating bucket. Its
result is summed game by game, so that reports can pool, split and pair as they like, with standard
errors clustered by game.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from kedge.agents.networks import Dtype
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, clustered, few_games, predict, summary
from kedge.experiments import Column, Experiment, Task
from kedge.experiments.fingerprints import files_of, weights_of
from kedge.experiments.players import player_on
from kedge.paper.chess_sample import check_games, default_sources, draw_games, find_games
from kedge.paper.published import Setting
from kedge.paper.settings import check_counts, check_distinct
from kedge.records import ChessGame, positions
from kedge.records.filters import MAIA
from kedge.regularize import Array
from kedge.specs import Spec, parse

_WIDTH = 100  # rating points in a bucket
_RATINGS = range(600, 3001)  # beyond them a number in a name is something else


@dataclass(frozen=True)
class Cell:
    """One figure of a table: a model, by itself or with search, on the players of one bucket."""

    model: str
    bucket: int
    c_puct: Setting

    @property
    def raw(self) -> "Cell":
        """The same without search."""
        return Cell(self.model, self.bucket, None)


@dataclass(frozen=True, kw_only=True)
class ChessPrediction(Experiment):
    """Base of the tables that compare human moves with those of a model and of MCTS over it."""

    models: tuple[str, ...] = ("maia-1100", "maia-1500", "maia-1900")
    playouts: int = 50
    data: str = ""
    sources: tuple[str, ...] | None = None
    """Of games that name one; None is those of many players under ``$KEDGE_DATA``, else all."""
    positions: int | None = None
    shards: int = 8
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        check_distinct(models=self.models)
        check_counts(playouts=self.playouts, shards=self.shards)
        if self.positions is not None:
            check_counts(positions=self.positions)
        for model in self.models:
            rating_of(model)

    @abstractmethod
    def cells(self) -> list[Cell]:
        """What is measured."""

    def inputs(self) -> dict[str, Any]:
        return {"files": files_of([find_games(self.data)]), "weights": weights_of(*self.models)}

    def check(self) -> None:
        for model in self.models:
            player_on(self.device, self.dtype, model)
        path = find_games(self.data)
        check_games(path, self._buckets(), self._sources(path))

    def tasks(self) -> list[Task]:
        return [_task(cell, shard) for cell in self.cells() for shard in range(self.shards)]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        cell, shard = Cell(**task.params["cell"]), task.params["shard"]
        path = find_games(self.data)
        drawn = draw_games(path, self._buckets(), self._sources(path), self.positions, self.seed)
        games = drawn[cell.bucket][shard :: self.shards]
        if not games:
            return _columns([], [])
        agent = agent_spec(cell.model, cell.c_puct, self.playouts)
        player = player_on(self.device, self.dtype, agent)
        prediction = predict(list(positions(games, MAIA)), player)
        return _columns(games, [game.sums.sum(axis=0).tolist() for game in prediction.games])

    def _buckets(self) -> tuple[int, ...]:
        return tuple(sorted({cell.bucket for cell in self.cells()}))

    def _sources(self, path: Path) -> tuple[str, ...]:
        return default_sources(path) if self.sources is None else self.sources

    def gather(self, results: Mapping[str, Mapping[str, Any]]) -> dict[Cell, "Scores"]:
        """The shards of every cell put together."""
        found = {
            cell: Scores.joined([results[_task(cell, k).key] for k in range(self.shards)])
            for cell in self.cells()
        }
        if not any(len(scores.sums) for scores in found.values()):
            raise InputError("no position is left by the filters: give other data or sources")
        return found

    def notes(self, found: Mapping[Cell, "Scores"], rows: Sequence[Any]) -> list[str]:
        """What a reader of any of these tables must know."""
        buckets = {cell.bucket: scores for cell, scores in found.items()}
        sizes = "; ".join(
            f"{bucket}: {len(scores.sums):,} games, {int(scores.sums[:, 0].sum()):,} positions"
            for bucket, scores in sorted(buckets.items())
        )
        clocks = [known for scores in buckets.values() for known in scores.labels["clocks"]]
        untimed = len(clocks) - sum(clocks)
        drawn = "All games" if self.positions is None else f"Games drawn by seed {self.seed}"
        return [
            f"{drawn} from {self._whose(buckets.values())}, both players within the "
            f"{_WIDTH} points of a bucket. {sizes}.",
            f"Positions as the paper has them: rated games, no bullet, the first 10 plies left "
            f"out, and moves with less than 30 s left; {untimed:,} of the {len(clocks):,} games "
            f"do not record clocks, and have no moves left out for time.",
            f"MCTS with {self.playouts} playouts. ± is one standard error, clustered by game; "
            f"differences are paired: the same moves, with and without search.",
            "A model may have been trained on some of these games: Maia on Lichess through 2019.",
            *few_games(row["games"] for row in rows),
        ]

    def _whose(self, found: Iterable["Scores"]) -> str:
        """Where the games are from, the largest source first."""
        count = Counter(source for scores in found for source in scores.labels["source"])
        named = [f"{source} ({games:,})" for source, games in count.most_common() if source]
        shown = named[:3] + ([f"{len(named) - 3} more"] if len(named) > 3 else [])
        file = PurePath(self.data).name if self.data else ""
        unnamed = [f"{file or 'no named source'} ({count[None]:,})"] if count[None] else []
        return ", ".join(shown + unnamed)


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


def agent_spec(model: str, c_puct: Setting, playouts: int) -> Spec:
    """The model by itself, or MCTS over it."""
    if c_puct is None:
        return parse(model)
    return Spec("puct", (parse(model),), {"c_puct": c_puct, "playouts": playouts})


def rating_of(model: str) -> int:
    """The bucket of players that a model imitates: its elo, or the number that ends its name."""
    spec = parse(model)
    named = re.search(r"-(\d{3,4})$", PurePath(spec.name).name.partition(".")[0])
    number = int(named[1]) if named else 0
    elo = spec.kwargs.get("elo", number if number in _RATINGS else None)
    if not isinstance(elo, int | float):
        raise InputError(
            f"models: {model} does not say whom it imitates; name it so, as maia-1500 does, or "
            f"write chess(elo=1500)"
        )
    return int(elo) // _WIDTH * _WIDTH


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


def one_a_model(name: str, values: Sequence[float], models: Sequence[str]) -> dict[str, float]:
    """`values` by model; a single one is everybody's."""
    if len(values) not in (1, len(models)):
        raise InputError(f"{name}: one number, or one for each of the {len(models)} models")
    return dict(zip(models, values if len(values) > 1 else cycle(values), strict=False))


def _task(cell: Cell, shard: int) -> Task:
    setting = "raw" if cell.c_puct is None else f"c_puct {cell.c_puct:g}"
    key = f"{cell.model} {setting} on {cell.bucket} shard {shard}"
    return Task(key, {"cell": asdict(cell), "shard": shard})


def _columns(games: Sequence[ChessGame], sums: Sequence[Sequence[float]]) -> dict[str, Any]:
    totals = zip(*sums, strict=True) if sums else ((),) * len(SUMS)
    return {
        **{name: list(column) for name, column in zip(SUMS, totals, strict=True)},
        "time_control": [game.time_control for game in games],
        "clocks": [game.clocks is not None for game in games],
        "source": [game.source for game in games],
        "players": [[game.white, game.black] for game in games],
    }

"""How well an agent predicts people, measured in chunks of games that are kept as they finish."""

import functools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents.agent import Player
from kedge.agents.board.networks import is_cpu
from kedge.agents.diplomacy.players import DiplomacyPlayer
from kedge.agents.hanabi.players import HanabiPlayer
from kedge.errors import InputError
from kedge.evaluation.board.prediction import (
    ANCHOR_SHARE,
    LEAST,
    GameScore,
    Prediction,
    drawn_of,
    few_games,
    predict,
)
from kedge.evaluation.chess.told_ratings import predict_told, told_spec
from kedge.evaluation.diplomacy.prediction import KINDS, predict_orders
from kedge.experiments.experiment import Experiment, Task
from kedge.experiments.fingerprints import files_of, weights_of
from kedge.experiments.players import diplomacy_player_on, player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.games.go import GoState
from kedge.models.board.backends import Dtype
from kedge.records import (
    ChessGame,
    ChessPosition,
    DiplomacyGame,
    ReadReport,
    read_chess_games,
    read_diplomacy_games,
)
from kedge.records.chess.filters import MAIA_BY_NAME, is_held_out, rating_bucket
from kedge.records.diplomacy.positions import human_orders, order_sieve
from kedge.records.go.files import read_go_games
from kedge.records.go.games import SPLITS, GoGame
from kedge.records.go.positions import GoPosition, GoSplit, go_sieve, not_in
from kedge.records.go.positions import boards_of as go_boards_of
from kedge.records.sieve import Filter, Sieve, sifted_words
from kedge.records.splits import NOT_HELD_OUT
from kedge.specs import Spec, parse

#: Games in a task, if there are not so many that it would make more than `MOST_TASKS`.
CHUNK, GPU_CHUNK, MOST_TASKS = 32, 1024, 1000
FIRST_CHUNKS = (1, 1, 2, 4, 8, 16)
_MOST_ROWS = 12  # of one kind of group in the table


@dataclass(frozen=True, kw_only=True)
class Predict(Experiment):
    """`agent` on the moves that people made in the games of `data`."""

    name: ClassVar[str] = "predict"
    version: ClassVar[int] = 2
    places: ClassVar[tuple[str, ...]] = ("data",)
    advice: ClassVar[Mapping[str, str]] = {}
    """By what a filter leaves out, how to keep it."""
    kinds: ClassVar[tuple[str, ...]] = Prediction.kinds
    counted: ClassVar[str] = "positions"
    cpu_chunk: ClassVar[int] = CHUNK
    gpu_chunk: ClassVar[int] = GPU_CHUNK
    remarks: ClassVar[tuple[str, ...]] = ()
    """What a reader must know of the figures."""

    agent: str
    data: tuple[str, ...]
    limit: int | None = None
    """Only so many positions: the first."""
    device: str = "cpu"
    dtype: Dtype = "float32"
    chunk: int | None = None

    @abstractmethod
    def sieve(self) -> Sieve:
        """Which positions count."""

    @abstractmethod
    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[Any]:
        """The games of a file."""

    @abstractmethod
    def player(self) -> Player | DiplomacyPlayer | HanabiPlayer:
        """The agent; an `InputError` if it does not play."""

    @abstractmethod
    def predict(
        self, games: Sequence[tuple[Any, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        """How well it does on some half-moves of games."""

    @property
    def title(self) -> str:
        return self.agent

    def __post_init__(self) -> None:
        object.__setattr__(self, "agent", str(parse(self.agent)))
        # Workers may stand in another folder.
        object.__setattr__(self, "data", tuple(str(Path(path).resolve()) for path in self.data))
        for name in ("limit", "chunk"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name}: at least 1, not {value}")

    def inputs(self) -> dict[str, Any]:
        return {"files": files_of(self.data), "weights": weights_of(self.agent)}

    def tasks(self) -> list[Task]:
        """Reads the data once, to count what there is to do."""
        sieve = self.sieve()
        games = sum(1 for _ in self._chosen(sieve))
        read = sieve.to_json()
        if not games:
            advice = [self.advice[name] for name in read["left_out"] if name in self.advice]
            told = "; ".join([sifted_words(read), *advice])
            raise InputError(f"{', '.join(self.data)}: no position is left: {told}")
        tasks = [
            Task(f"games {first + 1}-{end}", {"first": first, "end": end})
            for first, end in pairwise(self._bounds(games))
        ]
        # The first one keeps what only a reading of everything can tell.
        tasks[0] = Task(tasks[0].key, {**tasks[0].params, "read": read})
        return tasks

    def _bounds(self, games: int) -> list[int]:
        """Where tasks begin and end. On a CPU the first are short, so that something is seen."""
        least = self.cpu_chunk if is_cpu(self.device) else self.gpu_chunk
        size = self.chunk or max(least, -(-games // MOST_TASKS))
        bounds = [0]
        if self.chunk is None and is_cpu(self.device):
            bounds += accumulate(chunk for chunk in FIRST_CHUNKS if chunk < size)
        bounds += range(bounds[-1] + size, games, size)
        return [*(bound for bound in bounds if bound < games), games]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        found = self.predict(self._taken(task.params["first"], task.params["end"]), rng)
        read = {"read": task.params["read"]} if "read" in task.params else {}
        return {"games": [game.to_json() for game in found.games], **read}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = [GameScore.from_json(game) for chunk in results.values() for game in chunk["games"]]
        found = Prediction(games, self.kinds).to_json()
        read = next(chunk["read"] for chunk in results.values() if "read" in chunk)
        rows = [{"group": "all", **{key: found[key] for key in found if key != "groups"}}]
        for kind, labels in found["groups"].items():
            if 1 < len(labels) <= _MOST_ROWS:  # JSON has them all
                name = kind.replace("_", " ")
                rows += [{"group": f"{name} {label}", **one} for label, one in labels.items()]
        return Report(
            title=self.title,
            table=Table(
                [
                    Column("group"),
                    Column("games", format=","),
                    Column("positions", self.counted, ","),
                    Column("top1", "top-1", ".2%", error="top1_se"),
                    Column("top5", "top-5", ".2%"),
                    Column("cross_entropy", "cross-entropy", ".4f", error="cross_entropy_se"),
                ],
                rows,
            ),
            notes=[
                f"{sifted_words(read)}.",
                *self.remarks,
                *few_games(drawn_of(row) for row in rows),
            ],
            data={**self.config(), **found, "read": read},
        )

    def _taken(self, first: int, end: int) -> Sequence[tuple[Any, list[int]]]:
        """The games of a task."""
        return _stream(self, str(files_of(self.data))).take(first, end)

    def _chosen(self, sieve: Sieve, threads: int = 0) -> Iterator[tuple[Any, list[int]]]:
        """The games that the filters leave something of, each with the half-moves to predict."""
        left = self.limit
        for path in self.data:
            for game in self.read(path, sieve.read, threads):
                plies = sieve.plies(game)[:left].tolist()
                if plies:
                    yield game, plies
                    left = left and left - len(plies)
                if left == 0:
                    return


@dataclass(frozen=True, kw_only=True)
class ChessPredict(Predict):
    """Chess, by Maia's filters."""

    advice: ClassVar[Mapping[str, str]] = {
        "not rated": "--unrated keeps what does not say that it is rated"
    }

    game: Literal["chess"] = "chess"
    bucket: int | None = None
    source: str | None = None
    held_out: bool = False
    unrated: bool = False
    """Whether games stay that do not say that they are rated."""
    told_ratings: bool = False
    """Whether the shipped model is told both players' ratings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.told_ratings:
            told_spec(parse(self.agent), 1500, 1500)

    @property
    def title(self) -> str:
        return self.agent + (", told both players' ratings" if self.told_ratings else "")

    def sieve(self) -> Sieve:
        filters: dict[str, Filter] = {}
        if self.source is not None:
            filters["of other sources"] = lambda game: game.source == self.source
        if self.held_out:
            filters["not held out"] = is_held_out
        if self.bucket is not None:
            filters["outside the bucket"] = rating_bucket(self.bucket)
        filters |= MAIA_BY_NAME
        if self.unrated:
            del filters["not rated"]
        return Sieve(filters)

    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[ChessGame]:
        return read_chess_games(path, report, threads=threads)

    def player(self) -> Player:
        return self._told(1500, 1500) if self.told_ratings else self._on_device(self.agent)

    def _told(self, elo: int, opponent: int) -> Player:
        return self._on_device(told_spec(parse(self.agent), elo, opponent))

    def _on_device(self, spec: Spec | str) -> Player:
        return player_on(self.device, self.dtype, spec)

    def predict(
        self, games: Sequence[tuple[ChessGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        chosen = [ChessPosition(game, ply) for game, plies in games for ply in plies]
        if self.told_ratings:
            return predict_told(chosen, self._told)
        return predict(chosen, self.player())


@dataclass(frozen=True, kw_only=True)
class GoPredict(Predict):
    """Go, on the full board: the paper's games, or all."""

    advice: ClassVar[Mapping[str, str]] = {
        not_in(split): "--split all keeps every game on 19×19" for split in SPLITS
    }

    game: Literal["go"] = "go"
    split: GoSplit = "test"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sieve()

    def sieve(self) -> Sieve:
        return go_sieve(self.split)

    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[GoGame]:
        return read_go_games(path, report)

    def player(self) -> Player:
        return player_on(self.device, self.dtype, self.agent, GoState)

    def predict(
        self, games: Sequence[tuple[GoGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        chosen = [GoPosition(game, ply) for game, plies in games for ply in plies]
        return predict(chosen, self.player(), go_boards_of)


@dataclass(frozen=True, kw_only=True)
class DrawnPredict(Predict):
    """Base of those that may draw what they predict from all games."""

    drawn: bool = False
    """Whether `limit` is of positions that the seed draws from all games, not of the first: those
    of a game are alike, so that as many of more games tell more."""

    def tasks(self) -> list[Task]:
        return _drawn_tasks(*self._games_alone())

    def _taken(self, first: int, end: int) -> Sequence[tuple[Any, list[int]]]:
        if not self.drawn:
            return super()._taken(first, end)
        return _drawn_games(*self._games_alone())[first:end]

    def _games_alone(self) -> tuple["DrawnPredict", str]:
        """What agents that are compared have in common: reading takes seconds."""
        return replace(self, agent="uniform"), str(files_of(self.data))

    def _chosen(self, sieve: Sieve, threads: int = 0) -> Iterator[tuple[Any, list[int]]]:
        if not self.drawn:
            yield from super()._chosen(sieve, threads)
            return
        games = list(replace(self, drawn=False, limit=None)._chosen(sieve, threads))
        ends = np.cumsum([0, *(len(plies) for _, plies in games)])
        order = np.random.default_rng(self.seed).permutation(ends[-1])
        is_drawn = order < (self.limit or len(order))
        for (game, plies), (first, end) in zip(games, pairwise(ends), strict=True):
            chosen = np.array(plies)[is_drawn[first:end]]
            if len(chosen):
                yield game, chosen.tolist()


@functools.lru_cache(maxsize=1)
def _drawn_tasks(experiment: DrawnPredict, files: str) -> list[Task]:
    return Predict.tasks(experiment)


@functools.lru_cache(maxsize=1)
def _drawn_games(experiment: DrawnPredict, files: str) -> list[tuple[Any, list[int]]]:
    return list(experiment._chosen(experiment.sieve()))


@dataclass(frozen=True, kw_only=True)
class DiplomacyPredict(DrawnPredict):
    """Diplomacy: the orders of movement phases, unit by unit."""

    advice: ClassVar[Mapping[str, str]] = {NOT_HELD_OUT: "--all keeps every game"}
    kinds: ClassVar[tuple[str, ...]] = KINDS
    counted: ClassVar[str] = "orders"
    cpu_chunk: ClassVar[int] = 4  # a phase with search takes seconds
    gpu_chunk: ClassVar[int] = 32
    remarks: ClassVar[tuple[str, ...]] = (
        "orders of movement phases; a unit without one held. Powers that ordered nothing at all "
        "in a phase are left out.",
        f"cross-entropy: each unit's orders over the joint actions, with {ANCHOR_SHARE:g} of the "
        f"anchor's probability; none counts for less than {LEAST:g}.",
    )

    game: Literal["diplomacy"] = "diplomacy"
    everything: bool = False
    """Whether games stay that models may be trained on."""
    tier: str | None = None

    def sieve(self) -> Sieve:
        return order_sieve(everything=self.everything, tier=self.tier)

    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[DiplomacyGame]:
        return read_diplomacy_games(path, report)

    def player(self) -> DiplomacyPlayer:
        return diplomacy_player_on(self.device, self.dtype, self.agent)

    def predict(
        self, games: Sequence[tuple[DiplomacyGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        chosen = [one for game, phases in games for one in human_orders(game, phases)]
        return predict_orders(chosen, self.player(), rng)


class _Stream:
    """Where a process is in the games: tasks come in their order, so that it reads them once."""

    def __init__(self, experiment: Predict) -> None:
        self._start = functools.partial(experiment._chosen, experiment.sieve(), threads=1)
        self._at, self._games = 0, self._start()

    def take(self, first: int, end: int) -> Sequence[tuple[Any, list[int]]]:
        """The games of these numbers; going back starts anew."""
        if first < self._at:
            self._at, self._games = 0, self._start()
        found = list(islice(self._games, first - self._at, end - self._at))
        self._at = end
        return found


@functools.lru_cache(maxsize=1)
def _stream(experiment: Predict, files: str) -> _Stream:
    return _Stream(experiment)

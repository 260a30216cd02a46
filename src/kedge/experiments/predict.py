"""How well an agent predicts people, measured in chunks of games that are kept as they finish."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from kedge.errors import InputError
from kedge.evaluation.prediction import (
    GameScore,
    Prediction,
    drawn_of,
    few_games,
)
from kedge.experiments.chosen_games import Chosen, ChosenGames, GameStream
from kedge.experiments.experiment import Experiment, FromFiles, Task
from kedge.experiments.fingerprints import record_hashes, weight_hashes
from kedge.experiments.options import DRAWN_SEED, agent_option, chunk_option, data_option
from kedge.experiments.players import player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.jsonable import canonical
from kedge.models.devices import Dtype, is_cpu
from kedge.options import DEVICE, DTYPE, Option
from kedge.records.formats import record_format
from kedge.records.report import ReadReport
from kedge.records.sieve import Sieve, sifted_words
from kedge.specs import Spec, parse

#: Games in a task; more if there would otherwise be more than `MOST_TASKS` tasks.
CHUNK, GPU_CHUNK, MOST_TASKS = 32, 1024, 1000
FIRST_CHUNKS = (1, 1, 2, 4, 8, 16)
# The last games, by all that says which they are: a process works on one experiment at a time.
_games: dict[str, ChosenGames] = {}
_streams: dict[str, GameStream] = {}
_MOST_ROWS = 12  # of one kind of group in the table


@dataclass(frozen=True, kw_only=True)
class Predict(Experiment):
    """`agent` on the moves that people made in the games of `data`."""

    name: ClassVar[str] = "predict"
    version: ClassVar[int] = 2
    places: ClassVar[tuple[str, ...]] = ("data",)
    advice: ClassVar[Mapping[str, str]] = {}
    """Option that keeps what a filter leaves out, by the name of the filter."""
    kinds: ClassVar[tuple[str, ...]] = Prediction.kinds
    counted: ClassVar[str] = "positions"
    cpu_chunk: ClassVar[int] = CHUNK
    gpu_chunk: ClassVar[int] = GPU_CHUNK
    remarks: ClassVar[tuple[str, ...]] = ()
    """Notes on the figures, for the report."""
    predictor: ClassVar[type] = object
    """Class or protocol of the players that can predict."""

    game: str
    agent: Annotated[str, agent_option("the game")]
    data: Annotated[tuple[str, ...], data_option("Recorded games")]
    limit: Annotated[int | None, Option("Use only the first N positions.", min=1)] = None
    device: Annotated[str, DEVICE] = "cpu"
    dtype: Annotated[Dtype, DTYPE] = "float32"
    chunk: Annotated[
        int | None,
        chunk_option("32 after a few small ones, 1024 on a GPU; more if there are very many"),
    ] = None

    @abstractmethod
    def sieve(self) -> Sieve:
        """Return the filter of positions."""

    def read(self, report: ReadReport, threads: int) -> Iterator[Any]:
        """Yield the games of the data, on this many threads if the reader has several."""
        records = record_format(self.game)
        read = records.read_for_prediction or records.read
        for path in self.data:
            yield from read(path, report)

    @FromFiles
    def player(self) -> Any:
        """The agent, a `Player`; raises `InputError` if it does not play the game."""
        return player_on(self.device, self.dtype, self.spec, self.game)

    @cached_property
    def spec(self) -> Spec:
        """The agent's spec."""
        return parse(self.agent)

    @abstractmethod
    def predict(
        self, games: Sequence[tuple[Any, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        """Score the agent on some half-moves of games."""

    @property
    def title(self) -> str:
        return self.agent

    def __post_init__(self) -> None:
        object.__setattr__(self, "agent", str(self.spec))
        # Workers may run in another folder.
        object.__setattr__(self, "data", tuple(str(Path(path).resolve()) for path in self.data))
        for name in ("limit", "chunk"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name}: at least 1, not {value}")

    def inputs(self) -> dict[str, Any]:
        return {"files": record_hashes(self.data, self.game), "weights": weight_hashes(self.spec)}

    def check(self) -> None:
        if not isinstance(self.player, self.predictor):
            raise InputError(
                f"agent {self.agent}: only models and searches over models predict people"
            )

    def tasks(self) -> list[Task]:
        """Return the tasks. This reads all data, to count the games."""
        games = self.games()
        if not games.count:
            left_out = games.counts["left_out"]
            advice = [self.advice[name] for name in left_out if name in self.advice]
            if not left_out:
                advice.append(f"kedge replay {self.game} FILE says what is in a file")
            reasons = "; ".join([sifted_words(games.counts), *advice])
            raise InputError(f"{', '.join(self.data)}: no position left: {reasons}")
        return [
            Task(
                f"games {first + 1}-{end}",
                {"first": first, "end": end},
                None if games.kept is None else games.kept[first:end],
                {} if first else {"read": games.counts},  # of all games, once
            )
            for first, end in pairwise(self._bounds(games.count))
        ]

    def _bounds(self, games: int) -> list[int]:
        """Return the bounds of tasks. On a CPU the first are short, for early results."""
        least = self.cpu_chunk if is_cpu(self.device) else self.gpu_chunk
        size = self.chunk or max(least, -(-games // MOST_TASKS))
        bounds = [0]
        if self.chunk is None and is_cpu(self.device):
            bounds += accumulate(chunk for chunk in FIRST_CHUNKS if chunk < size)
        bounds += range(bounds[-1] + size, games, size)
        return [*(bound for bound in bounds if bound < games), games]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        prediction = self.predict(self.chosen(task), rng)
        return {"games": [game.to_json() for game in prediction.games]}

    @classmethod
    def joined(cls, chunks: Iterable[Iterable[Mapping[str, Any]]]) -> Prediction:
        """Return the prediction of all games, from the scores of each chunk as JSON."""
        games = [GameScore.from_json(game) for chunk in chunks for game in chunk]
        return Prediction(games, cls.kinds)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        total = self.joined(chunk["games"] for chunk in results.values()).to_json()
        read = next(chunk["read"] for chunk in results.values() if "read" in chunk)
        rows = [{"group": "all", **{key: total[key] for key in total if key != "groups"}}]
        for kind, labels in total["groups"].items():
            if 1 < len(labels) <= _MOST_ROWS:  # JSON has them all
                name = kind.replace("_", " ")
                rows += [{"group": f"{name} {label}", **row} for label, row in labels.items()]
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
            data={**self.config(), **total, "read": read},
        )

    def games(self) -> ChosenGames:
        """Read the games to predict. Agents that predict the same games share them."""
        key = self._games_key()
        if key not in _games:
            _games.clear()
            sieve, count, kept = self.sieve(), 0, list[Chosen]()
            for chosen in self.choose(self.read(sieve.read, 0), sieve):
                count += 1
                if self.keeps_games:
                    kept.append(chosen)
            _games[key] = ChosenGames(count, sieve.to_json(), kept if self.keeps_games else None)
        return _games[key]

    def chosen(self, task: Task) -> Sequence[Chosen]:
        """Return the games of a task: those sent with it, else the next of the files."""
        if task.data is not None:
            sent: Sequence[Chosen] = task.data
            return sent
        key, first = self._games_key(), task.params["first"]
        if key not in _streams or first < _streams[key].at:  # going back reads again
            _streams.clear()
            sieve = self.sieve()
            _streams[key] = GameStream(self.choose(self.read(sieve.read, 1), sieve))
        return _streams[key].take(first, task.params["end"])

    def choice(self) -> dict[str, Any]:
        """Return all on which the choice of games and positions depends, but the files."""
        return {name: value for name, value in self.config().items() if name != "agent"}

    def _games_key(self) -> str:
        return canonical([type(self).__name__, self.choice(), record_hashes(self.data, self.game)])

    @property
    def keeps_games(self) -> bool:
        """Whether the games are kept in memory, and sent to the workers."""
        return False

    def choose(self, games: Iterable[Any], sieve: Sieve) -> Iterator[Chosen]:
        """Yield the games with half-moves that pass the filters, and these half-moves."""
        left = self.limit
        for game in games:
            plies = sieve.plies(game)[:left].tolist()
            if plies:
                yield game, plies
                left = left and left - len(plies)
            if left == 0:
                return


@dataclass(frozen=True, kw_only=True)
class DrawnPredict(Predict):
    """Base of predictions that may draw their positions from all games."""

    seed: Annotated[int, DRAWN_SEED] = 0
    drawn: Annotated[
        bool,
        Option(
            "Draw the `--limit` positions from all games instead of taking the first. Positions of "
            "one game are alike, so those of many games say more."
        ),
    ] = False

    @property
    def keeps_games(self) -> bool:
        return self.drawn

    def choose(self, games: Iterable[Any], sieve: Sieve) -> Iterator[Chosen]:
        if not self.drawn:
            yield from super().choose(games, sieve)
            return
        whole = list(replace(self, limit=None, drawn=False).choose(games, sieve))
        ends = np.cumsum([0, *(len(plies) for _, plies in whole)])
        order = np.random.default_rng(self.seed).permutation(ends[-1])
        is_drawn = order < (self.limit or len(order))
        for (game, plies), (first, end) in zip(whole, pairwise(ends), strict=True):
            drawn = np.array(plies)[is_drawn[first:end]]
            if len(drawn):
                yield game, drawn.tolist()

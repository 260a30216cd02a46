"""How well an agent predicts people, measured in chunks of games that are kept as they finish."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents.agent import Player
from kedge.agents.networks import Dtype
from kedge.errors import InputError
from kedge.evaluation.prediction import (
    GameScore,
    Prediction,
    few_games,
    predict,
    predict_told,
    told_spec,
)
from kedge.experiments.experiment import Experiment, Task
from kedge.experiments.fingerprints import files_of, weights_of
from kedge.experiments.players import player_on
from kedge.experiments.report import Column, Report, Table
from kedge.records import ChessGame, read_games
from kedge.records.filters import (
    MAIA_BY_NAME,
    Filter,
    Position,
    Sieve,
    is_held_out,
    rating_bucket,
    sifted_words,
)
from kedge.specs import parse

#: Games in a task, if there are not so many that it would make more than `MOST_TASKS`.
CHUNK, GPU_CHUNK, MOST_TASKS = 32, 1024, 1000
FIRST_CHUNKS = (1, 1, 2, 4, 8, 16)


@dataclass(frozen=True, kw_only=True)
class Predict(Experiment):
    """`agent` on the moves that people made in the games of `data`, by Maia's filters."""

    name: ClassVar[str] = "predict"

    game: Literal["chess"] = "chess"
    agent: str
    data: tuple[str, ...]
    limit: int | None = None
    """Only so many positions: the first."""
    bucket: int | None = None
    source: str | None = None
    held_out: bool = False
    unrated: bool = False
    """Whether games stay that do not say that they are rated."""
    told_ratings: bool = False
    """Whether the shipped model is told both players' ratings."""
    device: str = "cpu"
    dtype: Dtype = "float32"
    chunk: int | None = None

    def __post_init__(self) -> None:
        spec = parse(self.agent)
        if self.told_ratings:
            told_spec(spec, 1500, 1500)
        object.__setattr__(self, "agent", str(spec))
        # Workers may stand in another folder.
        object.__setattr__(self, "data", tuple(str(Path(path).resolve()) for path in self.data))
        for name in ("limit", "chunk"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name}: at least 1, not {value}")

    def inputs(self) -> dict[str, Any]:
        return {"files": files_of(self.data), "weights": weights_of(self.agent)}

    def player(self, elo: int = 1500, opponent: int = 1500) -> Player:
        """The agent, told the ratings if it is to be; an `InputError` if it does not play."""
        spec = parse(self.agent)
        told = told_spec(spec, elo, opponent) if self.told_ratings else spec
        return player_on(self.device, self.dtype, told)

    def tasks(self) -> list[Task]:
        """Reads the data once, to count what there is to do."""
        sieve = self._sieve()
        games = sum(1 for _ in self._chosen(sieve))
        read = sieve.to_json()
        if not games:
            advice = "; --unrated keeps what does not say that it is rated"
            told = sifted_words(read) + (advice if "not rated" in read["left_out"] else "")
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
        least = CHUNK if self.device == "cpu" else GPU_CHUNK
        size = self.chunk or max(least, -(-games // MOST_TASKS))
        bounds = [0]
        if self.chunk is None and self.device == "cpu":
            bounds += accumulate(FIRST_CHUNKS)
        bounds += range(bounds[-1] + size, games, size)
        return [*(bound for bound in bounds if bound < games), games]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        stream = _stream(self, str(files_of(self.data)))
        games = stream.take(task.params["first"], task.params["end"])
        chosen = [Position(game, ply) for game, plies in games for ply in plies]
        if self.told_ratings:
            found = predict_told(chosen, self.player)
        else:
            found = predict(chosen, self.player())
        read = {"read": task.params["read"]} if "read" in task.params else {}
        return {"games": [game.to_json() for game in found.games], **read}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = [GameScore.from_json(game) for chunk in results.values() for game in chunk["games"]]
        found = Prediction(games).to_json()
        read = next(chunk["read"] for chunk in results.values() if "read" in chunk)
        rows = [{"group": "all", **{key: found[key] for key in found if key != "groups"}}]
        for kind, labels in found["groups"].items():
            if len(labels) > 1 and kind != "time_control":  # there are too many; JSON has them
                name = kind.replace("_", " ")
                rows += [{"group": f"{name} {label}", **one} for label, one in labels.items()]
        return Report(
            title=self.agent + (", told both players' ratings" if self.told_ratings else ""),
            table=Table(
                [
                    Column("group"),
                    Column("games", format=","),
                    Column("positions", format=","),
                    Column("top1", "top-1", ".2%", error="top1_se"),
                    Column("top5", "top-5", ".2%"),
                    Column("cross_entropy", "cross-entropy", ".4f", error="cross_entropy_se"),
                ],
                rows,
            ),
            notes=[f"{sifted_words(read)}.", *few_games(row["games"] for row in rows)],
            data={"agent": self.agent, "told_ratings": self.told_ratings, **found, "read": read},
        )

    def _sieve(self) -> Sieve:
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

    def _chosen(self, sieve: Sieve, threads: int = 0) -> Iterator[tuple[ChessGame, list[int]]]:
        """The games that the filters leave something of, each with the half-moves to predict."""
        left = self.limit
        for path in self.data:
            for game in read_games(path, sieve.read, threads=threads):
                plies = sieve.plies(game)[:left].tolist()
                if plies:
                    yield game, plies
                    left = left and left - len(plies)
                if left == 0:
                    return


class _Stream:
    """Where a process is in the games: tasks come in their order, so that it reads them once."""

    def __init__(self, experiment: Predict) -> None:
        self._start = functools.partial(experiment._chosen, experiment._sieve(), threads=1)
        self._at, self._games = 0, self._start()

    def take(self, first: int, end: int) -> Sequence[tuple[ChessGame, list[int]]]:
        """The games of these numbers; going back starts anew."""
        if first < self._at:
            self._at, self._games = 0, self._start()
        found = list(islice(self._games, first - self._at, end - self._at))
        self._at = end
        return found


@functools.lru_cache(maxsize=1)
def _stream(experiment: Predict, files: str) -> _Stream:
    return _Stream(experiment)

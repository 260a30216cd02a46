"""How well an agent predicts people, measured in chunks of games that are kept as they finish."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents.agent import Player
from kedge.agents.networks import Dtype
from kedge.errors import InputError
from kedge.evaluation.prediction import GameScore, Prediction, predict, predict_told, told_spec
from kedge.experiments.experiment import Experiment, Task
from kedge.experiments.fingerprints import files_of, weights_of
from kedge.experiments.players import player_on
from kedge.experiments.report import Column, Report, Table
from kedge.records import ChessGame, read_games
from kedge.records.filters import Position, chosen_plies, is_held_out, maia
from kedge.specs import parse

#: Games in a task, if there are not so many that it would make more than `MOST_TASKS`.
CHUNK, GPU_CHUNK, MOST_TASKS = 32, 1024, 1000


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
        games = sum(1 for _ in self._chosen())
        if not games:
            raise InputError("no position is left by the filters")
        least = CHUNK if self.device == "cpu" else GPU_CHUNK
        chunk = self.chunk or max(least, -(-games // MOST_TASKS))
        ranges = [(first, min(first + chunk, games)) for first in range(0, games, chunk)]
        return [
            Task(f"games {first + 1}-{end}", {"first": first, "end": end}) for first, end in ranges
        ]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        games = _stream(self, str(files_of(self.data))).take(
            task.params["first"], task.params["end"]
        )
        chosen = [Position(game, ply) for game, plies in games for ply in plies]
        if self.told_ratings:
            found = predict_told(chosen, self.player)
        else:
            found = predict(chosen, self.player())
        return {"games": [game.to_json() for game in found.games]}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = [GameScore.from_json(game) for chunk in results.values() for game in chunk["games"]]
        found = Prediction(games).to_json()
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
            data={"agent": self.agent, "told_ratings": self.told_ratings, **found},
        )

    def _chosen(self, threads: int = 0) -> Iterator[tuple[ChessGame, list[int]]]:
        """The games that the filters leave something of, each with the half-moves to predict."""
        filters, left = maia(self.bucket), self.limit
        for path in self.data:
            for game in read_games(path, threads=threads):
                if self.source not in (None, game.source) or (
                    self.held_out and not is_held_out(game)
                ):
                    continue
                plies = chosen_plies(game, filters)[:left].tolist()
                if plies:
                    yield game, plies
                    left = left and left - len(plies)
                if left == 0:
                    return


class _Stream:
    """Where a process is in the games: tasks come in their order, so that it reads them once."""

    def __init__(self, experiment: Predict) -> None:
        self._start = functools.partial(experiment._chosen, threads=1)
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

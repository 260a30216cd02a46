"""The base of the chess prediction tables: people by rating, with Maia's filters.

A task is one model, with or without search, on a shard of the games of one bucket. Its result has
sums for each game, so that reports can pool, split and pair games, with standard errors clustered
by game.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar

import numpy as np

from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, few_games, predict
from kedge.experiments import Task
from kedge.experiments.fingerprints import record_hashes, weight_hashes
from kedge.experiments.players import player_on
from kedge.paper.board.prediction import Bucket, Cell, SearchPrediction
from kedge.paper.checks import check_counts
from kedge.paper.chess.sample import check_games, default_sources, draw_games
from kedge.paper.table_parts import Scores
from kedge.records import ChessGame, chess_positions
from kedge.records.chess.filters import MAIA
from kedge.records.chess.positions import boards_of
from kedge.specs import parse

_WIDTH = 100  # rating points in a bucket
_RATINGS = range(600, 3001)  # other numbers in a name are not ratings


@dataclass(frozen=True, kw_only=True)
class ChessPrediction(SearchPrediction):
    """Base of the tables on chess players, in buckets of their rating."""

    game: ClassVar[str] = "chess"
    usual_data: ClassVar[Path] = Path("data", "chess", "lichess_games.jsonl.xz")
    data_kinds: ClassVar[str] = "PGN or JSON lines, such as a Lichess dump"

    models: tuple[str, ...] = ("maia-1100", "maia-1500", "maia-1900")
    shards: int = 8
    sources: tuple[str, ...] | None = None
    """Sources to keep; games without a source are always kept. None keeps the sources with many
    players under ``$KEDGE_DATA``, and all sources of other files."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(shards=self.shards)
        for model in self.models:
            imitated_rating(model)

    def inputs(self) -> dict[str, Any]:
        return {
            "files": record_hashes([self.file()], self.game),
            "weights": weight_hashes(*self.models),
        }

    def check(self) -> None:
        for model in self.models:
            player_on(self.device, self.dtype, model, self.game)
        check_games(self.file(), self._buckets(), self._sources())

    def tasks(self) -> list[Task]:
        return [_task(cell, shard) for cell in self.cells() for shard in range(self.shards)]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        cell, shard = Cell(**task.params["cell"]), task.params["shard"]
        games = self._sample(cell.bucket)[shard :: self.shards]
        sums = np.empty((0, len(SUMS)))
        if games:
            player = player_on(self.device, self.dtype, self.agent(cell), self.game)
            prediction = predict(list(chess_positions(games, MAIA)), player, boards_of)
            sums = np.array([game.sums for game in prediction.games])
        return {
            **dict(zip(SUMS, sums.T.tolist(), strict=True)),
            "time_control": [game.time_control for game in games],
            "clocks": [game.clocks is not None for game in games],
            "source": [game.source for game in games],
            "players": [[game.white, game.black] for game in games],
        }

    def gather(self, results: Mapping[str, dict[str, Any]]) -> dict[Cell, Scores]:
        cells = {
            cell: Scores.from_shards([results[_task(cell, k).key] for k in range(self.shards)])
            for cell in self.cells()
        }
        if not any(len(scores.sums) for scores in cells.values()):
            raise InputError("the filters leave no position; give other data or sources")
        return cells

    def _sample(self, bucket: Bucket) -> Sequence[ChessGame]:
        """The games of one bucket, the same in every task."""
        drawn = draw_games(self.file(), self._buckets(), self._sources(), self.positions, self.seed)
        return drawn[int(bucket)]

    def _buckets(self) -> tuple[int, ...]:
        return tuple(sorted({int(cell.bucket) for cell in self.cells()}))

    def _sources(self) -> tuple[str, ...]:
        return default_sources(self.file()) if self.sources is None else self.sources

    def notes(self, by_cell: Mapping[Cell, Scores], rows: Sequence[Any]) -> list[str]:
        """The notes under each of these tables."""
        buckets = {int(cell.bucket): scores for cell, scores in by_cell.items()}
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
            *self.search_notes(),
            "A model may have been trained on some of these games: Maia on Lichess through 2019.",
            *few_games(row["games"] for row in rows),
        ]

    def _whose(self, several: Iterable[Scores]) -> str:
        """The sources of the games, the largest first."""
        count = Counter(source for scores in several for source in scores.labels["source"])
        named = [f"{source} ({games:,})" for source, games in count.most_common() if source]
        shown = named[:3] + ([f"{len(named) - 3} more"] if len(named) > 3 else [])
        file = PurePath(self.data).name if self.data else ""
        unnamed = [f"{file or 'no named source'} ({count[None]:,})"] if count[None] else []
        return ", ".join(shown + unnamed)


def imitated_rating(model: str) -> int:
    """The rating bucket that a model imitates: its elo, or the number at the end of its name."""
    spec = parse(model)
    named = re.search(r"-(\d{3,4})$", PurePath(spec.name).name.partition(".")[0])
    number = int(named[1]) if named else 0
    elo = spec.kwargs.get("elo", number if number in _RATINGS else None)
    if not isinstance(elo, int | float):
        raise InputError(
            f"models: cannot tell the rating that {model} imitates; use a name such as maia-1500, "
            f"or chess(elo=1500)"
        )
    return int(elo) // _WIDTH * _WIDTH


def _task(cell: Cell, shard: int) -> Task:
    return Task(f"{cell} shard {shard}", {"cell": asdict(cell), "shard": shard})

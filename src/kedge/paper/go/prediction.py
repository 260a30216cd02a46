"""The base of the Go prediction tables: moves of professionals in the paper's test years."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Predictor
from kedge.errors import InputError
from kedge.evaluation.prediction import Prediction, few_games, predict
from kedge.experiments.fingerprints import record_hashes
from kedge.paper.board.prediction import Bucket, Cell, HumanPrediction
from kedge.paper.table_parts import Scores
from kedge.records.go.files import read_go_games
from kedge.records.go.games import years_words
from kedge.records.go.positions import GoPosition, GoSplit, boards_of, go_sieve
from kedge.records.sieve import sifted_words


@dataclass(frozen=True, kw_only=True)
class GoPrediction(HumanPrediction):
    """Base of the tables on professional Go games, by year."""

    game: ClassVar[str] = "go"
    usual_data: ClassVar[Path] = Path("data", "go", "cwi_pro_games.tsv.xz")
    data_kinds: ClassVar[str] = "SGF, an archive of it, or a table"

    models: tuple[str, ...] = ("go",)
    split: GoSplit = "test"

    def __post_init__(self) -> None:
        super().__post_init__()
        go_sieve(self.split)

    def check(self) -> None:
        super().check()
        self.sample(self.years)

    @property
    def years(self) -> str:
        """The years of the games."""
        return "all years" if self.split == "all" else years_words(self.split)

    def sample(self, bucket: Bucket) -> Sequence[list[GoPosition]]:
        path = self.file()
        return _drawn(
            path, str(record_hashes([path], self.game)), self.split, self.positions, self.seed
        )

    def predict(self, games: Sequence[list[GoPosition]], player: Predictor) -> Prediction:
        return predict(all_positions(games), player, boards_of)

    def labels(self, games: Sequence[list[GoPosition]]) -> dict[str, list[Any]]:
        return {"year": [chosen[0].game.year for chosen in games]}

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


def all_positions(games: Sequence[list[GoPosition]]) -> list[GoPosition]:
    """The positions of all games in one list."""
    return [position for chosen in games for position in chosen]


@functools.lru_cache(maxsize=1)
def _drawn(
    path: Path, files: str, split: GoSplit, limit: int | None, seed: int
) -> list[list[GoPosition]]:
    """Draw `limit` positions from a whole file, grouped by game.

    Moves of one game are correlated, so few moves of many games are better than many of a few.
    """
    sieve = go_sieve(split)
    positions = [
        GoPosition(game, int(ply))
        for game in read_go_games(path, sieve.read)
        for ply in sieve.plies(game)
    ]
    if not positions:
        advice = "" if split == "all" else "; --set split=all keeps every game on 19×19"
        raise InputError(f"{path}: no position left: {sifted_words(sieve.to_json())}{advice}")
    order = np.random.default_rng(seed).permutation(len(positions))
    chosen = [positions[number] for number in np.sort(order[:limit])]
    return [list(run) for _, run in groupby(chosen, key=lambda position: id(position.game))]

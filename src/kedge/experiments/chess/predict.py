"""How well an agent predicts people in chess."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.evaluation.chess.ratings import predict_rated, rated_spec
from kedge.evaluation.prediction import Prediction, predict
from kedge.experiments.players import player_on
from kedge.experiments.predict import Predict
from kedge.records import ChessGame, Position, ReadReport, read_games
from kedge.records.chess.filters import (
    MAIA_BY_NAME,
    Filter,
    Sieve,
    is_held_out,
    rating_bucket,
)
from kedge.specs import Spec, parse


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
            rated_spec(parse(self.agent), 1500, 1500)

    @property
    def title(self) -> str:
        return self.agent + (", with both players' ratings" if self.told_ratings else "")

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
        return read_games(path, report, threads=threads)

    def player(self) -> Any:
        return self._rated(1500, 1500) if self.told_ratings else self._on_device(self.agent)

    def _rated(self, elo: int, opponent: int) -> Any:
        return self._on_device(rated_spec(parse(self.agent), elo, opponent))

    def _on_device(self, spec: Spec | str) -> Any:
        return player_on(self.device, self.dtype, spec, self.game)

    def predict(
        self, games: Sequence[tuple[ChessGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        positions = [Position(game, ply) for game, plies in games for ply in plies]
        if self.told_ratings:
            return predict_rated(positions, self._rated)
        return predict(positions, self.player())

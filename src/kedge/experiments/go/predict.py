"""How well an agent predicts people in Go."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.evaluation.prediction import Prediction, predict
from kedge.experiments.players import player_on
from kedge.experiments.predict import Predict
from kedge.records import ReadReport
from kedge.records.chess.filters import Sieve
from kedge.records.go.files import read_go_games
from kedge.records.go.games import SPLITS, GoGame
from kedge.records.go.positions import GoPosition, GoSplit, boards_of, go_sieve, not_in


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

    def player(self) -> Any:
        return player_on(self.device, self.dtype, self.agent, self.game)

    def predict(
        self, games: Sequence[tuple[GoGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        chosen = [GoPosition(game, ply) for game, plies in games for ply in plies]
        return predict(chosen, self.player(), boards_of)

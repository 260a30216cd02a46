"""How well an agent predicts people in board games, perhaps with the players as its input."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Predictor
from kedge.evaluation.board.players import Players, predict_players, with_players
from kedge.evaluation.prediction import Prediction, predict
from kedge.experiments.experiment import FromFiles
from kedge.experiments.players import player_on
from kedge.experiments.predict import Predict
from kedge.specs import Spec


@dataclass(frozen=True, kw_only=True)
class BoardPredict(Predict):
    """Base of predictions by networks and searches over them."""

    predictor: ClassVar[type] = Predictor
    position: ClassVar[type]
    """Class of positions: a recorded game, and the half-move that follows."""
    boards_of: ClassVar[Callable[[Sequence[Any]], Sequence[Any]]]
    """Returns the native boards of positions."""
    example: ClassVar[str]
    """Shipped model that takes the players as input."""
    players_of: ClassVar[Callable[[Any], Sequence[Players]]]
    """Returns the players of each position of a game, as inputs of a model."""

    @property
    @abstractmethod
    def passes_players(self) -> bool:
        """Whether the model takes the players of each position as input."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.passes_players:
            self._spec_with({})

    @property
    def title(self) -> str:
        return self.agent + (", with the players as input" if self.passes_players else "")

    @FromFiles
    def player(self) -> Any:
        return self.player_with({}) if self.passes_players else super().player

    def player_with(self, players: Players) -> Any:
        """Return the agent whose model has these players as input."""
        return player_on(self.device, self.dtype, self._spec_with(players), self.game)

    def _spec_with(self, players: Players) -> Spec:
        return with_players(self.spec, players, self.example)

    def predict(
        self, games: Sequence[tuple[Any, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        kind = type(self)
        positions = [kind.position(game, ply) for game, plies in games for ply in plies]
        if self.passes_players:
            return predict_players(positions, self.player_with, kind.players_of, kind.boards_of)
        return predict(positions, self.player, kind.boards_of)

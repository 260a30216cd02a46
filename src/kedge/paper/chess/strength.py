"""Chess matches of appendix D and Figure 1: how much stronger is search, and is it still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.experiments import Experiment
from kedge.experiments.chess.match import play_chess
from kedge.paper.board import published
from kedge.paper.board.prediction import Cell
from kedge.paper.board.strength import SearchStrength
from kedge.paper.board.tradeoff import Tradeoff
from kedge.paper.chess.accuracy import ChessAccuracy
from kedge.paper.table_parts import Scores, short_name

_PREDICTIONS = "predictions"  # the label of the part that predicts


@dataclass(frozen=True, kw_only=True)
class ChessStrength(SearchStrength):
    """Appendix D: the score of MCTS over Maia-1900 against the model alone."""

    name: ClassVar[str] = "chess-strength"
    game: ClassVar[str] = "chess"

    models: tuple[str, ...] = ("maia-1900",)

    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_chess(players, games, rng)

    def published(
        self, model: str, temperature: float, c_puct: float
    ) -> tuple[float | None, float | None]:
        if short_name(model) != "maia-1900" or self.playouts != 50:
            return None, None
        return published.STRENGTH.get(temperature, {}).get(c_puct, (None, None))


@dataclass(frozen=True, kw_only=True)
class ChessTradeoff(Tradeoff, ChessAccuracy):
    """Figure 1: what MCTS does to top-1 accuracy and to strength, for each c_puct."""

    name: ClassVar[str] = "chess-tradeoff"

    models: tuple[str, ...] = ("maia-1900",)

    def parts(self) -> Mapping[Any, Experiment]:
        accuracy = ChessAccuracy(**self.shared_fields(ChessAccuracy))
        return {_PREDICTIONS: accuracy, **self.matches()}

    def gather(self, results: Mapping[str, dict[str, Any]]) -> dict[Cell, Scores]:
        return super().gather(self.by_part(results)[_PREDICTIONS])

    def strength(self) -> ChessStrength:
        return ChessStrength(**self.shared_fields(ChessStrength))

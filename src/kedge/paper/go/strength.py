"""Go matches of appendix D and Figure 1: how much stronger is search, and is it still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.experiments import Experiment
from kedge.experiments.go.match import GO_MAX_PLIES, Scored, play_go, scoring_notes
from kedge.paper.board import published
from kedge.paper.board.strength import SearchStrength
from kedge.paper.board.tradeoff import Tradeoff
from kedge.paper.go.accuracy import GoAccuracy
from kedge.records.go.games import KOMI


@dataclass(frozen=True, kw_only=True)
class GoStrength(Scored, SearchStrength):
    """Appendix D: the score of MCTS over the shipped model against the model alone."""

    name: ClassVar[str] = "go-strength"
    game: ClassVar[str] = "go"

    models: tuple[str, ...] = ("go",)
    chunk: int = 10
    max_plies: int = GO_MAX_PLIES

    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_go(players, games, rng, max_plies=self.max_plies, **self.scoring())

    def gist(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "games": [{**game, "moves": ""} for game in result["games"]]}

    def notes(self, results: Mapping[str, Mapping[str, Any]]) -> list[str]:
        games = [game for task in self.tasks() for game in results[task.key]["games"]]
        return [
            *super().notes(results),
            f"Japanese rules, komi {KOMI:g}; {'; '.join(scoring_notes(games))}. The paper's model "
            f"learned from other games, and its scorer was KataGo.",
        ]

    def published(
        self, model: str, temperature: float, c_puct: float
    ) -> tuple[float | None, float | None]:
        if self.playouts != 50:
            return None, None
        return published.GO_STRENGTH.get(temperature, {}).get(c_puct, (None, None))


@dataclass(frozen=True, kw_only=True)
class GoTradeoff(Scored, GoAccuracy, Tradeoff):
    """Figure 1: what MCTS does to top-1 accuracy and to strength in Go, for each c_puct."""

    name: ClassVar[str] = "go-tradeoff"

    chunk: int = 10
    max_plies: int = GO_MAX_PLIES

    def parts(self) -> Mapping[Any, Experiment]:
        return {**super().parts(), **self.matches()}

    def strength(self) -> GoStrength:
        return GoStrength(**self.shared_fields(GoStrength))

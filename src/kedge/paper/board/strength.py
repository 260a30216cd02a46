"""The base of the strength tables: matches of MCTS over a model against the model alone."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.agents.board.puct import check_temperature
from kedge.errors import InputError
from kedge.evaluation.board.matches import MatchScore
from kedge.experiments import Column, Experiment, Report, Table, Task
from kedge.experiments.board.match import match_players, score_columns
from kedge.experiments.fingerprints import weight_hashes
from kedge.experiments.played_games import match_tasks
from kedge.experiments.players import player_on
from kedge.models.devices import Dtype
from kedge.paper.board.figures import draw_strength
from kedge.paper.board.prediction import agent_spec
from kedge.paper.checks import check_counts, check_distinct, check_positive
from kedge.paper.table_parts import beside, short_name, titled


@dataclass(frozen=True, kw_only=True)
class SearchStrength(Experiment):
    """Base of the tables of matches, one per model, temperature and c_puct."""

    #: Name of the game.
    game: ClassVar[str]

    models: tuple[str, ...]
    c_puct: tuple[float, ...] = (10.0, 5.0, 2.0, 1.0, 0.5)
    playouts: int = 50
    temperatures: tuple[float, ...] = (1.0, 0.3)
    games: int = 1000
    chunk: int = 50
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        check_positive(c_puct=self.c_puct)
        check_distinct(models=self.models, c_puct=self.c_puct, temperatures=self.temperatures)
        check_counts(playouts=self.playouts, games=self.games)
        if self.chunk < 2 or self.chunk % 2:
            raise InputError(f"chunk: must be even, for fair colours, not {self.chunk}")
        for temperature in self.temperatures:
            check_temperature(temperature)

    @abstractmethod
    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Play games; return them as JSON data, each with the ``score`` of the first player."""

    @abstractmethod
    def published(
        self, model: str, temperature: float, c_puct: float
    ) -> tuple[float | None, float | None]:
        """The paper's score and its standard error, if known."""

    def inputs(self) -> dict[str, Any]:
        return {"weights": weight_hashes(*self.models)}

    def notes(self, results: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The notes under the table."""
        return [
            f"{self.games:,} games a row from the start position, each side with the first move "
            f"equally often, both drawing their moves at the temperature; draws count as half a "
            f"win, ± is one standard error. MCTS has {self.playouts} playouts."
        ]

    def check(self) -> None:
        for model in self.models:
            player_on(self.device, self.dtype, model, self.game)

    def tasks(self) -> list[Task]:
        return [
            task
            for model in self.models
            for temperature in self.temperatures
            for c_puct in self.c_puct
            for task in self._match(model, temperature, c_puct)
        ]

    def _match(self, model: str, temperature: float, c_puct: float) -> list[Task]:
        label = f"{model} c_puct {c_puct:g} at temperature {temperature:g}"
        settings = {"model": model, "temperature": temperature, "c_puct": c_puct}
        return match_tasks(self.games, self.chunk, label, **settings)

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        model, temperature = task.params["model"], task.params["temperature"]
        search = str(agent_spec(model, task.params["c_puct"], self.playouts))
        players = match_players(search, model, temperature, self.device, self.dtype, game=self.game)
        return {"games": self.play(players, task.params["games"], rng)}

    def rows(
        self, results: Mapping[str, Mapping[str, Any]], temperatures: Sequence[float]
    ) -> list[dict[str, Any]]:
        """The rows of the table: one match each, with the paper's figure."""
        rows = []
        for model in self.models:
            for temperature in temperatures:
                for c_puct in self.c_puct:
                    score, score_se = self.published(model, temperature, c_puct)
                    rows.append(
                        {
                            "model": short_name(model),
                            "temperature": temperature,
                            "c_puct": c_puct,
                            **MatchScore.from_results(
                                game
                                for task in self._match(model, temperature, c_puct)
                                for game in results[task.key]["games"]
                            ).to_json(),
                            "paper": score,
                            "paper_se": score_se,
                        }
                    )
        return rows

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = self.rows(results, self.temperatures)
        known = any(row["paper"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("model"),
                    Column("temperature", format="g"),
                    Column("c_puct", format="g"),
                    *score_columns(
                        ".1%",
                        *beside(known, Column("paper", "paper score", ".1%", error="paper_se")),
                    ),
                ],
                rows,
            ),
            notes=self.notes(results),
            draw=lambda figure: draw_strength(figure, rows),
            figure_size=(6.4, 4.0),
        )

"""Appendix D's matches and Figure 1: how much stronger is search, and is that still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.chess import check_temperature
from kedge.agents.networks import Dtype
from kedge.errors import InputError
from kedge.evaluation.matches import MatchScore
from kedge.experiments import Column, Experiment, Report, Table, Task
from kedge.experiments.fingerprints import weights_of
from kedge.experiments.match import match_players, match_tasks, play_chunk
from kedge.experiments.players import player_on
from kedge.paper import published
from kedge.paper.chess_accuracy import ChessAccuracy
from kedge.paper.chess_figures import draw_strength, draw_tradeoff
from kedge.paper.chess_prediction import agent_spec, beside, short_name, titled
from kedge.paper.settings import check_counts, check_distinct, check_positive


@dataclass(frozen=True, kw_only=True)
class ChessStrength(Experiment):
    """Appendix D: the score of MCTS over Maia-1900 against the model by itself."""

    name: ClassVar[str] = "chess-strength"

    models: tuple[str, ...] = ("maia-1900",)
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
            raise InputError(f"chunk: an even number, for fair colours, not {self.chunk}")
        for temperature in self.temperatures:
            check_temperature(temperature)

    def inputs(self) -> dict[str, Any]:
        return {"weights": weights_of(*self.models)}

    def check(self) -> None:
        for model in self.models:
            player_on(self.device, self.dtype, model)

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
        players = match_players(search, model, temperature, self.device, self.dtype)
        return {"games": play_chunk(players, task.params["games"], rng)}

    def rows(self, results: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """One match a row, the paper's figure beside it."""
        rows = []
        for model in self.models:
            for temperature in self.temperatures:
                for c_puct in self.c_puct:
                    score, score_se = self._published(model, temperature, c_puct)
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

    def _published(
        self, model: str, temperature: float, c_puct: float
    ) -> tuple[float | None, float | None]:
        if short_name(model) != "maia-1900" or self.playouts != 50:
            return None, None
        return published.STRENGTH.get(temperature, {}).get(c_puct, (None, None))

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = self.rows(results)
        known = any(row["paper"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("model"),
                    Column("temperature", format="g"),
                    Column("c_puct", format="g"),
                    Column("games", format=","),
                    Column("wins", format=","),
                    Column("draws", format=","),
                    Column("losses", format=","),
                    Column("score", format=".1%", error="score_se"),
                    *beside(known, Column("paper", "paper score", ".1%", error="paper_se")),
                    Column("elo", "Elo", "+.0f"),
                ],
                rows,
            ),
            notes=[
                f"{self.games:,} games a row from the start position, each side white equally "
                f"often, both drawing their moves at the temperature; draws count as half a win, "
                f"± is one standard error. MCTS has {self.playouts} playouts."
            ],
            draw=lambda figure: draw_strength(figure, rows),
            figure_size=(6.4, 4.0),
        )


@dataclass(frozen=True, kw_only=True)
class ChessTradeoff(ChessAccuracy):
    """Figure 1: what MCTS does to top-1 accuracy and to strength, for each c_puct."""

    name: ClassVar[str] = "chess-tradeoff"

    models: tuple[str, ...] = ("maia-1900",)
    games: int = 1000
    chunk: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        self._strength()

    def _strength(self) -> ChessStrength:
        return ChessStrength(
            models=self.models,
            c_puct=self.c_puct,
            playouts=self.playouts,
            temperatures=(1.0,),
            games=self.games,
            chunk=self.chunk,
            device=self.device,
            dtype=self.dtype,
            seed=self.seed,
        )

    def tasks(self) -> list[Task]:
        return super().tasks() + self._strength().tasks()

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        if "temperature" in task.params:
            return self._strength().run(task, rng)
        return super().run(task, rng)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        found = self.gather(results)
        strength = {(row["model"], row["c_puct"]): row for row in self._strength().rows(results)}
        rows, predicted = [], self.rows(found)
        for row in predicted:
            if row["c_puct"] is None:
                continue
            match = strength[row["model"], row["c_puct"]]
            rows.append(
                {
                    **{key: row[key] for key in ("model", "c_puct", "positions")},
                    **{key: row[key] for key in ("gain", "gain_se", "paper_gain")},
                    **{key: match[key] for key in ("games", "score", "score_se")},
                    "paper_score": match["paper"],
                    "paper_score_se": match["paper_se"],
                }
            )
        known = any(row["paper_score"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("model"),
                    Column("c_puct", format="g"),
                    Column("gain", "top-1 gain", "+.2%", error="gain_se"),
                    *beside(known, Column("paper_gain", "paper gain", "+.1%")),
                    Column("score", "score against raw", ".1%", error="score_se"),
                    *beside(
                        known,
                        Column("paper_score", "paper score", ".1%", error="paper_score_se"),
                    ),
                ],
                rows,
            ),
            notes=[
                *self.notes(found, predicted),
                f"Score: MCTS against the model by itself, {self.games:,} games at temperature 1, "
                f"draws as half a win.",
            ],
            draw=lambda figure: draw_tradeoff(figure, rows),
            figure_size=(6.4, 4.6),
        )

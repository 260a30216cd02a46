"""How well an agent of Hanabi predicts people, in chunks of games that are kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents.hanabi.players import HanabiPlayer
from kedge.errors import InputError
from kedge.evaluation.board.prediction import ANCHOR_SHARE, LEAST, GameScore, Prediction
from kedge.evaluation.hanabi.prediction import (
    KINDS,
    is_searched,
    predict_at,
    predict_moves,
    watched,
)
from kedge.experiments.board.predict import DrawnPredict
from kedge.experiments.experiment import Task
from kedge.experiments.players import hanabi_player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.records import HanabiGame, ReadReport, replayed_hanabi_games
from kedge.records.hanabi.positions import NO_BOTS, NO_PEOPLE, hanabi_sieve
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_HELD_OUT


@dataclass(frozen=True, kw_only=True)
class HanabiPredict(DrawnPredict):
    """Hanabi: the moves of people, or of the programs that they play with."""

    advice: ClassVar[Mapping[str, str]] = {
        NOT_HELD_OUT: "--all keeps every game",
        NO_PEOPLE: "--bots predicts programs",
        NO_BOTS: "without --bots people are predicted",
    }
    kinds: ClassVar[tuple[str, ...]] = KINDS
    counted: ClassVar[str] = "moves"
    cpu_chunk: ClassVar[int] = 8  # a move with search takes seconds
    gpu_chunk: ClassVar[int] = 64
    remarks: ClassVar[tuple[str, ...]] = (
        "standard errors are clustered by participant where these are known, else by game.",
        f"cross-entropy: of the policy with {ANCHOR_SHARE:g} of the anchor's probability; no move "
        f"counts for less than {LEAST:g}.",
    )

    game: Literal["hanabi"] = "hanabi"
    everything: bool = False
    """Whether games stay that models may be trained on."""
    bots: bool = False
    """Whether the moves of programs are predicted, not those of people."""

    def sieve(self) -> Sieve:
        return hanabi_sieve(everything=self.everything, bots=self.bots)

    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[HanabiGame]:
        return replayed_hanabi_games(path, report)

    def player(self) -> HanabiPlayer:
        return hanabi_player_on(self.device, self.dtype, self.agent)

    def predict(
        self, games: Sequence[tuple[HanabiGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        return predict_moves(games, self.player(), rng)


@dataclass(frozen=True, kw_only=True)
class HanabiSweep(HanabiPredict):
    """A search at every λ, its own among them or not: what moves are worth is found out once."""

    name: ClassVar[str] = "predict-sweep"

    lambdas: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for lam in self.lambdas:
            if not lam >= 0.0:
                raise InputError(f"lambdas: at least 0, not {lam:g}")

    def check(self) -> None:
        self.player()

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        chosen = self._taken(task.params["first"], task.params["end"])
        games = list(watched(chosen, self.player(), rng))
        found = [predict_at(lam, games) for lam in self.lambdas]
        return {
            "games": [[game.to_json() for game in one.games] for one in found],
            "unsearched": sum(not is_searched(found) for one in games for _, found in one.found),
        }

    def predicted(self, results: Mapping[str, dict[str, Any]]) -> dict[float, Prediction]:
        """By λ, game after game."""
        return {
            lam: Prediction(
                [
                    GameScore.from_json(game)
                    for chunk in results.values()
                    for game in chunk["games"][number]
                ],
                self.kinds,
            )
            for number, lam in enumerate(self.lambdas)
        }

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        found = {lam: one.to_json() for lam, one in self.predicted(results).items()}
        return Report(
            title=f"{self.agent}, at every λ",
            table=Table(
                [
                    Column("lambda", "λ", "g"),
                    Column("games", format=","),
                    Column("positions", self.counted, ","),
                    Column("top1", "top-1", ".2%", error="top1_se"),
                    Column("cross_entropy", "cross-entropy", ".4f", error="cross_entropy_se"),
                ],
                [{"lambda": lam, **one} for lam, one in found.items()],
            ),
            notes=self.remarks,
        )

"""How well an agent of Hanabi predicts people, in chunks of games that are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from kedge.agents.hanabi.players import HanabiAgent
from kedge.errors import InputError
from kedge.evaluation.hanabi.prediction import (
    KINDS,
    analysed_games,
    predict_analysed,
    predict_at,
)
from kedge.evaluation.prediction import ANCHOR_SHARE, LEAST, Prediction
from kedge.experiments.experiment import FromFiles, Task
from kedge.experiments.options import agent_option, chunk_option, data_option
from kedge.experiments.predict import DrawnPredict
from kedge.experiments.reports.report import Column, Report, Table
from kedge.games.hanabi import Hanabi
from kedge.options import Option
from kedge.records.hanabi.games import HanabiGame
from kedge.records.hanabi.positions import NO_BOTS, NO_PEOPLE, hanabi_sieve
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_FOR_TESTING

NOT_PLAYED = "for tables where the agent does not play"
_TABLES = range(2, 6)


def _plays(agent: HanabiAgent, rules: Hanabi) -> bool:
    """Whether the agent plays by these rules: most models do at one table."""
    try:
        agent.check(rules)
    except InputError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class HanabiPredict(DrawnPredict):
    """Predict people's moves in Hanabi, and report top-1 and cross-entropy.

    The report also groups moves by score, participant and kind of move. Moves of programs that play
    with people do not count. By default the games are those of the participants that `kedge train`
    keeps for testing. Games at tables where the agent does not play are left out. Scores are as the
    source counts them. Standard errors are clustered by participant.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge predict hanabi human_ai_2p.jsonl.xz --agent hanabi`
    - `kedge predict hanabi games.jsonl --agent "sparta(hanabi, lambda=1, rollouts=500)" --json`
    - `kedge predict hanabi smartbot_selfplay_2p.jsonl.xz --bots --agent conventions`
    """

    advice: ClassVar[Mapping[str, str]] = {
        NOT_FOR_TESTING: "--all keeps every game",
        NO_PEOPLE: "--bots predicts programs",
        NO_BOTS: "without --bots people are predicted",
        NOT_PLAYED: "kedge models names a model for each",
    }
    kinds: ClassVar[tuple[str, ...]] = KINDS
    counted: ClassVar[str] = "moves"
    newer: ClassVar[tuple[str, ...]] = ("players",)
    version: ClassVar[int] = 4  # 3 failed if there were tables where the agent does not play
    cpu_chunk: ClassVar[int] = 8  # a move with search takes seconds
    gpu_chunk: ClassVar[int] = 64
    remarks: ClassVar[tuple[str, ...]] = (
        "standard errors are clustered by participant where these are known, else by game.",
        f"cross-entropy: of the policy with {ANCHOR_SHARE:g} of the anchor's probability; no move "
        f"counts for less than {LEAST:g}.",
    )

    agent: Annotated[str, agent_option("Hanabi")]
    data: Annotated[tuple[str, ...], data_option("Games as JSON lines or exports of hanab.live")]
    limit: Annotated[int | None, Option("Use only the first N moves.", min=1)] = None
    chunk: Annotated[int | None, chunk_option("8, 64 on a GPU; more if there are very many")] = None
    game: Literal["hanabi"] = "hanabi"
    everything: Annotated[
        bool, Option("Also use games that models may learn from or be chosen by.", flags=("--all",))
    ] = False
    bots: Annotated[bool, Option("Predict the moves of programs instead of people.")] = False
    players: Annotated[int | None, Option("Only games of so many players.", min=2)] = None

    @property
    def keeps_games(self) -> bool:
        return self.drawn or not self.everything  # few games are held out

    def sieve(self) -> Sieve:
        filters = hanabi_sieve(
            everything=self.everything, bots=self.bots, players=self.players
        ).filters
        agent, plays = self.player, dict[str, bool]()

        def is_played(game: HanabiGame) -> bool:
            rules = str(game.rules)
            if rules not in plays:
                plays[rules] = _plays(agent, game.rules)
            return plays[rules]

        return Sieve({**filters, NOT_PLAYED: is_played})

    @FromFiles
    def tables(self) -> list[int]:
        """The numbers of players for which the agent plays; agents that differ share no games."""
        return [players for players in _TABLES if _plays(self.player, Hanabi(players))]

    def choice(self) -> dict[str, Any]:
        return {**super().choice(), "tables": self.tables}

    def predict(
        self, games: Sequence[tuple[HanabiGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        return predict_analysed(analysed_games(games, self.player, rng))


@dataclass(frozen=True, kw_only=True)
class HanabiSweep(HanabiPredict):
    """A search at several λ. It values moves once, because values do not depend on λ."""

    name: ClassVar[str] = "predict-sweep"

    lambdas: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for lam in self.lambdas:
            if not lam >= 0.0:
                raise InputError(f"lambdas: at least 0, not {lam:g}")

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        games = analysed_games(self.chosen(task), self.player, rng)
        predictions = [predict_at(lam, games) for lam in self.lambdas]
        return {
            "games": [[game.to_json() for game in each.games] for each in predictions],
            "unsearched": games.unsearched,
        }

    def predicted(self, results: Mapping[str, dict[str, Any]]) -> dict[float, Prediction]:
        """Return the predictions by λ."""
        return {
            lam: self.joined(chunk["games"][number] for chunk in results.values())
            for number, lam in enumerate(self.lambdas)
        }

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = [
            {"lambda": lam, **prediction.to_json()}
            for lam, prediction in self.predicted(results).items()
        ]
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
                rows,
            ),
            notes=self.remarks,
        )

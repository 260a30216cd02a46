"""Figure 3 (left): is search that beats a human model still human?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from kedge.evaluation.prediction import few_games
from kedge.experiments import Column, Experiment, Report, Table
from kedge.experiments.diplomacy.tournament import Tournament, games_of
from kedge.paper.diplomacy.agents import NOT_AVAILABLE
from kedge.paper.diplomacy.figures import draw_human_tradeoff
from kedge.paper.diplomacy.prediction import DiplomacyPrediction
from kedge.paper.diplomacy.published import AMONG_IL, IL, RL_ACCURACY
from kedge.paper.diplomacy.strength import DiplomacyGames, Pair, share
from kedge.paper.table_parts import beside_paper, titled


@dataclass(frozen=True, kw_only=True)
class DiplomacyTradeoff(DiplomacyPrediction, DiplomacyGames):
    """Figure 3 (left): top-1 accuracy of unit orders, and the share of a game among six IL."""

    name: ClassVar[str] = "diplomacy-tradeoff"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tournaments  # checks their settings; predictions would look for the data

    @cached_property
    def tournaments(self) -> dict[Pair, Tournament]:
        """The tournament of each search among six IL."""
        return {Pair(name, IL): self.tournament(name, IL) for name in self.searches}

    def parts(self) -> Mapping[Any, Experiment]:
        return {**self.predictions(), **self.tournaments}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        parts = self.by_part(results)
        # One among six of its own kind gets a seventh.
        shares: dict[str, Mapping[str, Any]] = {IL: {"mean": 1 / 7, "mean_se": None}}
        shares |= {pair.one: share(games_of(parts[pair]), 0) for pair in self.tournaments}
        predicted = self.rows(results, "top1")
        rows = [
            {
                **row,
                **{key: shares[row["agent"]][key] for key in ("mean", "mean_se")},
                "matches": shares[row["agent"]].get("games"),
                "paper_top1": None,
                **beside_paper(AMONG_IL.get(row["agent"])),
            }
            for row in predicted
        ]
        earlier = [
            {"agent": f"{name} ({NOT_AVAILABLE})", "paper_top1": top1}
            for name, top1 in RL_ACCURACY.items()
        ]
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("top1", "top-1", ".1%", error="top1_se"),
                    Column("paper_top1", "paper top-1", ".1%"),
                    Column("gain", f"against {IL}", "+.2%", error="gain_se"),
                    Column("matches", "games", ","),
                    Column("mean", "share", ".1%", error="mean_se"),
                    Column("paper", "paper share", ".1%", error="paper_se"),
                ],
                [*rows, *earlier],
            ),
            notes=[
                *self.notes(predicted),
                *few_games(row["games"] for row in predicted),
                *self.game_notes(),
                "The paper's accuracies are in a drawing, but for those above; its text has piKL "
                "at λ=0.1 level with IL, and at λ=0.001 some 6% above RM and Hedge.",
                f"{IL} predicts as {self.imitation()}, at temperature 1.",
                *self.agent_notes(self.predictors),
            ],
            draw=lambda figure: draw_human_tradeoff(figure, rows),
            figure_size=(6.4, 4.6),
        )

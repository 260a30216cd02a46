"""Appendix C and Figure 3 (right): how well does search over a human model predict orders?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kedge.errors import InputError
from kedge.evaluation.prediction import ANCHOR_SHARE, LEAST, Prediction, few_games
from kedge.experiments import Column, Experiment, Report, Table
from kedge.experiments.diplomacy.predict import DiplomacyPredict
from kedge.paper.checks import check_counts
from kedge.paper.diplomacy.agents import DiplomacyTable
from kedge.paper.diplomacy.figures import draw_by_pseudo_elo, draw_cross_entropy
from kedge.paper.diplomacy.published import IL, RM, pikl
from kedge.paper.table_parts import Scores, find_games, titled
from kedge.records import read_diplomacy_games

USUAL_DATA = Path("data", "diplomacy", "droidippy.jsonl.xz")


@dataclass(frozen=True, kw_only=True)
class DiplomacyPrediction(DiplomacyTable):
    """Base of the tables that compare people's orders with those of several agents."""

    data: str = ""
    positions: int | None = 100
    """Number of movement phases, drawn from all games; None is all."""
    tier: str | None = None
    everything: bool = False
    """Whether to keep games on which models may be trained."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positions is not None:
            check_counts(positions=self.positions)

    @property
    def predictors(self) -> list[str]:
        """The names of the measured agents, the human model first."""
        return [IL, *self.searches]

    def predictions(self) -> dict[str, DiplomacyPredict]:
        """The experiments of all agents, by label."""
        data = find_games(self.data, USUAL_DATA, "JSON lines, or the diplomacy package's")
        specs = self.specs | {IL: self.imitation()}  # people are predicted at temperature 1
        return {
            f"orders by {name}": DiplomacyPredict(
                agent=str(specs[name]),
                data=(str(data),),
                limit=self.positions,
                drawn=self.positions is not None,
                everything=self.everything,
                tier=self.tier,
                device=self.device,
                dtype=self.dtype,
                seed=self.seed,
            )
            for name in self.predictors
        }

    def parts(self) -> Mapping[str, Experiment]:
        return self.predictions()

    def predicted(self, results: Mapping[str, dict[str, Any]]) -> dict[str, Prediction]:
        """The predictions of each agent, game by game."""
        parts = self.by_part(results)
        return {
            name: DiplomacyPredict.joined(
                chunk["games"] for chunk in parts[f"orders by {name}"].values()
            )
            for name in self.predictors
        }

    def rows(self, results: Mapping[str, dict[str, Any]], key: str) -> list[dict[str, Any]]:
        """Each agent's score, and its gain over the human model on the same orders."""
        scores = {
            name: Scores.of(prediction.games)
            for name, prediction in self.predicted(results).items()
        }
        rows = []
        for name, agent_scores in scores.items():
            gain = {} if name == IL else agent_scores.gain(scores[IL])
            summary = agent_scores.summary()
            rows.append(
                {
                    "agent": name,
                    **{name: summary[name] for name in ("games", "positions", key, f"{key}_se")},
                    "gain": gain.get(key),
                    "gain_se": gain.get(f"{key}_se"),
                }
            )
        return rows

    def notes(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """The notes under each of these tables."""
        drawn = (
            "All movement phases"
            if self.positions is None
            else f"At most {self.positions:,} movement phases, drawn by seed {self.seed},"
        )
        kept = "all games" if self.everything else "games kept for testing"
        tier = "" if self.tier is None else f" of tier {self.tier}"
        return [
            f"{drawn} of {kept}{tier}: {rows[0]['positions']:,} orders of "
            f"{rows[0]['games']:,} games. ± is one standard error, clustered by game; differences "
            f"are paired: the same orders.",
        ]


@dataclass(frozen=True, kw_only=True)
class DiplomacyCrossEntropy(DiplomacyPrediction):
    """Appendix C: cross-entropy of unit orders, of the human model and of searches over it."""

    name: ClassVar[str] = "diplomacy-cross-entropy"

    lambdas: tuple[float, ...] = (1e3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    """The first is the anchor itself on the candidates of a search."""

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = self.rows(results, "cross_entropy")
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("cross_entropy", "nats", ".3f", error="cross_entropy_se"),
                    Column("gain", f"against {IL}", "+.3f", error="gain_se"),
                ],
                rows,
            ),
            notes=[
                *self.notes(rows),
                f"Each unit's orders over the joint actions, with {ANCHOR_SHARE:g} of the anchor's "
                f"probability, so that it is finite; no order counts for less than {LEAST:g}.",
                "A search gives all to its candidates: what people order besides has no more than "
                "that share. At a large λ it is the anchor on these candidates.",
                *few_games(row["games"] for row in rows),
                "The paper's figures are in a drawing alone; its text has piKL better than "
                "searches without an anchor, and at λ=0.1 level with IL.",
                *self.agent_notes(self.predictors),
            ],
            draw=lambda figure: draw_cross_entropy(figure, rows),
            figure_size=(6.4, 1.4 + 0.3 * len(rows)),
        )


@dataclass(frozen=True, kw_only=True)
class DiplomacyByRating(DiplomacyPrediction):
    """Figure 3 (right): top-1 accuracy of unit orders by the pseudo-Elo of those predicted."""

    name: ClassVar[str] = "diplomacy-by-rating"

    lambdas: tuple[float, ...] = (1e-1, 1e-3)

    @property
    def predictors(self) -> list[str]:
        return [IL, RM, *map(pikl, self.lambdas)]

    def check(self) -> None:
        super().check()
        part = next(iter(self.predictions().values()))
        [path], sieve = part.data, part.sieve()
        games = read_diplomacy_games(path, sieve.read)
        if not any(game.ratings and sieve.plies(game).any() for game in games):
            raise InputError(
                f"{path}: no game has ratings; fit them with pseudo_elo of kedge.evaluation, which "
                f"needs the players' names"
            )

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = [
            {"agent": name, "rating": rating, **summary}
            for name, prediction in self.predicted(results).items()
            for rating, summary in prediction.to_json()["groups"]["rating"].items()
        ]
        if not rows:
            raise InputError("no drawn order is by a rated player; draw more positions")
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("rating", "pseudo-Elo"),
                    Column("games", format=","),
                    Column("positions", "orders", ","),
                    Column("top1", "top-1", ".1%", error="top1_se"),
                    Column("cross_entropy", "nats", ".3f", error="cross_entropy_se"),
                ],
                rows,
            ),
            notes=[
                *self.notes(self.rows(results, "top1")),
                *few_games(row["games"] for row in rows),
                "The paper's figures are in a drawing alone: searches predict stronger players "
                "better, and piKL at λ=0.1 predicts all of them as IL does.",
                *self.agent_notes(self.predictors),
            ],
            draw=lambda figure: draw_by_pseudo_elo(figure, rows),
            figure_size=(6.4, 4.0),
        )

"""How well an agent predicts what people order in Diplomacy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from kedge.evaluation.diplomacy.prediction import KINDS, predict_orders
from kedge.evaluation.prediction import ANCHOR_SHARE, LEAST, Prediction
from kedge.experiments.options import agent_option, chunk_option, data_option
from kedge.experiments.predict import DrawnPredict
from kedge.options import Option
from kedge.records import DiplomacyGame
from kedge.records.diplomacy.positions import NO_BOTS, NO_PEOPLE, human_orders, order_sieve
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_FOR_TESTING


@dataclass(frozen=True, kw_only=True)
class DiplomacyPredict(DrawnPredict):
    """Predict people's orders in Diplomacy, and report top-1 and cross-entropy.

    Top-1 compares the agent's likeliest joint orders with the orders given, unit by unit, in
    movement phases. The report also groups orders by power, season, year, tier and rating. By
    default the games are those that `kedge train` keeps for testing. Standard errors are clustered
    by game.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge predict diplomacy droidippy.jsonl.xz --agent diplomacy`
    - `kedge predict diplomacy games.jsonl --all --agent "pikl-hedge(diplomacy)" --limit 500 --json`
    """

    newer: ClassVar[tuple[str, ...]] = ("bots",)
    version: ClassVar[int] = 3  # 2 tested on games by which models are chosen, too
    advice: ClassVar[Mapping[str, str]] = {
        NOT_FOR_TESTING: "--all keeps every game",
        NO_PEOPLE: "--bots predicts programs",
        NO_BOTS: "without --bots people are predicted",
    }
    kinds: ClassVar[tuple[str, ...]] = KINDS
    counted: ClassVar[str] = "orders"
    cpu_chunk: ClassVar[int] = 4  # a phase with search takes seconds
    gpu_chunk: ClassVar[int] = 32
    remarks: ClassVar[tuple[str, ...]] = (
        "orders of movement phases; a unit without one held. Powers that ordered nothing at all "
        "in a phase are left out.",
        f"cross-entropy: each unit's orders over the joint actions, with {ANCHOR_SHARE:g} of the "
        f"anchor's probability; none counts for less than {LEAST:g}.",
    )

    agent: Annotated[str, agent_option("Diplomacy")]
    data: Annotated[tuple[str, ...], data_option("Games as JSON lines")]
    limit: Annotated[int | None, Option("Use only the first N movement phases.", min=1)] = None
    chunk: Annotated[int | None, chunk_option("4, 32 on a GPU; more if there are very many")] = None
    game: Literal["diplomacy"] = "diplomacy"
    everything: Annotated[
        bool, Option("Also use games that models may learn from or be chosen by.", flags=("--all",))
    ] = False
    tier: Annotated[str | None, Option("Use only games of this tier.")] = None
    bots: Annotated[bool, Option("Predict the orders of programs instead of people.")] = False

    def sieve(self) -> Sieve:
        return order_sieve(everything=self.everything, tier=self.tier, bots=self.bots)

    def predict(
        self, games: Sequence[tuple[DiplomacyGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        orders = [
            human for game, phases in games for human in human_orders(game, phases, bots=self.bots)
        ]
        return predict_orders(orders, self.player, rng)

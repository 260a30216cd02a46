"""How well an agent predicts what people order in Diplomacy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.evaluation.diplomacy.prediction import KINDS, predict_orders
from kedge.evaluation.prediction import ANCHOR_SHARE, LEAST, Prediction
from kedge.experiments.players import player_on
from kedge.experiments.predict import DrawnPredict
from kedge.records import DiplomacyGame, ReadReport, read_diplomacy_games
from kedge.records.chess.filters import Sieve
from kedge.records.diplomacy.positions import human_orders, order_sieve
from kedge.records.splits import NOT_HELD_OUT


@dataclass(frozen=True, kw_only=True)
class DiplomacyPredict(DrawnPredict):
    """Diplomacy: the orders of movement phases, unit by unit."""

    advice: ClassVar[Mapping[str, str]] = {NOT_HELD_OUT: "--all keeps every game"}
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

    game: Literal["diplomacy"] = "diplomacy"
    everything: bool = False
    """Whether games stay that models may be trained on."""
    tier: str | None = None

    def sieve(self) -> Sieve:
        return order_sieve(everything=self.everything, tier=self.tier)

    def read(self, path: str, report: ReadReport, threads: int) -> Iterator[DiplomacyGame]:
        return read_diplomacy_games(path, report)

    def player(self) -> Any:
        return player_on(self.device, self.dtype, self.agent, self.game)

    def predict(
        self, games: Sequence[tuple[DiplomacyGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        chosen = [one for game, phases in games for one in human_orders(game, phases)]
        return predict_orders(chosen, self.player(), rng)

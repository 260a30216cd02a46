"""Agents for Diplomacy: a human model by itself, and one-ply search over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kedge.agents.agent import Agent, Analysis
from kedge.games.diplomacy import PackedOrders
from kedge.models.diplomacy import OrderModel, Question


@dataclass(frozen=True, kw_only=True)
class OrdersAnalysis(Analysis):
    """What an agent thinks of one power's decision; an action is all that the power orders."""

    orders: list[PackedOrders]
    """One joint order of the power for each entry of ``anchor``, ``policy`` and ``q``."""


@runtime_checkable
class DiplomacyPlayer(Agent, Protocol):
    """An agent that is asked about many positions, and several powers of each, at once.

    Questions about the very same state object share one search; each power still draws by itself.
    """

    @property
    def model(self) -> OrderModel:
        """The human model that it starts from."""
        ...

    def analyse_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> list[OrdersAnalysis]: ...

    def act_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> list[PackedOrders]:
        """What each asked power orders now."""
        ...

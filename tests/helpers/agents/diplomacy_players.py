"""Agents for Diplomacy that know nothing: any orders, or none."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kedge.agents import AGENTS
from kedge.agents.diplomacy.players import OrdersAgent, OrdersAnalysis
from kedge.games.diplomacy import POWERS, unit_of


class AnyOrder:
    """A human model: every legal order of a unit alike."""

    def draw(self, questions, count, rng, *, temperature=1.0, top_p=1.0, most=None):
        raise NotImplementedError

    def score(self, questions, orders):
        return [
            np.array([-np.log(len(state.orders()[unit_of(order)[2:]])) for order in one.tolist()])
            for (state, _), one in zip(questions, orders, strict=True)
        ]


@dataclass
class RandomOrders(OrdersAgent):
    """Draws `candidates` joint orders, likelier the later; the last is worth most."""

    candidates: int = 3
    asked: list = field(default_factory=list)

    model = AnyOrder()

    def analyse_many(self, questions, rng):
        self.asked.append(questions)
        return [self._analysis(state, POWERS[power], rng) for state, power in questions]

    def _analysis(self, state, power, rng):
        options = state.orders(power).values()
        orders = [
            state.pack({power: [str(rng.choice(place)) for place in options]})
            for _ in range(self.candidates)
        ]
        policy = np.arange(1.0, self.candidates + 1.0)
        policy /= policy.sum()
        anchor = np.full(self.candidates, 1.0 / self.candidates)
        return OrdersAnalysis(anchor, policy, policy / 2, 0.25, orders=orders)

    def act_many(self, questions, rng):
        return [one.orders[-1] for one in self.analyse_many(questions, rng)]


class Holds(RandomOrders):
    """Never orders anything."""

    def act_many(self, questions, rng):
        self.asked.append(questions)
        return [np.zeros(0, np.uint32) for _ in questions]


@pytest.fixture
def registered(monkeypatch):
    """Both by spec, in this process."""
    monkeypatch.setitem(AGENTS._makers, "random-orders", RandomOrders)
    monkeypatch.setitem(AGENTS._makers, "holds", Holds)

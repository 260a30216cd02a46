"""Agents for Diplomacy: a human model alone, and one-ply search over it."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Analysis, BasePlayer
from kedge.agents.devices import device
from kedge.agents.diplomacy.search import (
    NOTHING,
    Candidates,
    CandidateSettings,
    JointValues,
    choose_candidates,
    normalised,
    with_orders,
)
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, DiplomacyBatch, DiplomacyState, PackedOrders
from kedge.models.diplomacy.model import OrderModel, Question, ValueModel
from kedge.regularize import Array
from kedge.search.one_ply import PRESETS, OnePly, OnePlySearch
from kedge.search.regret import Iterate, PiKLHedge
from kedge.search.regret.parameters import check_lambdas, check_word
from kedge.specs import Spec, word

States = dict[int, DiplomacyState]  # by id


@dataclass(frozen=True, kw_only=True)
class OrdersAnalysis(Analysis):
    """Analysis of one power's decision; an action is a joint order of the power's units."""

    orders: list[PackedOrders]
    """One joint order of the power for each entry of ``anchor``, ``policy`` and ``q``."""

    @property
    def moves(self) -> list[PackedOrders]:
        return self.orders

    def marginals(self) -> dict[int, float]:
        """Return the probability of each packed order of a unit."""
        shares: dict[int, float] = {}
        for orders, share in zip(self.orders, self.policy.tolist(), strict=True):
            for order in orders.tolist():
                shares[order] = shares.get(order, 0.0) + share
        return shares


class OrdersAgent(BasePlayer[Question]):
    """An agent for Diplomacy, asked about powers in states.

    Questions about the very same state object share one search; each power still draws alone.
    """

    is_search: ClassVar[bool]
    """Whether it searches: slow, but one search answers for all powers of a state."""
    model: OrderModel
    """Human model, the anchor."""
    value: ValueModel
    """Model that values positions."""

    @property
    def states(self) -> type:
        return DiplomacyState

    @abstractmethod
    def analyse_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> list[OrdersAnalysis]: ...

    def analyse_played(
        self,
        questions: Sequence[Question],
        played: Sequence[PackedOrders],
        rng: np.random.Generator,
    ) -> list[OrdersAnalysis]:
        """Analyse each question with the orders that were `played` among the candidates.

        An agent that has no candidates ignores them.
        """
        return self.analyse_many(questions, rng)

    def question(self, state: DiplomacyState, player: int) -> Question:
        return state, player


@dataclass(frozen=True)
class ImitationAgent(OrdersAgent):
    """Orders as a human model does, at a temperature; the anchor of searches.

    ``value`` values positions for searches that name no other model.
    """

    model: OrderModel
    value: ValueModel
    temperature: float = 1.0
    top_p: float = 1.0
    samples: int = 1024
    imitates_people: bool = False

    is_search = False

    def __post_init__(self) -> None:
        if not isinstance(self.temperature, int | float) or not self.temperature > 0.0:
            raise InputError(f"temperature: a number above 0, not {self.temperature}")
        if not isinstance(self.top_p, int | float) or not 0.0 < self.top_p <= 1.0:
            raise InputError(f"top_p: above 0 and at most 1, not {self.top_p}")

    def analyse_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> list[OrdersAnalysis]:
        """Return one analysis per question, of the joint orders among `samples` draws."""
        _check(questions)
        draws = self.model.draw(
            questions, self.samples, rng, temperature=self.temperature, top_p=self.top_p
        )
        values = self.value.values(DiplomacyBatch([state.board for state, _ in questions]))
        return [
            OrdersAnalysis(
                anchor=normalised(drawn.log_probability),
                policy=normalised(drawn.log_probability / self.temperature),
                q=np.full(len(drawn.orders), nan),
                value=float(shares[power]),
                orders=drawn.orders,
            )
            for drawn, shares, (_, power) in zip(draws, values, questions, strict=True)
        ]

    def act_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> list[PackedOrders]:
        _check(questions)
        draws = self.model.draw(questions, 1, rng, temperature=self.temperature, top_p=self.top_p)
        return [drawn.orders[0] for drawn in draws]


@dataclass(frozen=True)
class OrderSearch(OrdersAgent):
    """One-ply search over the candidates of all seven powers; plays a draw from its policy."""

    model: OrderModel
    value: ValueModel
    search_settings: OnePly
    candidate_settings: CandidateSettings = field(default_factory=CandidateSettings)
    rollout: int = 0
    """Movement phases that the model plays before a position is valued."""
    greedy: bool = False
    """Whether to play the candidate of the highest value. With all others at the anchor (λ = ∞)
    it is the best response."""
    threads: int = 0
    """CPU threads, besides those of the models; 0 for all cores."""
    imitates_people: bool = False

    is_search = True

    def __post_init__(self) -> None:
        if not isinstance(self.rollout, int) or self.rollout < 0:
            raise InputError(f"rollout: a number of movement phases, not {self.rollout}")

    def analyse_played(
        self,
        questions: Sequence[Question],
        played: Sequence[PackedOrders],
        rng: np.random.Generator,
    ) -> list[OrdersAnalysis]:
        return self.analyse_many(questions, rng, played)

    def analyse_many(
        self,
        questions: Sequence[Question],
        rng: np.random.Generator,
        played: Sequence[PackedOrders] | None = None,
    ) -> list[OrdersAnalysis]:
        """Analyse each question. `played`, one joint order per question, is a candidate too."""
        _check(questions)
        powers: dict[int, set[int]] = {}  # by state: one search per state object
        states = {id(state): state for state, _ in questions}
        for state, power in questions:
            powers.setdefault(id(state), set()).add(power)
        candidates = self._candidates(states, powers, rng)
        if played is not None:
            self._add(candidates, questions, played)
        # A power with one candidate needs no search.
        busy = [
            root
            for root, by_power in candidates.items()
            if any(len(by_power[power].orders) > 1 for power in powers[root])
        ]
        results = dict(zip(busy, self._search(states, candidates, powers, busy, rng), strict=True))
        # A search values its own root.
        unsearched = [root for root in states if root not in results]
        boards = DiplomacyBatch([states[root].board for root in unsearched])
        values = dict(zip(unsearched, self.value.values(boards) if boards else (), strict=True))
        return [
            self._unsearched(candidates.get(id(state)), power, values[id(state)])
            if id(state) in values
            else self._searched(candidates[id(state)][power], results[id(state)], power)
            for state, power in questions
        ]

    def _candidates(
        self, states: States, powers: dict[int, set[int]], rng: np.random.Generator
    ) -> dict[int, list[Candidates]]:
        """Return all powers' candidates, for states where one of `powers` has orders due."""
        due = [
            root
            for root, state in states.items()
            if any(state.due[power] for power in powers[root])
        ]
        questions = [(states[root], power) for root in due for power in range(len(POWERS))]
        selected = choose_candidates(self.model, questions, self.candidate_settings, rng)
        count = len(POWERS)
        return {root: selected[count * k : count * (k + 1)] for k, root in enumerate(due)}

    def _add(
        self,
        candidates: dict[int, list[Candidates]],
        questions: Sequence[Question],
        played: Sequence[PackedOrders],
    ) -> None:
        due = [i for i, orders in enumerate(played) if len(orders)]
        ordering = [questions[i] for i in due]
        before = [candidates[id(state)][power] for state, power in ordering]
        after = with_orders(self.model, ordering, before, [played[i] for i in due])
        for (state, power), extended in zip(ordering, after, strict=True):
            candidates[id(state)][power] = extended

    def _search(
        self,
        states: States,
        candidates: dict[int, list[Candidates]],
        powers: dict[int, set[int]],
        busy: list[int],
        rng: np.random.Generator,
    ) -> list[Iterate]:
        if not busy:
            return []
        wanted = [
            [not self.greedy or power in powers[root] for power in range(len(POWERS))]
            for root in busy
        ]
        roots = [candidates[root] for root in busy]
        joint = JointValues(
            [states[root] for root in busy],
            roots,
            np.array(wanted),
            self.model,
            self.value,
            self.rollout,
            rng,
            self.threads,
        )
        anchors = [[power.anchor for power in root] for root in roots]
        seeds = rng.spawn(len(busy))
        searching = OnePlySearch(joint.counts, anchors, self.search_settings, seeds)
        for sampled in searching.samples():
            searching.observe(joint.utilities(sampled))
        return searching.finals()

    def _unsearched(
        self, candidates: list[Candidates] | None, power: int, shares: Array
    ) -> OrdersAnalysis:
        """Return the analysis of a power that has at most one candidate."""
        orders, anchor = NOTHING if candidates is None else candidates[power]
        unknown = np.full(len(orders), nan)
        return OrdersAnalysis(anchor, anchor, unknown, float(shares[power]), orders=orders)

    def _searched(self, candidates: Candidates, result: Iterate, power: int) -> OrdersAnalysis:
        orders, anchor = candidates
        q, policy = result.q[power], result.policies[power]
        if self.greedy:
            policy = np.eye(len(q))[np.argmax(q)]
        return OrdersAnalysis(anchor, policy, q, float(policy @ q), orders=orders)


def search_agent(
    name: str,
    anchor: ImitationAgent,
    *,
    iterations: int = 512,
    candidates: int = 30,
    per_unit: float = 3.5,
    samples: int = 1024,
    rollout: int = 0,
    preset: Spec | str = "paper",
    value: ValueModel | None = None,
    **dial: Any,
) -> OrderSearch:
    """Return the search called `name` over `anchor`.

    `name` is a regret minimiser, with ``lam`` or ``lambdas`` as its dial, or "best-response".
    `preset` is "paper", or "authors" for the settings of the authors' released code.
    """
    if (anchor.temperature, anchor.top_p) != (1.0, 1.0):
        raise InputError("anchor: a search needs temperature 1 and top_p 1; leave them out")
    for what, lams in dial.items():
        check_lambdas(lams, np.size(lams), "lambda" if what == "lam" else what)
    greedy, preset = name == "best-response", word("preset", preset)
    check_word("preset", preset, PRESETS)
    released = preset == "authors"
    settings = (
        OnePly(PiKLHedge(inf), iterations)
        if greedy
        else OnePly.preset(preset, name, iterations, **dial)
    )
    return OrderSearch(
        anchor.model,
        anchor.value if value is None else value,
        settings,
        CandidateSettings(candidates, per_unit, samples, 1.0 if released else 0.95, released),
        rollout,
        greedy,
        device()[2],
        anchor.imitates_people,
    )


def _check(questions: Sequence[Question]) -> None:
    if any(state.is_terminal() for state, _ in questions):
        raise InputError("the game is over: no orders to give")

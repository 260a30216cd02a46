"""PUCT for any game: the anchor is not a network, and states have OpenSpiel's methods."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kedge import _core, catalogue
from kedge.agents.agent import Analysis, BasePlayer
from kedge.agents.board.analysis import PuctPlayer
from kedge.errors import InputError
from kedge.search.puct import SearchResult, Settings, search_many
from kedge.search.puct.plain import Evaluation, search_states


class StateAnchor(BasePlayer[Any]):
    """An agent for states with OpenSpiel's methods that PUCT can search over.

    Its analyses must have the legal actions in the order of the state, and a finite value.
    """

    is_uniform: ClassVar[bool] = False
    """Whether it plays all actions alike and values every state at 0, as native forests can."""

    @abstractmethod
    def analyse_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Return one `Analysis` per state."""

    def puct_search(self, value: Any, settings: Settings, **options: Any) -> "StatePuctAgent":
        """Return PUCT with this agent as its anchor, valued by `value` or by the anchor."""
        if value is not None and not isinstance(value, StateAnchor):
            raise InputError("puct: value= must be an agent of the same kind as the anchor")
        return StatePuctAgent(self, settings, value=value, **options)


@dataclass(frozen=True)
class StatePuctAgent(PuctPlayer, BasePlayer[Any]):
    """PUCT over an anchor that is not a network; plays visit counts at a temperature.

    It plays games of two players who move in turn. The search is plain Python, many roots at once.
    The uniform anchor does not look at the state, so it uses the game's native forest if there is
    one.
    """

    anchor: StateAnchor
    settings: Settings = field(default_factory=Settings)
    temperature: float = 1.0
    forward_lambda: float = 0.0
    value: StateAnchor | None = None

    @property
    def states(self) -> type:
        return self.anchor.states

    @property
    def imitates_people(self) -> bool:  # type: ignore[override]
        return self.anchor.imitates_people

    def analyse_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Search each state as if it were alone; nothing is drawn, so `rng` has no effect."""
        for state in questions:
            _check(state)
        return [self.analysis(result) for result in self._search(questions)]

    def _search(self, states: Sequence[Any]) -> list[SearchResult]:
        forest = _forest(states) if self.value is None and self.anchor.is_uniform else None
        if forest is not None:
            boards = [state.board for state in states]
            return search_many(forest, boards, _evaluate_uniformly, self.settings)
        return search_states(states, self._evaluate, self.settings)

    def _evaluate(self, states: list[Any]) -> list[Evaluation]:
        priors = self.anchor.analyse_many(states)
        values = priors if self.value is None else self.value.analyse_many(states)
        return [
            (prior.policy.tolist(), _finite(analysis.value))
            for prior, analysis in zip(priors, values, strict=True)
        ]


def _forest(states: Sequence[Any]) -> "_core.Forest | None":
    """The native forest of the game, if it has one."""
    if not states or not hasattr(states[0], "board"):
        return None
    kind = type(states[0])
    for entry in catalogue.entries("forest"):
        if entry.load_or_skip("state") is kind:  # a subclass may have other rules
            forest: _core.Forest = entry.load("forest")(0)
            return forest
    return None


def _evaluate_uniformly(forest: "_core.Forest") -> None:
    """Give the waiting leaves a uniform prior and the value 0."""
    counts = np.asarray(forest.action_counts())
    forest.update_logits(np.zeros(counts.sum(), np.float32), np.zeros(len(counts), np.float32), 1.0)


def _check(state: Any) -> None:
    if state.is_terminal() and not state.legal_actions():
        raise InputError("the game is over: no move to play")
    if len(state.returns()) != 2 or state.current_player() not in (0, 1):
        raise InputError("puct: plays only games of two players who move in turn")


def _finite(value: Any) -> float:
    if not np.isfinite(value):
        raise InputError(
            "puct: the anchor values no positions; give one that does with value=AGENT"
        )
    return float(value)

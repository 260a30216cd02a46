"""Agents for normal-form games: regret minimisers in self-play."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.agents.agent import Agent, Analysis, BasePlayer
from kedge.agents.registry import no_such
from kedge.games.normal_form import NormalFormState
from kedge.search.regret import Algorithm, iterates
from kedge.search.regret.algorithms import by_name


class NormalFormAgent(BasePlayer[tuple[NormalFormState, int]]):
    """An agent for normal-form games. It can be the anchor of a regret minimiser."""

    @property
    def states(self) -> type:
        return NormalFormState

    def question(self, state: NormalFormState, player: int) -> tuple[NormalFormState, int]:
        return state, player

    @abstractmethod
    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        """Yield ever better analyses."""

    def analyse_many(
        self, questions: Sequence[tuple[NormalFormState, int]], rng: np.random.Generator
    ) -> list[Analysis]:
        """Return the last analysis of each question; `rng` has no effect."""
        return [deque(self.analyse(*question), maxlen=1)[0] for question in questions]


@dataclass(frozen=True)
class RegretAgent(NormalFormAgent):
    """Plays its policy of the profile that `algorithm` finds with `anchor` for every player."""

    anchor: Agent
    algorithm: Algorithm
    iterations: int = 10_000

    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        game = state.game
        anchors = [self.anchor.policy(state, other) for other in range(game.num_players)]
        tenth = max(1, self.iterations // 10)
        checkpoints = [*range(tenth, self.iterations, tenth), self.iterations]
        for step in iterates(game, self.algorithm, anchors=anchors, checkpoints=checkpoints):
            q = game.action_values(step.policies)[player]
            policy = step.policies[player]
            yield Analysis(anchors[player], policy, q, float(policy @ q))


def regret_search(
    anchor: Agent, name: str, dial: Mapping[str, Any], options: Mapping[str, Any]
) -> RegretAgent:
    """Return the regret minimiser called `name` of normal-form games over `anchor`."""
    for option in options.keys() - {"iterations"}:
        raise no_such(option, f"{name} of normal-form games", [*dial, "iterations"])
    return RegretAgent(anchor, by_name(name, **dial), **options)

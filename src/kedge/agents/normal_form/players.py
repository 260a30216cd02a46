"""Agents for normal-form games: the uniform anchor, and regret minimisers in self-play."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.agents.agent import Agent, Analysis, draw
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormState
from kedge.regularize import Array
from kedge.search.regret import Algorithm, iterates


@dataclass(frozen=True)
class UniformAgent:
    """Every legal action alike: the anchor when nothing is known of people."""

    states: ClassVar[type] = NormalFormState

    def policy(self, state: NormalFormState, player: int) -> Array:
        count = len(state.legal_actions(player))
        if not count:
            raise InputError("the game is over: there is nothing to play")
        return np.full(count, 1.0 / count)

    def act(self, state: NormalFormState, player: int, rng: np.random.Generator) -> int:
        return draw(self.policy(state, player), rng)

    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        anchors = [self.policy(state, other) for other in range(state.game.num_players)]
        q = state.game.action_values(anchors)[player]
        yield Analysis(anchors[player], anchors[player], q, float(anchors[player] @ q))


@dataclass(frozen=True)
class RegretAgent:
    """Plays its part of the profile that `algorithm` finds with `anchor` for every player."""

    states: ClassVar[type] = NormalFormState

    anchor: Agent
    algorithm: Algorithm
    iterations: int = 10_000

    def policy(self, state: NormalFormState, player: int) -> Array:
        *_, last = self.analyse(state, player)
        return last.policy

    def act(self, state: NormalFormState, player: int, rng: np.random.Generator) -> int:
        return draw(self.policy(state, player), rng)

    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        game = state.game
        anchors = [self.anchor.policy(state, other) for other in range(game.num_players)]
        tenth = max(1, self.iterations // 10)
        checkpoints = [*range(tenth, self.iterations, tenth), self.iterations]
        for step in iterates(game, self.algorithm, anchors=anchors, checkpoints=checkpoints):
            q = game.action_values(step.policies)[player]
            policy = step.policies[player]
            yield Analysis(anchors[player], policy, q, float(policy @ q))

"""Agents for normal-form games: the uniform anchor, and regret minimisers in self-play."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Analysis, draw
from kedge.agents.registry import no_such
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormState
from kedge.regularize import Array
from kedge.search.regret import Algorithm, iterates
from kedge.search.regret.algorithms import by_name


class NormalFormAgent(ABC):
    """An agent for normal-form games; any of them can be the anchor of a regret minimiser."""

    states: ClassVar[type] = NormalFormState

    @abstractmethod
    def policy(self, state: NormalFormState, player: int) -> Array:
        """The probability of each action."""

    @abstractmethod
    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        """Yield ever better analyses."""

    def act(self, state: NormalFormState, player: int, rng: np.random.Generator) -> int:
        """Draw an action from the policy."""
        return draw(self.policy(state, player), rng)

    def regret_search(
        self, name: str, dial: Mapping[str, Any], options: Mapping[str, Any]
    ) -> "RegretAgent":
        """Return the regret minimiser called `name` with this agent as its anchor."""
        for option in options.keys() - {"iterations"}:
            raise no_such(option, f"{name} of normal-form games", [*dial, "iterations"])
        return RegretAgent(self, by_name(name, **dial), **options)


@dataclass(frozen=True)
class UniformAgent(NormalFormAgent):
    """Every legal action alike: the anchor when nothing is known of people."""

    def policy(self, state: NormalFormState, player: int) -> Array:
        count = len(state.legal_actions(player))
        if not count:
            raise InputError("the game is over: there is nothing to play")
        return np.full(count, 1.0 / count)

    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        anchors = [self.policy(state, other) for other in range(state.game.num_players)]
        q = state.game.action_values(anchors)[player]
        yield Analysis(anchors[player], anchors[player], q, float(anchors[player] @ q))


@dataclass(frozen=True)
class RegretAgent(NormalFormAgent):
    """Plays its part of the profile that `algorithm` finds with `anchor` for every player."""

    anchor: NormalFormAgent
    algorithm: Algorithm
    iterations: int = 10_000

    def policy(self, state: NormalFormState, player: int) -> Array:
        *_, last = self.analyse(state, player)
        return last.policy

    def analyse(self, state: NormalFormState, player: int) -> Iterator[Analysis]:
        game = state.game
        anchors = [self.anchor.policy(state, other) for other in range(game.num_players)]
        tenth = max(1, self.iterations // 10)
        checkpoints = [*range(tenth, self.iterations, tenth), self.iterations]
        for step in iterates(game, self.algorithm, anchors=anchors, checkpoints=checkpoints):
            q = game.action_values(step.policies)[player]
            policy = step.policies[player]
            yield Analysis(anchors[player], policy, q, float(policy @ q))

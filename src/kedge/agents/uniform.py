"""The uniform agent, for any game: the anchor when nothing is known about people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.board.any_game import StateAnchor
from kedge.errors import InputError
from kedge.regularize import Array

_SIMULTANEOUS = -2  # OpenSpiel's `current_player` where all players decide at once


@dataclass(frozen=True)
class UniformAgent(StateAnchor):
    """Plays every legal action with the same probability, and values every state at 0."""

    is_uniform: ClassVar[bool] = True

    @property
    def states(self) -> type:
        return object

    def question(self, state: Any, player: int) -> tuple[Any, int]:
        return state, player

    def analyse_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Return one `Analysis` per question: a state, or a state and a player.

        The player is needed only where all players decide at once.
        """
        return [
            _analysis(*question) if isinstance(question, tuple) else _analysis(question)
            for question in questions
        ]


def _analysis(state: Any, player: int | None = None) -> Analysis:
    if player is not None and state.current_player() == _SIMULTANEOUS:
        policies = [_uniform(state.legal_actions(i)) for i in range(state.game.num_players)]
        policy = policies[player]
        q = state.action_values(policies)[player]
        return Analysis(policy, policy, q, float(policy @ q))
    actions = [] if state.is_terminal() else state.legal_actions()
    policy = _uniform(actions)
    unknown = np.full(len(actions), np.nan)
    return Analysis(policy, policy, unknown, 0.0, actions=np.array(actions, np.int64))


def _uniform(actions: Sequence[int]) -> Array:
    if not actions:
        raise InputError("the game is over: no move to play")
    return np.full(len(actions), 1.0 / len(actions))

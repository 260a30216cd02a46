"""Agents for Hanabi: a blueprint alone. For searches see `kedge.agents.hanabi.search`."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, BasePlayer
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import Blueprint, Followed, Games, legal_moves
from kedge.regularize import Array


@dataclass(frozen=True, kw_only=True)
class HanabiAnalysis(Analysis):
    """Analysis of one decision, with beliefs."""

    cards: Array | None = None
    """(slots, cards): the mover's belief about its own cards; None if not computed."""
    answers: list[tuple[int, float] | None] | None = None
    """The next player's likeliest action after each action, and its probability, as the mover can
    know it; None if the game would be over."""


class HanabiAgent(BasePlayer[HanabiState]):
    """An agent for Hanabi. It answers for the player to move."""

    blueprint: Blueprint
    """The policy that it plays, or searches over."""

    @property
    def states(self) -> type:
        return HanabiState

    def check(self, rules: Hanabi) -> None:
        """Raise an `InputError` if it does not play by these rules."""
        self.blueprint.observe(rules.initial_state().games, self.blueprint.begin(1))

    @abstractmethod
    def analyse_many(
        self, questions: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]: ...

    def question(self, state: HanabiState, player: int) -> HanabiState:
        if player != state.current_player():
            raise InputError(f"player {player} is not to move")
        return state


class BlueprintAgent(HanabiAgent):
    """Plays as a blueprint does, at a temperature; the anchor of searches."""

    def __init__(
        self, blueprint: Blueprint, temperature: float = 1.0, *, greedy: bool = False
    ) -> None:
        if not isinstance(temperature, int | float) or not temperature > 0.0:
            raise InputError(f"temperature: a number above 0, not {temperature}")
        if not isinstance(greedy, bool):
            raise InputError(f"greedy: true or false, not {greedy}")
        self.blueprint, self.temperature, self.greedy = blueprint, temperature, greedy
        self._followed = Followed(blueprint)

    def analyse_many(
        self, questions: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]:
        return [
            HanabiAnalysis(
                anchor=anchor,
                policy=likeliest(anchor) if self.greedy else _tempered(anchor, self.temperature),
                q=np.full(len(anchor), nan),
                value=nan,
                smooth=anchor,
                actions=actions,
            )
            for actions, anchor in anchors(self.blueprint, self._followed, questions)
        ]


def anchors(
    blueprint: Blueprint, followed: Followed, states: Sequence[HanabiState]
) -> list[tuple[npt.NDArray[np.int64], Array]]:
    """Return the legal actions of each state, and the blueprint's policy over them."""
    games = Games.join([state.games for state in states])
    policies = blueprint.policy(games, followed.memories(states))
    legal = legal_moves(games, policies.shape[1])
    return [(np.flatnonzero(row), policy[row]) for row, policy in zip(legal, policies, strict=True)]


def likeliest(policy: Array) -> Array:
    """Return the policy with all probability on its likeliest action."""
    return np.where(np.arange(len(policy)) == policy.argmax(), 1.0, 0.0)


def _tempered(policy: Array, temperature: float) -> Array:
    if temperature == 1.0:
        return policy
    power: Array = (policy / policy.max()) ** (1.0 / temperature)
    power /= power.sum()
    return power

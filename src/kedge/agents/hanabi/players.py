"""Agents for Hanabi: a blueprint by itself. Searches over it are `kedge.agents.hanabi.search`'s."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, draw
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import Blueprint, Followed, Games
from kedge.regularize import Array


@dataclass(frozen=True, kw_only=True)
class HanabiAnalysis(Analysis):
    """What an agent thinks of one decision."""

    cards: Array | None = None
    """(slots, cards): what it believes about each of its cards, if it has thought of them."""
    answers: list[tuple[int, float] | None] | None = None
    """After each action what the next player would likeliest do, and how likely that is, as far as
    who is to move can know; None where the game would be over."""


@runtime_checkable
class HanabiPlayer(Protocol):
    """Whoever is asked about many games at once, each by who is to move in it."""

    states: ClassVar[type]

    @property
    def blueprint(self) -> Blueprint:
        """What it plays like, or starts from."""
        ...

    def check(self, rules: Hanabi) -> None:
        """An `InputError` if it does not play by them."""
        ...

    def analyse_many(
        self, states: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]: ...

    def act_many(self, states: Sequence[HanabiState], rng: np.random.Generator) -> list[int]:
        """What who is to move does in each."""
        ...


class HanabiAgent(ABC):
    """The verbs of an agent, from one analysis."""

    states: ClassVar[type] = HanabiState

    blueprint: Blueprint

    def check(self, rules: Hanabi) -> None:
        self.blueprint.observe(rules.initial_state().games, self.blueprint.begin(1))

    @abstractmethod
    def analyse_many(
        self, states: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]: ...

    def act_many(self, states: Sequence[HanabiState], rng: np.random.Generator) -> list[int]:
        found = self.analyse_many(states, rng)
        return [_action(one, draw(one.policy, rng)) for one in found]

    def analyse(self, state: HanabiState, player: int) -> Iterator[HanabiAnalysis]:
        if player != state.current_player():
            raise InputError(f"player {player} is not to move")
        yield from self.analyse_many([state], np.random.default_rng(0))

    def policy(self, state: HanabiState, player: int) -> Array:
        return next(self.analyse(state, player)).policy

    def act(self, state: HanabiState, player: int, rng: np.random.Generator) -> int:
        return self.act_many([state], rng)[0]


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
        self, states: Sequence[HanabiState], rng: np.random.Generator
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
            for actions, anchor in anchors(self.blueprint, self._followed, states)
        ]


def anchors(
    blueprint: Blueprint, followed: Followed, states: Sequence[HanabiState]
) -> list[tuple[npt.NDArray[np.int64], Array]]:
    """The legal actions of each state, and what the blueprint thinks of them."""
    games = Games.join([state.games for state in states])
    policies = blueprint.policy(games, followed.memories(states))
    legal = [np.array(state.legal_actions(), np.int64) for state in states]
    return [(actions, policy[actions]) for actions, policy in zip(legal, policies, strict=True)]


def likeliest(policy: Array) -> Array:
    """All of it on one action."""
    return np.where(np.arange(len(policy)) == policy.argmax(), 1.0, 0.0)


def _tempered(policy: Array, temperature: float) -> Array:
    if temperature == 1.0:
        return policy
    power: Array = (policy / policy.max()) ** (1.0 / temperature)
    power /= power.sum()
    return power


def _action(found: HanabiAnalysis, index: int) -> int:
    assert found.actions is not None
    return int(found.actions[index])

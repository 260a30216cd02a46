"""Agents for Hanabi: a blueprint alone. For searches see `kedge.agents.hanabi.search`."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import NO_ACTION, Analysis, BasePlayer
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import Blueprint, Followed, Games, Legal, rows
from kedge.regularize import Array

if TYPE_CHECKING:
    from kedge.records.hanabi.games import HanabiGame

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class HanabiAnalysis(Analysis):
    """Analysis of a decision with beliefs, or of many without."""

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

    def analyse_games(
        self,
        games: Sequence["HanabiGame"],
        plies: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, Numbers, HanabiAnalysis]]:
        """Analyse `plies` of recorded games with the same rules, side by side.

        Yield each such half-move, the numbers of the games in which it is analysed, and one
        analysis with a row for each of these games and a column for each action.
        """
        replays = [game.replay() for game in games]
        states = [next(replay) for replay in replays]
        for ply in range(_end(plies)):
            due = np.flatnonzero([ply in own for own in plies])
            if len(due):
                analyses = self.analyse_many([states[number] for number in due], rng)
                yield ply, due, _table(analyses, len(games[0].rules.moves))
            for replay in replays:
                next(replay, None)

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
        analysis = self._analysis(*anchors(self.blueprint, self._followed, questions))
        return [analysis[row] for row in range(len(questions))]

    def analyse_games(
        self,
        games: Sequence["HanabiGame"],
        plies: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, Numbers, HanabiAnalysis]]:
        replays = [game.replayed() for game in games]
        positions, sizes = Games.join(replays), np.array([len(replay) for replay in replays])
        first, end = np.cumsum(sizes) - sizes, np.array([_end([own]) for own in plies])
        if (end >= sizes).any():
            raise InputError("a game has an illegal move, or one before a move to analyse")
        going, memory = np.arange(len(games)), self.blueprint.begin(len(games))
        for ply in range(_end(plies)):
            left = np.flatnonzero(end[going] > ply)
            if len(left) < len(going):
                going, memory = going[left], rows(memory, left)
            memory = self.blueprint.observe(positions.take(first[going] + ply), memory)
            due = np.flatnonzero([ply in plies[number] for number in going.tolist()])
            if len(due):
                asked = positions.take(first[going[due]] + ply)
                policies = self.blueprint.legal_policy(asked, rows(memory, due))
                yield ply, going[due], self._analysis(*policies)

    def _analysis(self, anchor: Array, legal: Legal) -> HanabiAnalysis:
        """Return the analysis of many decisions, one per row."""
        return HanabiAnalysis(
            anchor=anchor,
            policy=likeliest(anchor) if self.greedy else _tempered(anchor, legal, self.temperature),
            q=np.full(anchor.shape, nan),
            value=np.full(len(anchor), nan),
            smooth=anchor,
            actions=np.where(legal, np.arange(anchor.shape[1]), NO_ACTION),
            mask=legal,
        )


def anchors(
    blueprint: Blueprint, followed: Followed, states: Sequence[HanabiState]
) -> tuple[Array, Legal]:
    """Return the blueprint's policy in each state, and the mask of the legal actions."""
    games = Games.join([state.games for state in states])
    return blueprint.legal_policy(games, followed.memories(states))


def likeliest(policy: Array) -> Array:
    """Return the policy, or each row of many, with all probability on its likeliest action."""
    return np.where(np.arange(policy.shape[-1]) == policy.argmax(-1, keepdims=True), 1.0, 0.0)


def _tempered(policies: Array, legal: Legal, temperature: float) -> Array:
    if temperature == 1.0:
        return policies
    tempered = np.zeros_like(policies)
    for row, policy, real in zip(tempered, policies, legal, strict=True):
        power = (policy[real] / policy.max()) ** (1.0 / temperature)
        row[real] = power / power.sum()
    return tempered


def _end(plies: Sequence[Sequence[int]]) -> int:
    """Return the half-move after the last of those to analyse."""
    return max((ply + 1 for own in plies for ply in own), default=0)


def _table(analyses: Sequence[HanabiAnalysis], actions: int) -> HanabiAnalysis:
    """Return analyses of single decisions as one, with a row each and a column for each action."""
    numbers = [np.asarray(analysis.actions) for analysis in analyses]
    mask = np.array([np.isin(np.arange(actions), own) for own in numbers])

    def column(parts: Sequence[Array], filler: float) -> Array:
        table = np.full(mask.shape, filler)
        table[mask] = np.concatenate(parts)
        return table

    return HanabiAnalysis(
        anchor=column([analysis.anchor for analysis in analyses], 0.0),
        policy=column([analysis.policy for analysis in analyses], 0.0),
        q=column([analysis.q for analysis in analyses], nan),
        value=np.array([analysis.value for analysis in analyses]),
        smooth=column(
            [each.policy if each.smooth is None else each.smooth for each in analyses], 0.0
        ),
        best=np.array([own[each.top1] for own, each in zip(numbers, analyses, strict=True)]),
        actions=np.where(mask, np.arange(actions), NO_ACTION),
        mask=mask,
    )

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
from kedge.models import shipped_models
from kedge.models.hanabi.model import Blueprint, Followed, Games, Legal, Memory, rows
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
        """Raise an `InputError` if it does not play by these rules; it names agents that do."""
        try:
            self.blueprint.observe(rules.initial_state().games, self.blueprint.begin(1))
        except InputError as error:
            raise InputError(f"{error}; {agents_for(rules)}") from None

    @abstractmethod
    def analyse_batch(
        self, states: Sequence[HanabiState], rng: np.random.Generator
    ) -> HanabiAnalysis:
        """Analyse states with the same rules: a row for each, and a column for each action."""

    def analyse_many(
        self, questions: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]:
        analysis = self.analyse_batch(questions, rng)
        return [analysis[row] for row in range(len(questions))]

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
        for ply, due in enumerate(_games_by_ply(plies)):
            if len(due):
                yield ply, due, self.analyse_batch([states[number] for number in due], rng)
            for replay in replays:
                next(replay, None)

    def question(self, state: HanabiState, player: int) -> HanabiState:
        if player != state.current_player():
            raise InputError(f"player {player} is not to move")
        return state


class BlueprintAgent(HanabiAgent):
    """Plays as a blueprint does, at a temperature; the anchor of searches."""

    def __init__(
        self,
        blueprint: Blueprint,
        temperature: float = 1.0,
        *,
        greedy: bool = False,
        imitates_people: bool = False,
    ) -> None:
        if not isinstance(temperature, int | float) or not temperature > 0.0:
            raise InputError(f"temperature: a number above 0, not {temperature}")
        if not isinstance(greedy, bool):
            raise InputError(f"greedy: true or false, not {greedy}")
        self.blueprint, self.temperature, self.greedy = blueprint, temperature, greedy
        self.imitates_people = imitates_people
        self._followed = Followed(blueprint)

    def analyse_batch(
        self, states: Sequence[HanabiState], rng: np.random.Generator
    ) -> HanabiAnalysis:
        games = Games.join([state.games for state in states])
        return self._analysis(games, self._followed.memories(states))

    def analyse_games(
        self,
        games: Sequence["HanabiGame"],
        plies: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, Numbers, HanabiAnalysis]]:
        replays = [game.replayed() for game in games]
        last = np.array([max(own, default=-1) for own in plies])
        if (last + 1 >= np.array([len(replay) for replay in replays])).any():
            raise InputError("a game has an illegal move at or before a move to analyse")
        going, memory = np.arange(len(games)), self.blueprint.begin(len(games))
        for ply, due in enumerate(_games_by_ply(plies)):
            left = np.flatnonzero(last[going] >= ply)
            if len(left) < len(going):
                going, memory = going[left], rows(memory, left)
            now = Games.join([replays[number] for number in going], ply)
            memory = self.blueprint.observe(now, memory)
            if len(due):
                at = np.searchsorted(going, due)
                yield ply, due, self._analysis(now.take(at), rows(memory, at))

    def _analysis(self, games: Games, memory: Memory) -> HanabiAnalysis:
        anchor, legal = self.blueprint.legal_policy(games, memory)
        return HanabiAnalysis(
            anchor=anchor,
            policy=likeliest(anchor) if self.greedy else _tempered(anchor, legal, self.temperature),
            q=np.full(anchor.shape, nan),
            value=np.full(len(anchor), nan),
            smooth=anchor,
            actions=numbered(legal),
            mask=legal,
        )


def agents_for(rules: Hanabi) -> str:
    """Say which agents that ship play by these rules, for an error."""
    usual = str(rules) == str(Hanabi(rules.num_players, bomb=rules.bomb))
    models = [
        name
        for name in shipped_models.names()
        if usual and shipped_models.card(name).get("players") == rules.num_players
    ]
    names = ", ".join([*models, "conventions"])
    return f"for {rules.num_players} players there is {names}"


def numbered(legal: Legal) -> Numbers:
    """Return the numbers of the legal actions where they stand in the mask, else `NO_ACTION`."""
    return np.where(legal, np.arange(legal.shape[1]), NO_ACTION)


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


def _games_by_ply(plies: Sequence[Sequence[int]]) -> list[Numbers]:
    """Return the numbers of the games in which each half-move is analysed, up to the last."""
    last = max((ply for own in plies for ply in own), default=-1)
    due: list[list[int]] = [[] for _ in range(last + 1)]
    for number, own in enumerate(plies):
        for ply in own:
            due[ply].append(number)
    return [np.array(numbers, np.int64) for numbers in due]

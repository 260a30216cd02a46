"""Interfaces of Hanabi models: blueprints that play, and beliefs about one's own hand."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.hanabi import TERMINAL, Bomb, HanabiState
from kedge.regularize import Array

Games = _core.HanabiGames
#: A blueprint's memory: arrays with one row per game.
Memory = tuple[Any, ...]
#: Cards by slot, the oldest first, numbered as the native core does; (hands, slots).
Hands = npt.NDArray[np.uint8]
#: Mask of the legal actions, (games, actions).
Legal = npt.NDArray[np.bool_]


class Observer(Protocol):
    """Keeps a memory of games, turn by turn."""

    def begin(self, count: int) -> Memory:
        """The memory of `count` games at their start."""
        ...

    def observe(self, games: Games, memory: Memory) -> Memory:
        """The memory after the current position; called once before every move."""
        ...


class Blueprint(Observer, Protocol):
    """A policy that all players know.

    Its memory depends only on public information. So games that differ only in hidden cards share
    one memory, and a search that assumes other cards does not replay anything.
    """

    def policy(self, games: Games, memory: Memory) -> Array:
        """The mover's policy (games, actions), after `observe`; 0 for illegal actions and in
        finished games."""
        ...

    def legal_policy(self, games: Games, memory: Memory) -> tuple[Array, Legal]:
        """The policy, and the mask of the legal actions (games, actions)."""
        ...

    def play_out(
        self,
        games: Games,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None = None,
    ) -> Array:
        """Play games to the end and return their scores. `games` is modified.

        `memory` does not include the current position. All players draw from the policy or play its
        likeliest move. Games that go on after `depth` moves get their expected score; `InputError`
        if the blueprint has no value.
        """
        ...


class Belief(Protocol):
    """A distribution over the mover's own hand."""

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        """Draw at most `count` possible hands of the mover for each state, by their probability;
        none if the belief has become empty."""
        ...


class Followed:
    """Caches an observer's memories of games.

    If a state comes again some moves later, only its new positions are observed.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._kept: WeakKeyDictionary[HanabiState, _Kept] = WeakKeyDictionary()

    def memories(self, states: Sequence[HanabiState]) -> Memory:
        """The memories of `states`, one row each, with all moves observed."""
        for state in states:
            if state not in self._kept:
                self._kept[state] = _Kept(self._observer.begin(1), 0)
        while late := [s for s in states if self._kept[s].seen < len(s.positions)]:
            kept = [self._kept[state] for state in late]
            games = [s.positions[entry.seen] for s, entry in zip(late, kept, strict=True)]
            memory = self._observer.observe(
                Games.join(games), stacked_memories([entry.memory for entry in kept])
            )
            for row, (state, entry) in enumerate(zip(late, kept, strict=True)):
                # A view: indexing a row of a GPU tensor would wait for the GPU.
                own = tuple(part[row : row + 1] for part in memory)
                self._kept[state] = _Kept(own, entry.seen + 1)
        return stacked_memories([self._kept[state].memory for state in states])


@dataclass(frozen=True, slots=True)
class _Kept:
    memory: Memory
    seen: int  # positions


class Stepwise(ABC):
    """Base of blueprints that play games out move by move."""

    @abstractmethod
    def observe(self, games: Games, memory: Memory) -> Memory: ...

    @abstractmethod
    def policy(self, games: Games, memory: Memory) -> Array: ...

    def legal_policy(self, games: Games, memory: Memory) -> tuple[Array, Legal]:
        """The policy, and the mask of the legal actions (games, actions)."""
        policy = self.policy(games, memory)
        return policy, legal_moves(games, policy.shape[1])

    def check_value(self, games: Games, *, greedy: bool) -> None:
        """Raise `InputError` if `value` was not fitted for such games and this way to play."""
        raise no_value()

    def value(self, games: Games, memory: Memory) -> Array:
        """Expected final scores of unfinished games, after `observe`."""
        raise no_value()

    def play_out(
        self,
        games: Games,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None = None,
    ) -> Array:
        if depth is not None:
            self.check_value(games, greedy=greedy)
        scores = np.zeros(len(games))
        going = np.arange(len(games))
        for moves in count():
            over = games.current_players() == TERMINAL
            if over.any():
                scores[going[over]] = games.scores()[over]
                left = np.flatnonzero(~over)
                games, memory, going = games.take(left), rows(memory, left), going[left]
            if not len(going):
                break
            if moves == depth:
                scores[going] = self.value(games, self.observe(games, memory))
                break
            actions, memory = self.move(games, memory, rng, greedy=greedy)
            games.step(actions)
        return scores

    def move(
        self, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> tuple[npt.NDArray[np.int64], Memory]:
        """Observe unfinished games and return the mover's actions and the memory."""
        memory = self.observe(games, memory)
        return chosen(self.policy(games, memory), rng, greedy=greedy), memory


def no_value() -> InputError:
    """The error for a blueprint without a value."""
    return InputError(
        "depth: the anchor has no value for unfinished games; use a model from "
        "`kedge train hanabi-value`, or leave out depth"
    )


def rows(memory: Memory, which: npt.NDArray[np.int64]) -> Memory:
    return tuple(part[which] for part in memory)


def stacked_memories(memories: Sequence[Memory]) -> Memory:
    """Concatenate memories of arrays or tensors."""
    return tuple(
        np.concatenate(parts) if isinstance(parts[0], np.ndarray) else _cat(parts)
        for parts in zip(*memories, strict=True)
    )


def chosen(policy: Array, rng: np.random.Generator, *, greedy: bool) -> npt.NDArray[np.int64]:
    """Choose an action per row: the likeliest, or a random one."""
    return policy.argmax(1) if greedy else drawn(policy, rng)


def drawn(policy: Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an action per row."""
    sums = policy.cumsum(1)
    chosen: npt.NDArray[np.int64] = (sums <= rng.random((len(policy), 1)) * sums[:, -1:]).sum(1)
    # By rounding, a draw may pass the last possible action.
    actions: npt.NDArray[np.int64] = np.minimum(
        chosen, policy.shape[1] - 1 - (policy[:, ::-1] > 0.0).argmax(1)
    )
    return actions


def bomb_of(games: Games) -> Bomb:
    """The rule for the score of games whose last life is lost."""
    return "zero" if games.bomb_is_zero else "stack"


def legal_moves(games: Games, actions: int) -> Legal:
    """Mask of the legal actions, (games, actions)."""
    bits = games.legal_actions()[:, np.newaxis] >> np.arange(actions, dtype=np.uint64)
    return (bits & 1).astype(bool)


class UniformBlueprint(Stepwise):
    """A blueprint that plays legal moves uniformly; it has no memory."""

    def __init__(self, actions: int) -> None:
        self._actions = actions

    def begin(self, count: int) -> Memory:
        return ()

    def observe(self, games: Games, memory: Memory) -> Memory:
        return memory

    def policy(self, games: Games, memory: Memory) -> Array:
        legal = legal_moves(games, self._actions)
        even: Array = legal / np.maximum(legal.sum(1, keepdims=True), 1)
        return even


def _cat(parts: Sequence[Any]) -> Any:
    import torch

    return torch.cat(list(parts))


__all__ = [
    "Belief",
    "Blueprint",
    "Followed",
    "Games",
    "Hands",
    "Legal",
    "Memory",
    "Observer",
    "Stepwise",
    "UniformBlueprint",
    "bomb_of",
    "chosen",
    "drawn",
    "legal_moves",
    "no_value",
    "rows",
    "stacked_memories",
]

"""What a model of Hanabi answers: which moves people or programs make, what one's own cards are."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.games.hanabi import HanabiState
from kedge.regularize import Array

Games = _core.HanabiGames
#: What a blueprint remembers: arrays with one row a game.
Memory = tuple[Any, ...]
#: Cards by slot, the oldest first, numbered as the native core does; (hands, slots).
Hands = npt.NDArray[np.uint8]


class Blueprint(Protocol):
    """A way to play that everybody at the table knows.

    What it remembers, it has from what everyone saw. So games that differ in hidden cards alone
    share one memory, and a search that supposes other cards need not replay anything.
    """

    def begin(self, count: int) -> Memory:
        """Of so many games, before anything was seen."""
        ...

    def observe(self, games: Games, memory: Memory) -> Memory:
        """The memory after what is to be seen now: asked once before every move."""
        ...

    def policy(self, games: Games, memory: Memory) -> Array:
        """(games, actions): what who is to move would do, having observed; 0 where it is illegal,
        and everywhere once a game is over."""
        ...

    def play_out(
        self, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> Array:
        """The scores of games that go on like this to the end, where the last move was not yet
        observed. Everyone draws from the policy, or makes its likeliest move. `games` is used up.
        """
        ...


class Belief(Protocol):
    """What seats hold in their own hands, as far as they can know it."""

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        """For each state at most `count` hands that who is to move may hold, likelier ones more
        often, and all of them possible; none where the belief has become empty."""
        ...


class Stepwise:
    """Plays games out move by move: the base of blueprints that know no quicker way."""

    def play_out(
        self: Blueprint, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> Array:
        scores = np.zeros(len(games))
        going = np.arange(len(games))
        while True:
            over = games.legal_actions() == 0
            if over.any():
                scores[going[over]] = games.scores()[over]
                left = np.flatnonzero(~over)
                games, memory, going = games.take(left), rows(memory, left), going[left]
            if not len(going):
                return scores
            memory = self.observe(games, memory)
            policy = self.policy(games, memory)
            games.step(policy.argmax(1) if greedy else drawn(policy, rng))


def rows(memory: Memory, which: npt.NDArray[np.int64]) -> Memory:
    return tuple(part[which] for part in memory)


def joined(memories: Sequence[Memory]) -> Memory:
    """The rows of all of them; of arrays or of tensors."""
    return tuple(
        np.concatenate(parts) if isinstance(parts[0], np.ndarray) else _cat(parts)
        for parts in zip(*memories, strict=True)
    )


def drawn(policy: Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """One action a row."""
    sums = policy.cumsum(1)
    chosen: npt.NDArray[np.int64] = (sums <= rng.random((len(policy), 1)) * sums[:, -1:]).sum(1)
    # A draw at the very end may step over it.
    found: npt.NDArray[np.int64] = np.minimum(
        chosen, policy.shape[1] - 1 - (policy[:, ::-1] > 0.0).argmax(1)
    )
    return found


def legal_moves(games: Games, actions: int) -> npt.NDArray[np.bool_]:
    """(games, actions)"""
    bits = games.legal_actions()[:, np.newaxis] >> np.arange(actions, dtype=np.uint64)
    return (bits & 1).astype(bool)


class UniformBlueprint(Stepwise):
    """Any legal move: a blueprint that remembers nothing."""

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
    "Games",
    "Hands",
    "Memory",
    "Stepwise",
    "UniformBlueprint",
    "drawn",
    "joined",
    "legal_moves",
    "rows",
]

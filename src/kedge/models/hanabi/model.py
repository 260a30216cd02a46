"""What a model of Hanabi answers: which moves people or programs make, what one's own cards are."""

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
from kedge.games.hanabi import Bomb, HanabiState
from kedge.regularize import Array

Games = _core.HanabiGames
#: What a blueprint remembers: arrays with one row a game.
Memory = tuple[Any, ...]
#: Cards by slot, the oldest first, numbered as the native core does; (hands, slots).
Hands = npt.NDArray[np.uint8]


class Observer(Protocol):
    """Who remembers something of games, turn by turn."""

    def begin(self, count: int) -> Memory:
        """Of so many games, before anything was seen."""
        ...

    def observe(self, games: Games, memory: Memory) -> Memory:
        """The memory after what is to be seen now: asked once before every move."""
        ...


class Blueprint(Observer, Protocol):
    """A way to play that everybody at the table knows.

    What it remembers, it has from what everyone saw. So games that differ in hidden cards alone
    share one memory, and a search that supposes other cards need not replay anything.
    """

    def policy(self, games: Games, memory: Memory) -> Array:
        """(games, actions): what who is to move would do, having observed; 0 where it is illegal,
        and everywhere once a game is over."""
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
        """The scores of games that go on like this to the end, where the last move was not yet
        observed. Everyone draws from the policy, or makes its likeliest move. `games` is used up.

        After `depth` moves those that go on are worth what is expected of them; `InputError` of a
        blueprint that cannot tell.
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


class Followed:
    """Games as an observer, such as a blueprint, remembers them.

    A state that is asked about again, some moves on, is taken up where it was left.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._kept: WeakKeyDictionary[HanabiState, _Kept] = WeakKeyDictionary()

    def memories(self, states: Sequence[HanabiState]) -> Memory:
        """One row a state, all of its moves observed."""
        for state in states:
            if state not in self._kept:
                self._kept[state] = _Kept(state.beginning(), self._observer.begin(1), 0)
        while late := [s for s in states if self._kept[s].seen <= len(s.history)]:
            kept = [self._kept[state] for state in late]
            moves = [
                s.history[k.seen - 1] if k.seen else -1 for s, k in zip(late, kept, strict=True)
            ]
            games = Games.join([one.games for one in kept])
            games.step(np.array(moves, np.int64))
            memory = self._observer.observe(games, joined([one.memory for one in kept]))
            for row, (state, one) in enumerate(zip(late, kept, strict=True)):
                # A view: to look up a row of a GPU's tensor is to wait for it.
                mine = tuple(part[row : row + 1] for part in memory)
                self._kept[state] = _Kept(games.take(np.array([row])), mine, one.seen + 1)
        return joined([self._kept[state].memory for state in states])


@dataclass(frozen=True, slots=True)
class _Kept:
    games: Games  # one, after `seen` positions were observed
    memory: Memory
    seen: int


class Stepwise(ABC):
    """Plays games out move by move: the base of blueprints that know no quicker way."""

    @abstractmethod
    def observe(self, games: Games, memory: Memory) -> Memory: ...

    @abstractmethod
    def policy(self, games: Games, memory: Memory) -> Array: ...

    def check_value(self, games: Games, *, greedy: bool) -> None:
        """Whether `value` is of games like these, played like this; `InputError` if not."""
        raise no_value()

    def value(self, games: Games, memory: Memory) -> Array:
        """What games that go on will come to, having observed."""
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
            over = games.legal_actions() == 0
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
        """Observes games that go on, and says what who is to move does."""
        memory = self.observe(games, memory)
        return chosen(self.policy(games, memory), rng, greedy=greedy), memory


def no_value() -> InputError:
    """Of a blueprint that cannot tell what games come to."""
    return InputError(
        "depth: the anchor has no value to end rollouts with; take a model that "
        "`kedge train hanabi-value` wrote, or leave depth out"
    )


def rows(memory: Memory, which: npt.NDArray[np.int64]) -> Memory:
    return tuple(part[which] for part in memory)


def joined(memories: Sequence[Memory]) -> Memory:
    """The rows of all of them; of arrays or of tensors."""
    return tuple(
        np.concatenate(parts) if isinstance(parts[0], np.ndarray) else _cat(parts)
        for parts in zip(*memories, strict=True)
    )


def chosen(policy: Array, rng: np.random.Generator, *, greedy: bool) -> npt.NDArray[np.int64]:
    """One action a row: the likeliest, or one that is drawn."""
    return policy.argmax(1) if greedy else drawn(policy, rng)


def drawn(policy: Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """One action a row."""
    sums = policy.cumsum(1)
    chosen: npt.NDArray[np.int64] = (sums <= rng.random((len(policy), 1)) * sums[:, -1:]).sum(1)
    # A draw at the very end may step over it.
    found: npt.NDArray[np.int64] = np.minimum(
        chosen, policy.shape[1] - 1 - (policy[:, ::-1] > 0.0).argmax(1)
    )
    return found


def bomb_of(games: Games) -> Bomb:
    """What they are worth if their last life is lost."""
    return "zero" if games.bomb_is_zero else "stack"


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
    "Followed",
    "Games",
    "Hands",
    "Memory",
    "Observer",
    "Stepwise",
    "UniformBlueprint",
    "bomb_of",
    "chosen",
    "drawn",
    "joined",
    "legal_moves",
    "no_value",
    "rows",
]

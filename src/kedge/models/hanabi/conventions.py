"""A blueprint with simple conventions, and its belief: both native, without a network.

The chop is the oldest card without a hint. A hint means: play the newest card it touches,
preferring cards without earlier hints. But a rank hint that touches the chop means: keep this card,
if the chop may be the last of its kind. A player without a card to play or a hint to give discards
a card that must be useless, or the chop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from kedge import _core
from kedge.games.hanabi import HanabiState
from kedge.models.hanabi.model import Games, Hands, Legal, Memory, legal_moves, no_value
from kedge.regularize import Array


class ConventionsBlueprint:
    """Plays by the conventions, for two to five players. It is deterministic.

    Its memory is the possible kinds of each card, by the hints and their meaning.
    """

    def begin(self, count: int) -> Memory:
        return (_core.hanabi_begin(count),)

    def observe(self, games: Games, memory: Memory) -> Memory:
        return (_core.hanabi_observe(games, *memory),)

    def policy(self, games: Games, memory: Memory) -> Array:
        moves = _core.hanabi_choose(games, *memory)
        is_made = moves[:, np.newaxis] == np.arange(_core.HANABI_MOST_ACTIONS)
        return np.asarray(is_made, np.float64)

    def legal_policy(self, games: Games, memory: Memory) -> tuple[Array, Legal]:
        policy = self.policy(games, memory)
        return policy, legal_moves(games, policy.shape[1])

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
            raise no_value()
        return _core.hanabi_play_out(games, *memory)


class ConventionsBelief:
    """Draws hands with which all moves of the others follow the conventions.

    If a player has left the conventions, no hand may be left. Then none is drawn, and the belief
    restarts from the hints alone.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[HanabiState, dict[int, _Kept]] = WeakKeyDictionary()

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        return [self._of(state).draw(count, int(rng.integers(1 << 63))) for state in states]

    def _of(self, state: HanabiState) -> _core.HanabiBelief:
        seats = self._kept.setdefault(state, {})
        seat = state.current_player()
        if seat not in seats:
            seats[seat] = _Kept(_core.HanabiBelief(state.positions[0], seat))
        kept = seats[seat]
        for action in state.history[kept.seen :]:
            kept.belief.step(action)
        kept.seen = len(state.history)
        return kept.belief


@dataclass(slots=True)
class _Kept:
    belief: _core.HanabiBelief
    seen: int = 0  # moves


__all__ = ["ConventionsBelief", "ConventionsBlueprint"]

"""A blueprint by simple conventions, and what its players believe: both native, without a network.

A hint says: play the newest card that it is about, of those no hint was about before if there are
any. But a rank that is about the chop, the oldest card that no hint was about, says: keep this, if
the chop may be the last of a kind. Who has nothing to play and no such hint to give discards a card
that must be useless, or the chop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from kedge import _core
from kedge.games.hanabi import HanabiState
from kedge.models.hanabi.model import Games, Hands, Memory, no_value
from kedge.regularize import Array


class ConventionsBlueprint:
    """Plays by the conventions, two to five players: one move wherever it has seen the same.

    Its memory is what each card may be, as all can tell from hints and from what they mean.
    """

    def begin(self, count: int) -> Memory:
        return (_core.hanabi_begin(count),)

    def observe(self, games: Games, memory: Memory) -> Memory:
        return (_core.hanabi_observe(games, *memory),)

    def policy(self, games: Games, memory: Memory) -> Array:
        moves = _core.hanabi_choose(games, *memory)
        is_made = moves[:, np.newaxis] == np.arange(_core.HANABI_MOST_ACTIONS)
        return np.asarray(is_made, np.float64)

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
    """Hands with which all that others did was by the conventions, as often as they come.

    Once someone has left the conventions no hand may be left. Then there is none to draw, and the
    belief begins anew with nothing but what hints have told.
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
            seats[seat] = _Kept(_core.HanabiBelief(state.beginning(), seat))
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

"""Thinking under limits, for protocols to ask for; it knows no game and no protocol."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np

from kedge.agents.agent import Analysis, draw
from kedge.regularize import Array

_DEPTH_PLAYOUTS = 50  # that stand for a half-move of depth


@dataclass(frozen=True)
class Limits:
    """How long to think about a move: the first of these that is reached ends it."""

    playouts: int | None = None
    seconds: float | None = None
    remaining: float | None = None
    """Seconds on the mover's clock."""
    increment: float = 0.0
    moves_to_go: int | None = None
    depth: int | None = None
    """Half-moves to look ahead. A search by playouts knows none, and makes 50 for each where
    nothing else says how many."""
    infinite: bool = False
    """Until stopped, whatever else is said."""
    only: tuple[int, ...] | None = None
    """The only moves to think of."""

    def wanted(self, usual: int, most: int) -> int:
        """The playouts to make, where `usual` are made unless all is left to the clock (0)."""
        if self.infinite or (self.seconds is not None and self.playouts is None):
            return most
        return min(self.playouts or usual or _DEPTH_PLAYOUTS * (self.depth or 0) or most, most)

    def enough(self, overhead: float) -> float | None:
        """When to stop searching, in seconds on our clock; None for never."""
        found = None
        if self.remaining is not None:
            share = self.remaining / max(2, min(30, self.moves_to_go or 30))
            found = min(share + 0.8 * self.increment, 0.8 * self.remaining) - overhead
        if self.seconds is not None:
            own = self.seconds - min(overhead, self.seconds / 4)
            found = own if found is None else min(found, own)
        return found


class Control:
    """Through which another thread ends thinking, or turns pondering into thinking."""

    def __init__(self, *, pondering: bool = False) -> None:
        self.stopped = False
        self.pondering = pondering
        self._changed = threading.Condition()
        self._start = self._begun = perf_counter()

    def stop(self) -> None:
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def ponderhit(self) -> None:
        with self._changed:
            if self.pondering:
                self.pondering, self._start = False, perf_counter()
                self._changed.notify_all()

    def wait_until(self, done: Callable[[], bool], seconds: float | None = None) -> None:
        """Until stopped, `done`, or `seconds` have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or done(), seconds)

    def wait_for_leave(self, limits: Limits) -> None:
        """Until a move may be played: not while pondering, nor in infinite analysis."""
        self.wait_until(lambda: not (self.pondering or limits.infinite))

    @property
    def clock(self) -> float:
        """Seconds on our own clock: since the start, or since the move that was pondered."""
        return perf_counter() - self._start

    @property
    def seconds(self) -> float:
        """Since the start."""
        return perf_counter() - self._begun


@dataclass(frozen=True)
class Thought:
    """What is known after some playouts; `analysis` takes its time to tell."""

    analysis: Callable[[], Analysis]
    playouts: int
    seconds: float
    kept: int = 0
    """Playouts of those that an earlier search made."""


@dataclass(frozen=True)
class Choice:
    """The move to play, and the reply that is expected."""

    action: int
    reply: int | None = None


class Growing(Protocol):
    """A search that is watched as it grows, such as `kedge.agents.chess.Search`."""

    @property
    def playouts(self) -> int: ...

    def run(self, playouts: int | None = None) -> Iterator[int]: ...

    def analysis(self) -> Analysis: ...


def think(
    search: Growing,
    limits: Limits,
    control: Control,
    *,
    playouts: int,
    overhead: float = 0.0,
    pause: Callable[[Analysis], float] | None = None,
) -> Iterator[Thought]:
    """A thought after every batch, until there are `playouts`, or `limits` or `control` end it.

    It ends no earlier than the move is to be played: in pondering, in infinite analysis and in
    the pause that the first thought gives rise to, it goes on without new thoughts.
    """
    kept = search.playouts
    enough = limits.enough(overhead)
    wait = None
    for made in search.run(playouts):
        if wait is None and pause is not None:
            wait = pause(search.analysis())
        yield Thought(search.analysis, made, control.seconds, kept)
        late = enough is not None and not control.pondering and control.clock >= enough
        if control.stopped or (late and not limits.infinite):
            break
    control.wait_for_leave(limits)
    if wait is not None and wait > control.clock:
        control.wait_until(lambda: False, wait - control.clock)


def choose(
    found: Analysis,
    actions: Sequence[int],
    rng: np.random.Generator,
    *,
    top_p: float = 1.0,
    best: bool = False,
) -> Choice:
    """One of the legal `actions`, drawn from the policy; the `best` one if so asked."""
    index = found.top1 if best else draw(nucleus(found.policy, top_p, found.anchor), rng)
    line = found.lines[index] if found.lines else [actions[index]]
    return Choice(actions[index], line[1] if len(line) > 1 else None)


def nucleus(policy: Array, top_p: float, anchor: Array) -> Array:
    """The likeliest actions that together have `top_p`, at least one; normalised.

    Of those that are alike the anchor's come first, as in a search's order.
    """
    if top_p >= 1.0:
        return policy
    order = np.lexsort((-anchor, -policy))
    before = np.cumsum(policy[order]) - policy[order]
    kept = np.zeros_like(policy)
    chosen = order[(before < top_p) & (policy[order] > 0.0)]
    kept[chosen] = policy[chosen]
    return np.asarray(kept / kept.sum())

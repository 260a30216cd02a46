"""Thinking under limits, independent of games and protocols."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np

from kedge.agents.agent import Analysis, draw
from kedge.regularize import Array

_DEPTH_PLAYOUTS = 50  # playouts per half-move of depth


@dataclass(frozen=True)
class Limits:
    """Limits on thinking about one move. The first that is reached ends it."""

    playouts: int | None = None
    seconds: float | None = None
    remaining: float | None = None
    """Seconds on the mover's clock."""
    increment: float = 0.0
    moves_to_go: int | None = None
    depth: int | None = None
    """Half-moves to look ahead. It counts as 50 playouts each if no other limit applies."""
    infinite: bool = False
    """Whether to think until stopped, whatever the other limits."""
    only: tuple[int, ...] | None = None
    """The only moves to search; None for all."""

    def wanted(self, usual: int, most: int) -> int:
        """Return the playouts to make, at most `most`.

        `usual` is the default; 0 leaves the number to the clock.
        """
        if self.infinite or (self.seconds is not None and self.playouts is None):
            return most
        return min(self.playouts or usual or _DEPTH_PLAYOUTS * (self.depth or 0) or most, most)

    def enough(self, overhead: float) -> float | None:
        """Return the seconds on our clock after which to stop searching; None for never."""
        seconds = None
        if self.remaining is not None:
            share = self.remaining / max(2, min(30, self.moves_to_go or 30))
            seconds = min(share + 0.8 * self.increment, 0.8 * self.remaining) - overhead
        if self.seconds is not None:
            own = self.seconds - min(overhead, self.seconds / 4)
            seconds = own if seconds is None else min(seconds, own)
        return seconds


class Control:
    """Lets another thread end thinking, or turn pondering into thinking."""

    def __init__(self, *, pondering: bool = False) -> None:
        self.stopped = False
        self.pondering = pondering
        self._changed = threading.Condition()
        self._start = self._created = perf_counter()

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
        """Wait until stopped, until `done()`, or until `seconds` have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or done(), seconds)

    def wait_for_leave(self, limits: Limits) -> None:
        """Wait until a move may be played: not while pondering, nor in infinite analysis."""
        self.wait_until(lambda: not (self.pondering or limits.infinite))

    @property
    def clock(self) -> float:
        """Seconds on our own clock: since the start, or since pondering became thinking."""
        return perf_counter() - self._start

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._created


@dataclass(frozen=True)
class Progress:
    """Progress of a search: its state after some playouts."""

    analysis: Callable[[], Analysis]
    """Computes the current analysis, which is slow."""
    playouts: int
    seconds: float
    kept: int = 0
    """Playouts kept from an earlier search."""


@dataclass(frozen=True)
class Choice:
    """The move to play, and the expected reply."""

    action: int
    reply: int | None = None


class Growing(Protocol):
    """A search that runs in steps, such as `kedge.agents.board.puct.Search`."""

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
) -> Iterator[Progress]:
    """Report progress after every batch, until `playouts`, `limits` or `control` end it.

    It returns when the move may be played. So it waits while pondering, in infinite analysis, and
    for the seconds that `pause` computes from the first analysis.
    """
    kept = search.playouts
    enough = limits.enough(overhead)
    wait = None
    for made in search.run(playouts):
        if wait is None and pause is not None:
            wait = pause(search.analysis())
        yield Progress(search.analysis, made, control.seconds, kept)
        late = enough is not None and not control.pondering and control.clock >= enough
        if control.stopped or (late and not limits.infinite):
            break
    control.wait_for_leave(limits)
    if wait is not None and wait > control.clock:
        control.wait_until(lambda: False, wait - control.clock)


def choose(
    analysis: Analysis,
    actions: Sequence[int],
    rng: np.random.Generator,
    *,
    top_p: float = 1.0,
    best: bool = False,
) -> Choice:
    """Draw one of the legal `actions` from the policy; with `best`, take the first choice."""
    policy = analysis.policy
    index = analysis.top1 if best else draw(nucleus(policy, top_p, analysis.anchor), rng)
    line = analysis.lines[index] if analysis.lines else [actions[index]]
    return Choice(actions[index], line[1] if len(line) > 1 else None)


def nucleus(policy: Array, top_p: float, anchor: Array) -> Array:
    """Return the policy over the likeliest actions that together have `top_p`, at least one.

    The anchor breaks ties, as in the order of a search.
    """
    if top_p >= 1.0:
        return policy
    order = np.lexsort((-anchor, -policy))
    before = np.cumsum(policy[order]) - policy[order]
    kept = np.zeros_like(policy)
    selected = order[(before < top_p) & (policy[order] > 0.0)]
    kept[selected] = policy[selected]
    return np.asarray(kept / kept.sum())

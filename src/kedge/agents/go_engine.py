"""A player of Go at a board of its own, for protocols to talk to; it knows none of them."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.engine import Limits, choose
from kedge.errors import InputError
from kedge.games.go import EMPTY, GoState, handicap_points


class Analyst(Protocol):
    """Who is asked: every `kedge.agents.agent.Player` of Go will do."""

    def analyse_many(self, states: Sequence[Any]) -> list[Analysis]: ...


@dataclass
class Clock:
    """Time for the game, and overtime: `period` seconds for every `stones`.

    With `periods` they are Japan's: one stone each, and whole again after a move in time.
    """

    main: float
    period: float = 0.0
    stones: int = 0
    periods: int = 0
    left: dict[int, tuple[float, int]] = field(default_factory=dict)
    """By player what was said last: seconds, and in overtime the stones or periods left."""

    def __post_init__(self) -> None:
        for number in (self.main, self.period, self.stones, self.periods):
            if number < 0:
                raise InputError(f"time: at least 0, not {number:g}")

    def limits(self, player: int) -> Limits:
        """For the next move of `player`."""
        seconds, count = self.left.get(player, (self.main, 0))
        if count:
            return Limits(seconds=seconds if self.periods else seconds / count)
        overtime = self.period if self.periods else self.period / max(1, self.stones)
        if overtime and not seconds:
            return Limits(seconds=overtime)
        return Limits(remaining=seconds, increment=overtime)


class GoEngine:
    """A game, and who plays it. The ko rule is strict until the opponent's moves are not."""

    def __init__(self, player: Analyst, seed: int | None = None) -> None:
        self.clock: Clock | None = None
        self.state = GoState()
        self._player = player
        self._rng = np.random.default_rng(seed)
        self._moves: list[tuple[int, int]] = []  # who, and where
        self._handicap: list[int] = []

    def new_game(self, size: int | None = None) -> None:
        """On an empty board; komi and the clock's settings stay."""
        self.state = GoState(self.state.size if size is None else size, self.state.komi)
        self._moves, self._handicap = [], []
        if self.clock is not None:
            self.clock.left.clear()

    def set_komi(self, komi: float) -> None:
        self.state = self._replayed(komi, self._moves)

    def limits(self, player: int) -> Limits:
        return Limits() if self.clock is None else self.clock.limits(player)

    def place_handicap(self, points: Sequence[int]) -> None:
        """Black's stones before the first move."""
        if any(self.state.board.colour(point) != EMPTY for point in range(self.state.size**2)):
            raise InputError("board not empty")
        self.state = GoState(self.state.size, self.state.komi, black=points)
        self._moves, self._handicap = [], list(points)

    def free_handicap(self, stones: int) -> list[int]:
        """Where it would have so many, or as many as have a customary place."""
        for count in range(min(stones, 9), 2, -1):
            with contextlib.suppress(InputError):
                return handicap_points(self.state.size, count)
        return handicap_points(self.state.size, min(stones, 2))

    def play(self, player: int, action: int) -> None:
        """By anyone at any time, after two passes too, as programs that settle dead stones do."""
        moves = [*self._moves, (player, action)]
        try:
            _push(self.state, player, action)
        except InputError:
            self.state = self._replayed(self.state.komi, moves)
        self._moves = moves

    def move(self, player: int) -> int:
        """Have the player choose, and play it; a pass when the game is over."""
        state = self.state.clone()
        state.set_player(player)
        actions = state.legal_actions()
        if actions:
            (found,) = self._player.analyse_many([state])
            action = choose(found, actions, self._rng).action
        else:
            action = state.size**2
        self.play(player, action)
        return action

    def undo(self) -> None:
        self.state.undo_action()
        self._moves.pop()

    def _replayed(self, komi: float, moves: Sequence[tuple[int, int]]) -> GoState:
        """By the strictest rule that has all the moves legal."""
        try:
            return self._replayed_by("positional", komi, moves)
        except InputError:
            return self._replayed_by("simple", komi, moves)

    def _replayed_by(self, superko: str, komi: float, moves: Sequence[tuple[int, int]]) -> GoState:
        state = GoState(self.state.size, komi, superko=superko, black=self._handicap)
        for player, action in moves:
            _push(state, player, action)
        return state


def _push(state: GoState, player: int, action: int) -> None:
    mover = state.board.player()
    state.set_player(player)
    verdict = state.board.judge(action)
    if verdict != "legal":
        state.set_player(mover)
        raise InputError(f"{state.gtp(action)} is not a legal move: {verdict}")
    state.board.push(action)
    state.history.append(action)

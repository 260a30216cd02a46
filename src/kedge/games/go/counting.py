"""How people end a game of Go: after two passes they mark the dead stones until both agree."""

import copy
from collections.abc import Collection
from typing import Literal

from kedge.errors import InputError
from kedge.games.go.game import BLACK, EMPTY, WHITE, GoState, areas, regions
from kedge.games.go.rules import GoRules

Phase = Literal["play", "judging", "marking", "over"]


class CountedGo:
    """A game with its count.

    Two passes end the play. A referee names the stones that look dead; then the players, one after
    the other, mark others or agree. A new mark asks both again. Who wants to play on takes the
    passes back.

    >>> game = CountedGo(GoState(9), GoRules())
    >>> for move in ("E5", "pass", "pass"):
    ...     game.state.apply_action(game.state.parse_gtp(move))
    >>> game.judge([]), game.agree(), game.agree(), game.score()
    (None, None, None, 73.5)
    """

    def __init__(self, state: GoState, rules: GoRules) -> None:
        self.state, self.rules = state, rules
        self.dead: frozenset[int] | None = None
        """Stones to be taken off; None before the referee has spoken."""
        self.resigned: int | None = None
        first = state.colours()
        self._handicap = 0 if WHITE in first else first.count(BLACK)
        self._agreed: frozenset[int] = frozenset()
        self._asked = 0

    @property
    def phase(self) -> Phase:
        if self.resigned is not None or len(self._agreed) == 2:
            return "over"
        if not self.state.is_terminal():
            return "play"
        return "judging" if self.dead is None else "marking"

    def deciding(self) -> int | None:
        """Who has to play, or to mark; None when that is the referee, or the game is over."""
        if self.phase == "play":
            return self.state.current_player()
        return self._asked if self.phase == "marking" else None

    def judge(self, dead: Collection[int]) -> None:
        """What the referee holds dead."""
        self.state.score(dead)  # refuses points without a stone
        self.dead = frozenset(dead)
        self._agreed, self._asked = frozenset(), self.state.board.player()

    def mark(self, point: int) -> None:
        """A group as dead, or as alive if it was dead."""
        assert self.dead is not None, "first the referee"
        group = self.group(point)
        self.dead = self.dead - group if point in self.dead else self.dead | group
        self._agreed = frozenset()

    def agree(self) -> None:
        self._agreed |= {self._asked}
        self._asked = 1 - self._asked

    def resume(self) -> None:
        """Go on from before the passes."""
        self.state.undo_action()
        self.state.undo_action()
        self.dead = None

    def resign(self, player: int) -> None:
        self.resigned = player

    def group(self, point: int) -> frozenset[int]:
        """The stones that live or die with one: no living stone of the opponent is between them."""
        colours = self.state.colours()
        colour = colours[point]
        if colour == EMPTY:
            raise InputError(f"{self.state.gtp(point)}: there is no stone")
        within = [colour if one == EMPTY else one for one in self._standing()]
        area = next(area for area in areas(within, self.state.size) if point in area)
        return frozenset(one for one in area if colours[one] == colour)

    def score(self, dead: Collection[int] | None = None) -> float:
        """Black's points less White's, by the rules, once `dead` or the marked stones are off."""
        taken = self.dead or () if dead is None else dead
        return self.rules.score(self.state, taken, self._handicap)

    def territory(self) -> list[int]:
        """Who alone reaches each empty point, marked stones taken off; EMPTY elsewhere."""
        owners = [EMPTY] * self.state.size**2
        for area, reached in regions(self._standing(), self.state.size):
            if len(reached) == 1:
                (owner,) = reached
                for point in area:
                    owners[point] = owner
        return owners

    def clone(self) -> "CountedGo":
        found = copy.copy(self)
        found.state = self.state.clone()
        return found

    def _standing(self) -> list[int]:
        colours = self.state.colours()
        for stone in self.dead or ():
            colours[stone] = EMPTY
        return colours


__all__ = ["CountedGo", "Phase"]

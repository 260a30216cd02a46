"""The end of a game of Go between people: they mark dead stones until both agree."""

import copy
from collections.abc import Collection
from typing import Literal

from kedge.errors import InputError
from kedge.games.go.game import BLACK, EMPTY, WHITE, GoState, areas, regions
from kedge.games.go.rules import GoRules

Phase = Literal["play", "judging", "marking", "over"]


class CountedGo:
    """A game of Go that ends with an agreed count.

    Two passes end the play. A referee proposes the dead stones; then the players in turn change
    marks or agree. After a new mark both must agree again. A player who wants to play on undoes
    the passes.

    >>> game = CountedGo(GoState(9), GoRules())
    >>> for move in ("E5", "pass", "pass"):
    ...     game.state.apply_action(game.state.parse_gtp(move))
    >>> game.propose([]), game.agree(), game.agree(), game.score()
    (None, None, None, 73.5)
    """

    def __init__(self, state: GoState, rules: GoRules) -> None:
        self.state, self.rules = state, rules
        self.dead: frozenset[int] | None = None
        """Stones to remove; None before the referee's proposal."""
        self.resigned: int | None = None
        first = state.colours()
        self._handicap = 0 if WHITE in first else first.count(BLACK)
        self._agreed: frozenset[int] = frozenset()
        self._next = 0

    @property
    def phase(self) -> Phase:
        if self.resigned is not None or len(self._agreed) == 2:
            return "over"
        if not self.state.is_terminal():
            return "play"
        return "judging" if self.dead is None else "marking"

    def deciding(self) -> int | None:
        """The player who must move or mark; None if the referee must act or the game is over."""
        if self.phase == "play":
            return self.state.current_player()
        return self._next if self.phase == "marking" else None

    def propose(self, dead: Collection[int]) -> None:
        """Set the dead stones that the referee proposes."""
        self.state.score(dead)  # raises for points without a stone
        self.dead = frozenset(dead)
        self._agreed, self._next = frozenset(), self.state.board.player()

    def mark(self, point: int) -> None:
        """Mark a group as dead, or as alive if it is marked dead."""
        assert self.dead is not None, "the referee must propose first"
        group = self.group(point)
        self.dead = self.dead - group if point in self.dead else self.dead | group
        self._agreed = frozenset()

    def agree(self) -> None:
        self._agreed |= {self._next}
        self._next = 1 - self._next

    def resume(self) -> None:
        """Undo the two passes and continue the game."""
        self.state.undo_action()
        self.state.undo_action()
        self.dead = None

    def resign(self, player: int) -> None:
        self.resigned = player

    def group(self, point: int) -> frozenset[int]:
        """Return the stones that live or die together, with no living opponent between them."""
        colours = self.state.colours()
        colour = colours[point]
        if colour == EMPTY:
            raise InputError(f"no stone at {self.state.gtp(point)}")
        within = [colour if other == EMPTY else other for other in self._standing()]
        area = next(area for area in areas(within, self.state.size) if point in area)
        return frozenset(stone for stone in area if colours[stone] == colour)

    def score(self, dead: Collection[int] | None = None) -> float:
        """Black's points minus White's, after removing `dead` or the marked stones."""
        removed = self.dead or () if dead is None else dead
        return self.rules.score(self.state, removed, self._handicap)

    def territory(self) -> list[int]:
        """The owner of each empty point without the marked stones; EMPTY if shared or occupied."""
        owners = [EMPTY] * self.state.size**2
        for area, reached in regions(self._standing(), self.state.size):
            if len(reached) == 1:
                (owner,) = reached
                for point in area:
                    owners[point] = owner
        return owners

    def clone(self) -> "CountedGo":
        other = copy.copy(self)
        other.state = self.state.clone()
        return other

    def _standing(self) -> list[int]:
        colours = self.state.colours()
        for stone in self.dead or ():
            colours[stone] = EMPTY
        return colours


__all__ = ["CountedGo", "Phase"]

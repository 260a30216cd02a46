"""Two-player board games on the page, from the verbs of their states."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel

from kedge.agents.agent import Analysis, Row
from kedge.errors import InputError
from kedge.games.verbs import how_ended, line_names, move_parser, play_on, written
from kedge.interfaces.web.pages.page_game import Outcome, PageGame
from kedge.interfaces.web.pages.searching import analyses
from kedge.interfaces.web.pages.thoughts import (
    SHOWN,
    Action,
    ConsideredMove,
    Decision,
    Move,
    Question,
)

_LINE = 8  # half-moves


class NoSetup(BaseModel, extra="forbid"):
    """A game without options."""


class BoardPage(PageGame):
    """A game of two players who move in turn.

    A subclass names its files and sides, and says in `position` what the board draws. States need
    the verbs ``current_player``, ``legal_actions``, ``action_to_string``, ``apply_action``,
    ``is_terminal``, ``returns`` and ``clone``, and may have those of `kedge.games.verbs`.
    """

    sides: ClassVar[tuple[str, str]] = ("First", "Second")
    setup: ClassVar[type[BaseModel]] = NoSetup
    """Options of a new game: arguments for the game's maker."""
    agents: ClassVar[tuple[str, ...]] = (
        "puct(uniform, playouts=200)",
        "puct(uniform, playouts=20)",
        "uniform",
    )

    def seats(self, setup: Any) -> tuple[str, ...]:
        return self.sides

    def begin(self, setup: Any) -> Any:
        return self._entry.load("game")(**setup.model_dump()).initial_state()

    def deciding(self, state: Any) -> list[int]:
        return [] if state.is_terminal() else [state.current_player()]

    def parse(self, state: Any, seat: int, move: Move) -> Action:
        if isinstance(move, str) and (parse := move_parser(state)) is not None:
            return parse(move)
        legal = state.legal_actions()
        for action in legal:
            if move in (self.text(state, action), state.action_to_string(action)):
                return action
        example = f", such as {self.text(state, legal[0])}" if legal else ""
        if not isinstance(move, str):
            raise InputError(f"a move in {self.title} is text{example}")
        raise InputError(f"illegal move {move[:40]!r}; play a legal one{example}")

    text = staticmethod(written)

    def apply(self, state: Any, actions: Mapping[int, Action]) -> None:
        (action,) = actions.values()
        play_on(state, action)

    def turn_name(self, before: Any, actions: Mapping[int, Action], after: Any) -> str:
        (action,) = actions.values()
        name: str = before.action_to_string(action)
        return name

    def outcome(self, state: Any) -> Outcome | None:
        if not state.is_terminal():
            return None
        first, second = state.returns()
        winner = None if first == second else self.sides[first < second]
        return Outcome(winner, how=how_ended(state))

    def resigned(self, state: Any, seat: int, how: str) -> Outcome:
        return Outcome(self.sides[1 - seat], loser=self.sides[seat], how=how)

    def think(
        self, question: Question, choose: Callable[[Analysis], Action] | None = None
    ) -> Iterator[Decision]:
        """Yield the mover's decision: `choose`'s action, or one drawn from the policy."""
        state = question.state
        ((seat, (_, agent)),) = question.agents.items()
        thought = None
        for analysis in analyses(agent, state, seat, question.stop):
            if analysis.actions is None:  # they are in the state's order
                analysis = replace(analysis, actions=np.asarray(state.legal_actions()))
            rows = [_considered(state, row) for row in analysis.rows(SHOWN)]
            thought = question.thought(seat, analysis, rows, done=False)
            yield Decision(seat, None, thought)
        if thought is not None:  # else it was stopped before
            action = choose(analysis) if choose else analysis.draw(question.rng)
            yield Decision(seat, action, replace(thought, done=True))


def _considered(state: Any, row: Row) -> ConsideredMove:
    line = row.line[:_LINE] if row.visits else []
    names = line_names(state, line) if line else (state.action_to_string(row.action),)
    return ConsideredMove.of(row, written(state, row.action), names[0], names if line else ())

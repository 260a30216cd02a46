"""Decisions by agents that play states with a sequence of moves.

Searches over networks share batches with those of all other games on the server.
"""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kedge.agents.agent import Analysis, Row
from kedge.agents.board.shared_search import SharedSearches
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import line_names
from kedge.interfaces.web.pages.thoughts import (
    Action,
    ConsideredMove,
    Decision,
    Question,
    StopFlag,
    Thought,
    considered,
)

_LINE = 8  # half-moves
_EVERY = 0.1  # seconds between two updates
_shared = SharedSearches()
atexit.register(_shared.close)  # Python would cut their thread off in native code
_alone = threading.Semaphore(2)  # each search keeps a core busy


def decide(
    question: Question, choose: Callable[[Analysis], Action] | None = None
) -> dict[int, Decision]:
    """Return the mover's decision: `choose`'s action, or one drawn from the policy."""
    state = question.state
    ((seat, (_, agent)),) = question.agents.items()

    def thought(analysis: Analysis, done: bool) -> Thought:
        return question.thought(seat, analysis, partial(_shown, state), done=done)

    def update(analysis: Analysis, done: bool) -> None:
        if not done:
            question.watch(thought(analysis, done))

    if getattr(agent, "shares_network", False):
        analysis = _shared_search(agent, state, update, question.stop)
    else:
        analyses = (_with_actions(state, analysis) for analysis in agent.analyse(state, seat))
        analysis = _search(analyses, update, question.stop)
    if analysis is None:
        return {}
    action = choose(analysis) if choose else analysis.draw(question.rng)
    return {seat: Decision(action, thought(analysis, done=True))}


def move_name(state: Any, action: Any) -> str:
    """Return the move as programs write it; as players do, if the state knows no other way."""
    name: str = getattr(state, "protocol_name", state.action_to_string)(action)
    return name


@contextmanager
def turn_to_search(stop: StopFlag) -> Iterator[None]:
    """Wait until few enough searches run, or until `stop`."""
    while not (admitted := _alone.acquire(timeout=_EVERY)) and not stop.stopped:
        pass
    try:
        yield
    finally:
        if admitted:
            _alone.release()


def _shared_search(
    agent: Any, state: Any, update: Callable[[Analysis, bool], None], stop: StopFlag
) -> Analysis | None:
    """Return the last analysis of a search among others; None if it was stopped in the queue."""
    search = _shared.submit(agent, state, update, every=_EVERY)
    stop.then(search.stop)
    try:
        return search.result()
    except CancelledError:
        return None


def _search(
    analyses: Iterator[Analysis], update: Callable[[Analysis, bool], None], stop: StopFlag
) -> Analysis | None:
    """Return the last of ever better analyses; None if it was stopped before the first."""
    last, due = None, 0.0
    with turn_to_search(stop):
        while not stop.stopped and (analysis := next(analyses, None)) is not None:
            if last is not None and time.monotonic() >= due:
                due = time.monotonic() + _EVERY
                update(last, False)
            last = analysis
    if last is None and not stop.stopped:
        raise InputError("the agent has no analysis of this position")
    return last


def _with_actions(state: Any, analysis: Analysis) -> Analysis:
    """Name the actions of an analysis that only has them in the state's order."""
    if analysis.actions is not None:
        return analysis
    return replace(analysis, actions=np.asarray(state.legal_actions()))


def _shown(state: Any, row: Row) -> ConsideredMove:
    line = line_names(state, row.line[:_LINE]) if row.visits else ()
    action = row.action
    return considered(row, move_name(state, action), state.action_to_string(action), line)

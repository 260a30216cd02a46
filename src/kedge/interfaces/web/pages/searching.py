"""Chess and Go on the page: searches of all games grow together."""

import atexit
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

from kedge.agents.agent import Analysis, draw
from kedge.agents.board.puct import ModelAgent
from kedge.agents.board.shared_search import SharedSearches
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import line_names
from kedge.interfaces.web.pages.page_game import Decision, Move, Question, Row, Thought

_LINE = 8  # half-moves
_searches = SharedSearches()
atexit.register(_searches.close)  # Python would cut their thread off in native code


def decide(
    question: Question, choose: Callable[[Analysis], Move] | None = None
) -> dict[int, Decision]:
    """What the one who is to move plays: drawn from the policy, unless `choose` says what."""
    state = question.state
    ((seat, (spec, agent)),) = question.agents.items()
    if not isinstance(agent, ModelAgent):
        raise InputError(f"agent {spec}: not one that searches a tree")
    actions = state.board.legal_actions()

    def thought(found: Analysis, done: bool) -> Thought:
        return question.thought(seat, found, partial(_row, state, found, actions), done=done)

    def update(found: Analysis, done: bool) -> None:
        if not done:
            question.watch(thought(found, done))

    search = _searches.submit(agent, state, update)
    question.stop.then(search.stop)
    try:
        found = search.result()
    except CancelledError:  # stopped before it began
        return {}
    if choose is None:
        move = state.protocol_name(actions[draw(found.policy, question.rng)])
    else:
        move = choose(found)
    return {seat: Decision(move, thought(found, done=True))}


def _row(state: Any, found: Analysis, actions: list[int], i: int) -> Row:
    visits = None if found.visits is None else int(found.visits[i])
    line = found.lines[i][:_LINE] if visits and found.lines else []
    return Row(
        move=state.protocol_name(actions[i]),
        name=state.action_to_string(actions[i]),
        anchor=float(found.anchor[i]),
        policy=float(found.policy[i]),
        q=float(found.q[i]) if visits else None,
        visits=visits,
        line=list(line_names(state, line)) if line else [],
    )

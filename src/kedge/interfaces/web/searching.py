"""Chess and Go on the page: searches of all games grow together."""

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

from kedge.agents.agent import Agent, Analysis, draw
from kedge.agents.puct import ModelAgent
from kedge.agents.shared_search import SharedSearches
from kedge.errors import InputError
from kedge.evaluation.game_analysis import line_names
from kedge.interfaces.web.page_game import Decision, Move, Row, Stop, Thought, Watch, told_of

_LINE = 8  # half-moves
_searches = SharedSearches()


def decide(
    state: Any,
    agents: Mapping[int, tuple[str, Agent]],
    turn: int,
    rng: np.random.Generator,
    watch: Watch,
    stop: Stop,
    choose: Callable[[Analysis], Move] | None = None,
) -> dict[int, Decision]:
    """What the one who is to move plays: drawn from the policy, unless `choose` says what."""
    ((seat, (spec, agent)),) = agents.items()
    if not isinstance(agent, ModelAgent):
        raise InputError(f"agent {spec}: not one that searches a tree")

    def update(found: Analysis, done: bool) -> None:
        if not done:
            watch(thought(state, spec, seat, turn, found, done=False))

    search = _searches.submit(agent, state, update)
    stop.then(search.stop)
    try:
        found = search.result()
    except CancelledError:  # stopped before it began
        return {}
    if choose is None:
        move = state.protocol_name(state.board.legal_actions()[draw(found.policy, rng)])
    else:
        move = choose(found)
    return {seat: Decision(move, thought(state, spec, seat, turn, found))}


def thought(
    state: Any, spec: str, seat: int, turn: int, found: Analysis, *, done: bool = True
) -> Thought:
    """What was found, in the words of the game."""
    actions = state.board.legal_actions()
    return told_of(found, spec, seat, turn, lambda i: _row(state, found, actions, i), done=done)


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

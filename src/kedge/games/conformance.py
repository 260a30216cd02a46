"""Checks that every game must pass, for tests of kedge's games and of others.

>>> check_game("rock-paper-scissors")
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.games import load_game

SIMULTANEOUS, TERMINAL = -2, -4  #: Answers of `current_player`, as in OpenSpiel.

_VERBS = ("current_player", "is_terminal", "returns", "clone")
_VERBS_IN_TURN = ("legal_actions", "apply_action", "action_to_string")
_VERBS_AT_ONCE = ("legal_actions", "apply_actions")


def check_game(spec: str, seed: int = 0) -> None:
    """Raise `AssertionError` if the game that `spec` names misses a verb, or breaks its promise."""
    check_play(spec, seed)
    check_drawing(spec)


def check_play(spec: str, seed: int = 0) -> None:
    """Check a random game from its first state to its end."""
    rng = np.random.default_rng(seed)
    game = load_game(spec)
    state = game.initial_state()
    _check_verbs(state, _VERBS)
    if not hasattr(state, "orders"):
        is_joint = state.current_player() == SIMULTANEOUS
        _check_verbs(state, _VERBS_AT_ONCE if is_joint else _VERBS_IN_TURN)
    while not state.is_terminal():
        players = (SIMULTANEOUS, *range(game.num_players))
        assert state.current_player() in players, "current_player must be a player, or -2"
        assert list(state.returns()) == [0.0] * game.num_players, "returns must be 0 before the end"
        before, shown = state.clone(), _shown(state)
        assert _shown(before) == shown, "a clone must be in the state of its original"
        _check_names(state)
        last = _play(state, game.num_players, lambda legal: legal[int(rng.integers(len(legal)))])
        assert _shown(before) == shown, "a clone must not follow its original"
    assert state.current_player() == TERMINAL, "current_player must be -4 after the end"
    assert len(state.returns()) == game.num_players, "returns must have one number per player"
    message = ""
    try:
        last()
    except InputError as error:
        message = str(error)
    assert message, "a move after the end must raise InputError"


def check_drawing(spec: str) -> None:
    """Check that the game names itself, and that its states show themselves.

    Pictures by `to_svg` are optional.
    """
    game = load_game(spec)
    state = game.initial_state()
    assert game.name in str(game), "str(game) must have the game's name"
    assert str(state), "str(state) must show the position"
    if not hasattr(state, "to_svg"):
        return
    for _ in range(2):
        root = ElementTree.fromstring(state.to_svg())
        assert root.tag.endswith("svg"), "to_svg must return SVG"
        if not state.is_terminal():
            _play(state, game.num_players, min)


def _check_verbs(state: Any, verbs: Sequence[str]) -> None:
    missing = [verb for verb in verbs if not hasattr(state, verb)]
    assert not missing, f"states must have the verbs {', '.join(missing)}"


def _shown(state: Any) -> tuple[Any, ...]:
    """The facts by which two states are compared."""
    return str(state), state.current_player(), state.is_terminal(), list(state.returns())


def _check_names(state: Any) -> None:
    """Check that the legal actions of a player who moves alone have names of their own."""
    if state.current_player() < 0:
        return
    actions = state.legal_actions()
    assert actions, "legal_actions must not be empty before the end"
    names = [state.action_to_string(action) for action in actions]
    assert len(set(names)) == len(actions), "action_to_string must name every action differently"


def _play(state: Any, players: int, choose: Callable[[Sequence[Any]], Any]) -> Callable[[], None]:
    """Make a move, or all players' moves; return what makes the same once more."""
    apply: Callable[[], None]
    if hasattr(state, "orders"):  # a player's move is an order for every unit
        orders = {
            power: [choose(texts) for texts in state.orders(power).values()]
            for power in state.powers
        }
        apply = partial(state.apply, orders)
    elif state.current_player() == SIMULTANEOUS:
        joint = [choose(state.legal_actions(player)) for player in range(players)]
        apply = partial(state.apply_actions, joint)
    else:
        apply = partial(state.apply_action, choose(state.legal_actions()))
    apply()
    return apply

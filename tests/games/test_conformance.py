"""What every game must do, whatever its rules."""

import xml.etree.ElementTree as ElementTree
from functools import partial

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.diplomacy import POWERS

SIMULTANEOUS = -2  # what `current_player` answers when all move at once
GAMES = [
    "chess",
    "diplomacy(last_year=1903)",
    "go(size=5)",
    "hanabi",
    "hanabi(players=5, colors=3, bomb=stack)",
    "blotto(coins=3, fields=3)",
    "matching-pennies",
    "matching-pennies(players=3)",
    "random(players=1, actions=4)",
    "random(players=4, actions=2)",
    "rock-paper-scissors",
]


@pytest.mark.parametrize("spec", GAMES)
def test_plays_to_an_end(spec):
    rng = np.random.default_rng(0)
    game = load_game(spec)
    state = game.initial_state()
    while not state.is_terminal():
        assert state.current_player() in (SIMULTANEOUS, *range(game.num_players))
        assert state.returns() == [0.0] * game.num_players
        before = state.clone()
        last = play(state, game.num_players, lambda legal: legal[rng.integers(len(legal))])
    assert state.current_player() == -4
    assert len(state.returns()) == game.num_players
    assert not before.is_terminal(), "a clone must not follow its original"
    with pytest.raises(InputError, match="over"):
        last()


def play(state, players, choose):
    """Make a move, or all players' moves; returns what makes the same once more."""
    if hasattr(state, "orders"):
        # A player's move is an order for every unit of his.
        orders = {p: [choose(texts) for texts in state.orders(p).values()] for p in POWERS}
        apply = partial(state.apply, orders)
    elif state.current_player() == SIMULTANEOUS:
        joint = [choose(state.legal_actions(player)) for player in range(players)]
        apply = partial(state.apply_actions, joint)
    else:
        apply = partial(state.apply_action, choose(state.legal_actions()))
    apply()
    return apply


@pytest.mark.parametrize("spec", GAMES)
def test_draws_and_names_itself(spec):
    game = load_game(spec)
    state = game.initial_state()
    assert game.name in str(game)
    assert str(state)
    for _ in range(2):
        root = ElementTree.fromstring(state.to_svg())
        assert root.tag.endswith("svg")
        if not state.is_terminal():
            play(state, game.num_players, min)


@pytest.mark.parametrize("actions", [[0], [0, 3], [-1, 0], [0, 0, 0]])
def test_impossible_actions_are_refused(actions):
    state = load_game("rock-paper-scissors").initial_state()
    with pytest.raises(InputError):
        state.apply_actions(actions)
    assert not state.is_terminal()

"""What every game must do, whatever its rules."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games import load_game

GAMES = [
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
    state = load_game(spec).initial_state()
    players = state.game.num_players
    assert not state.is_terminal()
    assert state.current_player() == -2
    assert state.returns() == [0.0] * players
    joint = [int(rng.choice(state.legal_actions(player))) for player in range(players)]
    before = state.clone()
    state.apply_actions(joint)
    assert state.is_terminal()
    assert state.current_player() == -4
    assert state.legal_actions(0) == []
    assert len(state.returns()) == players
    assert not before.is_terminal(), "a clone must not follow its original"
    with pytest.raises(InputError, match="over"):
        state.apply_actions(joint)


@pytest.mark.parametrize("spec", GAMES)
def test_draws_and_names_itself(spec):
    state = load_game(spec).initial_state()
    assert str(state)
    for _ in range(2):
        root = ElementTree.fromstring(state.to_svg())
        assert root.tag.endswith("svg")
        if not state.is_terminal():
            state.apply_actions([0] * state.game.num_players)


@pytest.mark.parametrize("actions", [[0], [0, 3], [-1, 0], [0, 0, 0]])
def test_impossible_actions_are_refused(actions):
    state = load_game("rock-paper-scissors").initial_state()
    with pytest.raises(InputError):
        state.apply_actions(actions)
    assert not state.is_terminal()

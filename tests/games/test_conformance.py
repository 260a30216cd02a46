"""What every game must do, whatever its rules."""

import pytest

from kedge import catalogue
from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.conformance import check_drawing, check_game, check_play

GAMES = [
    *(entry.small or entry.name for entry in catalogue.entries()),
    "hanabi(players=5, colors=3, bomb=stack)",
    "matching-pennies(players=3)",
    "random(players=1, actions=4)",
    "random(players=4, actions=2)",
]


@pytest.mark.parametrize("spec", GAMES)
def test_plays_to_an_end(spec):
    check_play(spec)


@pytest.mark.parametrize("spec", GAMES)
def test_draws_and_names_itself(spec):
    check_drawing(spec)


@pytest.mark.parametrize("actions", [[0], [0, 3], [-1, 0], [0, 0, 0]])
def test_impossible_actions_are_refused(actions):
    state = load_game("rock-paper-scissors").initial_state()
    with pytest.raises(InputError):
        state.apply_actions(actions)
    assert not state.is_terminal()


def test_errors_are_reported(monkeypatch):
    """A game that forgets its end, or whose clones follow it."""
    from kedge.games.chess import ChessState

    with monkeypatch.context() as patch:
        patch.setattr(ChessState, "clone", lambda self: self)
        with pytest.raises(AssertionError, match="must not follow"):
            check_play("chess")
    with monkeypatch.context() as patch:
        patch.setattr(ChessState, "action_to_string", lambda self, action: "a move")
        with pytest.raises(AssertionError, match="name every action"):
            check_play("chess")


@pytest.mark.parametrize("verb", ["clone", "legal_actions", "action_to_string"])
def test_missing_verbs_are_named(monkeypatch, verb):
    from kedge.games.chess import ChessState

    monkeypatch.delattr(ChessState, verb)
    with pytest.raises(AssertionError, match=f"must have the verbs {verb}"):
        check_game("chess")


def test_pictures_are_optional(monkeypatch):
    """`kedge policy --svg` says that a game has none; if there is one, it is SVG."""
    from kedge.games.chess import ChessState

    with monkeypatch.context() as patch:
        patch.delattr(ChessState, "to_svg")
        check_game("chess")
    with monkeypatch.context() as patch:
        patch.setattr(ChessState, "to_svg", lambda self: "<p/>")
        with pytest.raises(AssertionError, match="must return SVG"):
            check_drawing("chess")

"""Positions of recorded Go games, and their boards."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games.go import GoState
from kedge.records.go.games import GoGame
from kedge.records.go.positions import GoPosition, boards_of, go_positions


def played(seed, plies):
    state, rng = GoState(9, superko="simple"), np.random.default_rng(seed)
    for _ in range(plies):
        state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
    return GoGame(np.array(state.history, np.int16), size=9, komi=5.5, date="2015-01-02")


def test_boards_have_the_game_so_far():
    games = [played(1, 30), played(2, 7)]
    chosen = list(go_positions(games))
    assert len(chosen) == 37
    for position, board in zip(chosen, boards_of(chosen), strict=True):
        state = position.game.state(0)
        for move in position.game.moves[: position.ply]:
            state.apply_action(int(move))
        assert board == state.board
        assert board.is_legal(position.action)
    assert chosen[0].groups == {"year": "2015", "split": "none", "komi": "5.5"}


def test_some_of_them_in_any_number():
    game = played(3, 20)
    wanted = [GoPosition(game, ply) for ply in (4, 4, 9)]
    first, second, third = boards_of(wanted)
    assert first == second
    assert third.length() == first.length() + 5


def test_what_is_illegal_or_after_the_end_is_not_predicted():
    game = played(4, 10)
    moves = game.moves.copy()
    moves[6] = moves[0]
    broken = GoGame(moves, size=9)
    assert len(list(go_positions([broken]))) == 6
    with pytest.raises(InputError, match="move 7"):
        boards_of([GoPosition(broken, 8)])
    passes = GoGame(np.array([40, 81, 81, 41], np.int16), size=9)
    assert len(list(go_positions([passes]))) == 3


def test_handicaps_and_colours():
    game = GoGame(
        np.array([20, 21, 22], np.int16),
        colours=np.array([1, 1, 0], np.uint8),
        size=9,
        handicap=2,
        black_stones=(24, 56),
    )
    boards = boards_of(list(go_positions([game])))
    assert [board.player() for board in boards] == [1, 1, 0]
    assert boards[0].colour(24) == 0

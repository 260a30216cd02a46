"""Who plays a Go game: held-out people, and ranks."""

from dataclasses import replace

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.evaluation.go.ranks import players_of
from kedge.records.go.games import GoGame
from kedge.records.go.people import held_out_moves, moves_of_rank, part_of
from kedge.records.splits import LEARN, TEST

MOVES = np.array([60, 72, 300, 288, 61], np.int16)


@pytest.fixture(scope="module")
def game():
    names = (f"player {number}" for number in range(10_000))
    plain = GoGame(MOVES, server="KGS-2016", black_rank="3d", white_rank="7d", date="2016-05-01")
    held_out = next(name for name in names if part_of(replace(plain, black=name), 0) == TEST)
    learned = next(name for name in names if part_of(replace(plain, black=name), 0) == LEARN)
    return replace(plain, black=held_out, white=learned)


def test_only_the_moves_of_people_who_are_held_out(game):
    assert held_out_moves(game).tolist() == [True, False, True, False, True]
    assert not held_out_moves(replace(game, bots="B")).any()
    assert not held_out_moves(replace(game, server=None)).any(), "years divide games over the board"


def test_white_begins_after_handicap(game):
    handicap = replace(game, handicap=2, black_stones=(288, 72), moves=MOVES[:1])
    assert held_out_moves(handicap).tolist() == [False]
    assert players_of(handicap)[0]["rank"] == "7d"


def test_moves_of_a_rank(game):
    assert moves_of_rank("7d")(game).tolist() == [False, True, False, True, False]
    assert not moves_of_rank("5d")(game).any()
    with pytest.raises(InputError, match="1d to 9d, 1p to 9p or pro, not '12d'"):
        moves_of_rank("12d")


def test_players_as_inputs(game):
    black = {"rank": "3d", "opponent": "7d", "server": "KGS", "year": 2016}
    white = {**black, "rank": "7d", "opponent": "3d"}
    assert players_of(game) == [black, white, black, white, black]
    unknown = GoGame(MOVES[:1], white_rank="9p")
    assert players_of(unknown) == [
        {"rank": "unknown", "opponent": "pro", "server": "board", "year": 0}
    ]

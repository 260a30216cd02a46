"""Random games to the end: the native ones are those of the plain twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_playouts import ownership

from kedge import _core


@settings(max_examples=25, deadline=None)
@given(size=st.integers(2, 6), plies=st.integers(0, 60), seed=st.integers(0, 2**32))
def test_the_native_playouts_are_the_plain_ones(size, plies, seed):
    board = _core.GoBoard(size)
    board.play_random(plies, seed)
    stones = [board.colour(point) for point in range(size**2)]
    assert _core.go_ownership(board, 6, seed).tolist() == ownership(size, stones, 6, seed)


def test_threads_change_nothing():
    board = _core.GoBoard()
    board.play_random(150, 1)
    before = board.copy()
    one, many = (_core.go_ownership(board, 40, 7, threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, many)
    assert board == before
    assert not np.array_equal(one, _core.go_ownership(board, 40, 8))


def test_none_tell_nothing():
    with pytest.raises(ValueError, match="no playouts"):
        _core.go_ownership(_core.GoBoard(), 0)

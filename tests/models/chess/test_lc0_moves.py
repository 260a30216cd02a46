"""lc0's move table."""

import numpy as np
import pytest

from kedge.models.chess.lc0_moves import GATHER, MOVES, PLANES


def test_count_and_order():
    assert len(MOVES) == len(set(MOVES)) == 1858
    plain = MOVES[:1792]
    assert all(len(move) == 4 for move in plain)
    assert all(len(move) == 5 for move in MOVES[1792:])
    assert MOVES[:10] == (
        "a1b1", "a1c1", "a1d1", "a1e1", "a1f1", "a1g1", "a1h1", "a1a2", "a1b2", "a1c2"
    )  # fmt: skip
    places = [(int(m[1]), m[0], int(m[3]), m[2]) for m in plain]
    assert places == sorted(places)
    assert MOVES[1791] == "h8g8"
    assert MOVES[1792:1799] == ("a7a8q", "a7a8r", "a7a8b", "a7b8q", "a7b8r", "a7b8b", "b7a8q")
    assert MOVES[-1] == "h7h8b"


def test_every_move_has_its_own_place():
    assert GATHER.shape == (1858,)
    assert len(set(GATHER.tolist())) == 1858
    assert GATHER.min() == 0
    assert GATHER.max() < PLANES * 64
    # A plane's place is on the from-square.
    starts = [(int(m[1]) - 1) * 8 + "abcdefgh".index(m[0]) for m in MOVES]
    np.testing.assert_array_equal(GATHER % 64, starts)


@pytest.mark.parametrize(
    ("move", "plane"),
    [
        ("a1a2", 0),
        ("a1a8", 6),
        ("a1b2", 7),
        ("a1b1", 14),
        ("a2b1", 21),
        ("a2a1", 28),
        ("b2a1", 35),
        ("b1a1", 42),
        ("b1a2", 49),
        ("a1b3", 56),
        ("b1a3", 63),
        ("b7a8r", 64),
        ("b7a8q", 66),
        ("a7a8b", 68),
        ("a7b8q", 72),
    ],
)
def test_planes_as_in_lc0(move, plane):
    assert GATHER[MOVES.index(move)] // 64 == plane

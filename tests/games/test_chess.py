"""Chess against published perft counts, python-chess, and lc0's own planes."""

import pytest

from kedge import _core
from kedge.games.chess import START_FEN

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
# The six positions of the chess programming community, with their published leaf counts.
PERFT = [
    (START_FEN, 5, 4_865_609),
    (KIWIPETE, 4, 4_085_603),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, 11_030_083),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5, 15_833_292),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2_103_487),
    (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        4,
        3_894_594,
    ),
]


@pytest.mark.parametrize(("fen", "depth", "leaves"), PERFT)
def test_perft(fen, depth, leaves):
    """Bulk-counted: the last ply's moves are counted, not made."""
    assert _core.ChessBoard.from_fen(fen).perft(depth) == leaves

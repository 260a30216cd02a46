"""lc0's 1858 moves, and the index of each in its convolutional policy head.

Moves are written from the mover's side: for Black, ranks are flipped. The order is from-square,
then to-square (a1, b1, …, h8) over all queen and knight moves, then the promotions to queen, rook
and bishop. A promotion to a knight has no suffix: it is the plain pawn move. Castling is the king
taking his own rook.
"""

import numpy as np
import numpy.typing as npt

from kedge import _core

# North, north-east, … clockwise, as (file, rank) steps; lc0's planes come in this order.
_QUEEN = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))

#: Planes of the head that encode moves: 8 × 7 queen moves, 8 knight moves, 3 × 3 promotions.
PLANES = 73

#: The moves in lc0's order.
MOVES: tuple[str, ...] = tuple(_core.chess_policy_moves())


def _gather() -> npt.NDArray[np.int64]:
    steps = [*((x * n, y * n) for x, y in _QUEEN for n in range(1, 8)), *_KNIGHT]
    moves = sorted(
        (square, square + x + 8 * y, plane)
        for plane, (x, y) in enumerate(steps)
        for square in range(64)
        if 0 <= square % 8 + x < 8 and 0 <= square // 8 + y < 8
    )
    places = [plane * 64 + square for square, _, plane in moves]
    places += [
        (64 + 3 * (side + 1) + piece) * 64 + 48 + file
        for file in range(8)
        for side in (-1, 0, 1)
        if 0 <= file + side < 8
        for piece in (2, 0, 1)  # the moves come as q, r, b and the planes as r, b, q
    ]
    return np.array(places, np.int64)


#: ``GATHER[move]`` is plane × 64 + from-square: the index of the move in the convolutional head.
GATHER: npt.NDArray[np.int64] = _gather()
GATHER.setflags(write=False)

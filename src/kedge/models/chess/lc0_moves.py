"""lc0's 1858 moves, and the index of each in its convolutional policy head.

Moves are written from the mover's side: for Black, ranks are flipped. The order is from-square,
then to-square (a1, b1, …, h8) over all queen and knight moves, then the promotions to queen, rook
and bishop. A promotion to a knight has no suffix: it is the plain pawn move. Castling is the king
taking his own rook.
"""

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError

# North, north-east, … clockwise, as (file, rank) steps; lc0's planes come in this order.
_QUEEN = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_CASTLING = {"e1g1": "e1h1", "e1c1": "e1a1"}

#: Planes of the head that encode moves: 8 × 7 queen moves, 8 knight moves, 3 × 3 promotions.
PLANES = 73

#: The moves in lc0's order.
MOVES: tuple[str, ...] = tuple(_core.chess_policy_moves())

_INDEX = {move: index for index, move in enumerate(MOVES)}


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


def move_index(uci: str, *, black: bool = False, castling: bool = False) -> int:
    """The index of a move in plain UCI (``e8g8``, ``a2a1n``), for White or Black to move.

    ``castling`` marks the king's two steps as castling. The text alone does not show it: a rook or
    a queen may also go from e1 to g1.

    >>> MOVES[move_index("e7e5", black=True)], MOVES[move_index("e1g1", castling=True)]
    ('e2e4', 'e1h1')
    """
    move = uci
    if black and len(uci) >= 4 and uci[1].isdigit() and uci[3].isdigit():
        move = f"{uci[0]}{9 - int(uci[1])}{uci[2]}{9 - int(uci[3])}{uci[4:]}"
    if castling:
        move = _CASTLING.get(move, move)
    move = move[:4] if move[4:] == "n" else move
    if move not in _INDEX or (uci[4:] == "n" and not (move[1] == "7" and move[3] == "8")):
        raise InputError(f"{uci!r} is not a chess move")
    return _INDEX[move]

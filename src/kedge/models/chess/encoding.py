"""Chess positions as lc0's planes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.games.chess import ChessState
from kedge.models.board.encoding import Encoding, Masks
from kedge.models.chess.conditioning import ChessPlayers, RatingPlanes
from kedge.models.chess.lc0_moves import GATHER

#: lc0's: squares from a1 on, from the mover's side; the number counts half-moves to the fifty-move
#: rule.
CHESS = Encoding(
    "chess",
    planes=112,
    side=8,
    plane_words=1,
    number_plane=109,
    moves=1858,
    most_moves=218,
    rows=256,
    gpu_rows=8192,
    number_scale=100.0,
    gather=GATHER,
    players=ChessPlayers(),
    players_as_planes=RatingPlanes(),
    ones_plane=111,
)


def encode_chess(
    states: Sequence[ChessState], *, fill: bool = True
) -> tuple[Masks, npt.NDArray[np.uint8]]:
    """`CHESS` planes of every state, packed: sets of squares, and the half-move clocks.

    ``planes[i, p]`` has bit s set where plane p is on, a1 = bit 0, from the mover's side. Plane
    109, the half-move clock, is on with the value ``clocks[i]``; every other plane has the value 1.
    `fill` repeats the oldest position for history that is missing unless it is the start of a
    game, as lc0 does by default (``fen_only``); without it such planes stay empty.
    """
    planes = np.empty((len(states), CHESS.words), np.uint64)
    clocks = np.empty(len(states), np.uint8)
    _core.chess_encode([state.board for state in states], planes, clocks, fill)
    return planes, clocks

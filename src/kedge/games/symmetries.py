"""The symmetries of a square board."""

from functools import cache

import numpy as np
import numpy.typing as npt

#: Four turns, and four turns of the board mirrored.
COUNT = 8


@cache
def symmetries(side: int) -> npt.NDArray[np.int64]:
    """Return the eight symmetries of the board: (8, points), the point that comes to each point.

    >>> symmetries(2)[:2].tolist()
    [[0, 1, 2, 3], [1, 3, 0, 2]]
    """
    board = np.arange(side**2).reshape(side, side)
    boards = [np.rot90(face, k) for face in (board, board.T) for k in range(4)]
    return np.stack([turned.ravel() for turned in boards])

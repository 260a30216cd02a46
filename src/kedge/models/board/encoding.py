"""How positions of a game go to a network: as planes of numbers, and packed for the way there.

All planes but one are masks of points; the one holds a number that is the same all over the board.
Packed, a position is a bit for each point of each plane, and that number: of chess 0.9 kB instead
of 28.7 kB.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.games.go import GoState

Masks = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """The planes that networks of a game take, and the moves that they answer for."""

    game: str
    planes: int
    side: int
    """Of the board. Points are counted along rows: point p is bit p % 64 of word p // 64."""
    plane_words: int
    """Of 64 bits, in a plane's mask; enough for the largest board."""
    number_plane: int
    """The one that is a number, whatever its mask."""
    moves: int
    """In the policy."""
    most_moves: int
    """That are legal in any one position."""
    rows: int
    """In a batch that makes the best of a CPU; more gain nothing and cost memory."""
    gpu_rows: int
    """And of a GPU."""

    @property
    def has_pass(self) -> bool:
        """Whether moves are the points of the board, and the pass behind them."""
        return self.moves == self.side**2 + 1

    @property
    def words(self) -> int:
        """Of 64 bits, in the masks of a position."""
        return self.planes * self.plane_words

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a position's planes."""
        return self.planes, self.side, self.side

    def on(self, side: int) -> "Encoding":
        """The same on another board, if moves are its points."""
        if side == self.side:
            return self
        if not (self.has_pass and 4 <= side**2 <= 64 * self.plane_words):
            raise InputError(f"a model of {self.game} does not play on {side}×{side}")
        return replace(self, side=side, moves=side**2 + 1, most_moves=side**2 + 1)

    def unpack(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Floats:
        """Planes (n, planes, side, side) from masks (n, words) and numbers (n)."""
        masks, numbers = self.check_packed(masks, numbers)
        # Bytes from the lowest on, whatever the machine's order.
        data = masks if sys.byteorder == "little" else masks.byteswap()
        bits = np.unpackbits(data.view(np.uint8), axis=-1, bitorder="little")
        points = bits.reshape(len(masks), self.planes, 64 * self.plane_words)[:, :, : self.side**2]
        planes = points.reshape(len(masks), *self.shape).astype(np.float32)
        planes[:, self.number_plane] = numbers[:, None, None]
        return planes

    def pack(self, planes: npt.ArrayLike) -> tuple[Masks, Floats]:
        """The masks and the numbers of planes; `unpack` goes back."""
        planes = self.check_planes(planes)
        numbers = planes[:, self.number_plane, 0, 0].copy()
        bits = np.zeros((len(planes), self.planes, 64 * self.plane_words), bool)
        bits[:, :, : self.side**2] = planes.reshape(*planes.shape[:2], self.side**2) > 0
        packed = np.packbits(bits, -1, bitorder="little").view(np.uint64)
        masks = packed.reshape(len(planes), self.words)
        return (masks if sys.byteorder == "little" else masks.byteswap()), numbers

    def check_planes(self, planes: npt.ArrayLike) -> Floats:
        """`planes` as a contiguous float32 batch."""
        array = np.ascontiguousarray(planes, np.float32)
        if array.ndim != 4 or array.shape[1:] != self.shape:
            expected = ", ".join(map(str, self.shape))
            raise InputError(f"planes have shape {array.shape}, expected (n, {expected})")
        return array

    def check_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> tuple[Masks, Floats]:
        """`masks` and `numbers` as contiguous arrays of one batch."""
        packed = np.ascontiguousarray(masks)
        if packed.dtype not in (np.uint64, np.int64) or packed.shape[1:] != (self.words,):
            raise InputError(
                f"masks are {packed.dtype} {packed.shape}, expected uint64 (n, {self.words})"
            )
        floats = np.ascontiguousarray(numbers, np.float32)
        if floats.shape != packed.shape[:1]:
            raise InputError(f"numbers have shape {floats.shape}, expected {packed.shape[:1]}")
        return packed.view(np.uint64), floats


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
)
#: AlphaGo Zero's: own and the opponent's stones now and seven times before, and, as in the paper
#: (appendix E), komi / 10 for White and −komi / 10 for Black to move, on a smaller board as many
#: times more as it is smaller. The last move is the pass.
GO = Encoding(
    "go",
    planes=17,
    side=19,
    plane_words=6,
    number_plane=16,
    moves=362,
    most_moves=362,
    rows=64,
    gpu_rows=2048,
)
ENCODINGS = (CHESS, GO)


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


def encode_go(states: Sequence[GoState]) -> tuple[Masks, Floats]:
    """`GO` planes of every state, packed: sets of points, and the number.

    ``masks[i, 2k]`` and ``masks[i, 2k + 1]`` are the stones of who moves and of the opponent k
    half-moves ago, empty before the first position: bit p % 64 of word p // 64 is point p. The
    last plane is ``komi[i]`` all over: +komi/10 for White to move, −komi/10 for Black, times
    361/points: a network that weighs the means of planes finds it as large a part of any board.
    """
    masks = np.empty((len(states), GO.planes - 1, GO.plane_words), np.uint64)
    komi = np.empty(len(states), np.float32)
    _core.go_encode([state.board for state in states], masks, komi)
    return masks, komi

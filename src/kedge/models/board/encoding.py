"""The input of board networks: planes of numbers, and a packed form to send them to a device.

One plane holds a number that is the same at every point; all others are masks of points. A packed
position is one bit per point and plane, and that number: 0.9 kB in chess instead of 28.7 kB.
"""

import sys
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kedge import catalogue
from kedge.errors import InputError
from kedge.models.board.conditioning import PlayerInputs

Masks = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """The planes that a game's networks take as input, and the moves of their policies."""

    game: str
    planes: int
    side: int
    """Points per side of the board. Point p, counted along rows, is bit p % 64 of word p // 64."""
    plane_words: int
    """Words of 64 bits in a plane's mask; enough for the largest board."""
    number_plane: int
    """Index of the plane that holds a number."""
    moves: int
    """Moves in the policy."""
    most_moves: int
    """Largest number of legal moves in a position."""
    rows: int
    """Batch size that uses a CPU best; larger batches gain nothing and cost memory."""
    gpu_rows: int
    """Batch size that uses a GPU best."""
    first_planes: int | None = None
    """Planes of files from before the others were added; those took no notice of them."""
    number_scale: float = 1.0
    """Training divides the number by it, and exported weights take the number as it is."""
    gather: npt.NDArray[np.int64] | None = field(default=None, compare=False, repr=False)
    """Place of each move in the planes of a convolutional policy head, if there is such a head."""
    players: PlayerInputs | None = field(default=None, compare=False, repr=False)
    """Inputs about the players that its networks may take."""
    players_as_planes: PlayerInputs | None = field(default=None, compare=False, repr=False)
    """Inputs of networks in old files, as constant planes after the position's."""
    ones_plane: int | None = None
    """Index of a plane that is 1 at every point, if there is one."""

    is_symmetric: bool = False
    """Whether a turned or mirrored board is as good, and the moves are its points."""

    @property
    def has_pass(self) -> bool:
        """Whether the moves are the points of the board, followed by the pass."""
        return self.moves == self.side**2 + 1

    @property
    def words(self) -> int:
        """Words of 64 bits in the masks of a position."""
        return self.planes * self.plane_words

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of a position's planes."""
        return self.planes, self.side, self.side

    def on(self, side: int) -> "Encoding":
        """Return the encoding for another board size; the moves must be its points."""
        if side == self.side:
            return self
        if not (self.has_pass and 4 <= side**2 <= 64 * self.plane_words):
            raise InputError(f"a model of {self.game} does not play on {side}×{side}")
        return replace(self, side=side, moves=side**2 + 1, most_moves=side**2 + 1)

    def unpack(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Floats:
        """Return planes (n, planes, side, side) from masks (n, words) and numbers (n)."""
        masks, numbers = self.check_packed(masks, numbers)
        # Bytes in little-endian order on every machine.
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


def encodings() -> list[Encoding]:
    """The encodings of all games that have networks over planes."""
    return [*catalogue.loaded("encoding").values()]

"""lc0's 112 input planes, as floats for a network and packed into bits for the way there.

All planes but one are masks of squares (a1 is bit 0, from the mover's side); the one holds the
count of the fifty-move rule on every square. Packed, a position takes 0.9 kB instead of 28.7 kB.
"""

import sys

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.lc0 import INPUT_PLANES

#: The plane that holds the count of the fifty-move rule.
RULE50 = 109

Masks = npt.NDArray[np.uint64]
Planes = npt.NDArray[np.float32]


def unpack_planes(masks: npt.ArrayLike, rule50: npt.ArrayLike) -> Planes:
    """Float planes (n, 112, 8, 8) from masks (n, 112) and fifty-move counts (n)."""
    masks, rule50 = check_masks(masks, rule50)
    # Bytes from the lowest on, whatever the machine's order: byte r is rank r + 1.
    data = masks if sys.byteorder == "little" else masks.byteswap()
    bits = np.unpackbits(data.view(np.uint8), axis=-1, bitorder="little")
    planes = bits.reshape(len(masks), INPUT_PLANES, 8, 8).astype(np.float32)
    planes[:, RULE50] = rule50[:, None, None]
    return planes


def pack_planes(planes: npt.ArrayLike) -> tuple[Masks, npt.NDArray[np.float32]]:
    """The masks and the fifty-move counts of float planes; `unpack_planes` goes back."""
    planes = check_planes(planes)
    rule50 = planes[:, RULE50, 0, 0].copy()
    bits = np.packbits(planes.reshape(len(planes), INPUT_PLANES, 64) > 0, -1, bitorder="little")
    masks = bits.view(np.uint64).reshape(len(planes), INPUT_PLANES)
    return (masks if sys.byteorder == "little" else masks.byteswap()), rule50


def check_planes(planes: npt.ArrayLike) -> Planes:
    """`planes` as a contiguous float32 batch."""
    array = np.ascontiguousarray(planes, np.float32)
    if array.ndim != 4 or array.shape[1:] != (INPUT_PLANES, 8, 8):
        raise InputError(f"planes have shape {array.shape}, expected (n, {INPUT_PLANES}, 8, 8)")
    return array


def check_masks(
    masks: npt.ArrayLike, rule50: npt.ArrayLike
) -> tuple[Masks, npt.NDArray[np.float32]]:
    """`masks` and `rule50` as contiguous arrays of one batch."""
    packed = np.ascontiguousarray(masks)
    if packed.dtype not in (np.uint64, np.int64) or packed.shape[1:] != (INPUT_PLANES,):
        raise InputError(
            f"masks are {packed.dtype} {packed.shape}, expected uint64 (n, {INPUT_PLANES})"
        )
    counts = np.ascontiguousarray(rule50, np.float32)
    if counts.shape != packed.shape[:1]:
        raise InputError(f"rule50 has shape {counts.shape}, expected {packed.shape[:1]}")
    return packed.view(np.uint64), counts

"""The network for batches: Winograd's convolutions, with a quarter of the multiplications.

F(4×4, 3×3) of Lavin and Gray 2016: the board is cut into tiles of 4 × 4 points, each seen with its
neighbours as 6 × 6; in another basis a convolution is a product there, point by point, and the sum
over channels a product of matrices. With few positions these are too small to be fast.
"""

import numpy as np
import onnx

from kedge.models.network import TowerGraph
from kedge.models.weights import Array, Weights

_TILE, _SEEN = 4, 6

#: Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, of a kernel g and what a tile sees, d.
_B_T = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
_G = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
_A_T = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
)


def to_winograd_onnx(weights: Weights) -> onnx.ModelProto:
    """What `network.to_onnx` computes, but for rounding."""
    return _WinogradGraph(weights).whole()


class _WinogradGraph(TowerGraph):
    """Planes are (side, side, n, channels), so that no step has to turn them round."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        side = weights.encoding.side
        tiles = -(-side // _TILE)
        to_tiles = np.zeros((_SEEN, tiles, side), np.float32)
        from_tiles = np.zeros((side, _SEEN, tiles), np.float32)
        for point in range(side):
            tile, place = divmod(point, _TILE)
            from_tiles[point, :, tile] = _A_T[place]
            for seeing in range(tiles):
                seen = point - _TILE * seeing + 1
                if 0 <= seen < _SEEN:
                    to_tiles[:, seeing, point] = _B_T[:, seen]
        self._side, self._tiles = side, tiles
        self._to_tiles = self.constant("to_tiles", to_tiles.reshape(-1, side))
        self._from_tiles = self.constant("from_tiles", from_tiles.reshape(side, -1))

    def laid_out(self, planes: str) -> str:
        return self.add("Transpose", [planes], "planes.laid_out", perm=[2, 3, 0, 1])

    def flat(self, x: str, out: str) -> str:
        return super().flat(self.add("Transpose", [x], f"{out}.turned", perm=[2, 3, 0, 1]), out)

    def conv(self, name: str, x: str, *, relu: bool) -> str:
        array = self._weights.arrays[f"{name}.weight"]
        if array.shape[-1] == 1:
            weight = self.constant(f"{name}.weight", array[:, :, 0, 0].T)
            product = self.add("MatMul", [x, weight], f"{name}.product")
        else:
            product = self._winograd(name, x, array)
        bias = self.constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        out = self.add("Add", [product, bias], name)
        return self.add("Relu", [out], f"{name}.relu") if relu else out

    def _winograd(self, name: str, x: str, array: Array) -> str:
        side, tiles, (outputs, channels) = self._side, self._tiles, array.shape[:2]
        turned = np.einsum("ai,bj,ocij->abco", _G, _G, array)[:, None, :, None]
        weight = self.constant(f"{name}.weight", turned.astype(np.float32))
        step = f"{name}.step"
        x = self._on_both_sides(f"{step}.to", self._to_tiles, x, _SEEN * tiles, side)
        x = self._shaped(f"{step}.tiles", x, [_SEEN, tiles, _SEEN, tiles, -1, channels])
        x = self.add("MatMul", [x, weight], f"{step}.product")
        x = self._on_both_sides(f"{step}.from", self._from_tiles, x, side, _SEEN * tiles)
        return self._shaped(f"{step}.board", x, [side, side, -1, outputs])

    def _on_both_sides(self, name: str, matrix: str, x: str, rows: int, columns: int) -> str:
        """M x Mᵀ along the first two axes: the files of the board, then its ranks."""
        x = self._shaped(f"{name}.flat", x, [columns, -1])
        x = self.add("MatMul", [matrix, x], f"{name}.once")
        x = self._shaped(f"{name}.half", x, [rows, columns, -1])
        return self.add("MatMul", [matrix, x], f"{name}.twice")

    def _shaped(self, name: str, x: str, shape: list[int]) -> str:
        return self.add("Reshape", [x, self.constant(f"{name}.shape", np.array(shape))], name)

    def pooled(self, x: str, out: str) -> str:
        return self.add("ReduceMean", [x], out, axes=[0, 1], keepdims=0)

    def pooled_dense(self, name: str, x: str, weight: Array, bias: Array) -> str:
        constants = [self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.add("Gemm", [x, *constants], name, transB=1)

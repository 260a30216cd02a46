"""Networks on the CPU with kedge's own kernels: Winograd convolutions."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.models.board.backends import (
    Array,
    Backend,
    Evaluation,
    Network,
    check_finite,
    evaluation_of,
)
from kedge.models.board.weights import Weights

#: A kernel g becomes G g Gᵀ; ``cpp/tower`` has the other two matrices of F(4×4, 3×3).
_G = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
_TO_BASIS = np.kron(_G, _G)


class TowerNetwork(Backend):
    """A network on the CPU.

    The result of a position does not depend on the others in its batch. The weights need four
    times their own memory, once for all players of a network (`for_players`): the towers share the
    layers that do not depend on the players.

    Parameters
    ----------
    model
        A weight file of lc0 or kedge, or loaded weights.
    threads
        Number of threads; each computes a share of the positions. If there are fewer large
        positions than threads, such as one of Go, each computes a share of every layer and spins
        while it waits. So use no more threads than free cores.
    """

    def __init__(self, model: str | Path | Weights, *, threads: int = 1) -> None:
        if threads < 1:
            raise InputError(f"threads: at least 1, not {threads}")
        super().__init__(model)
        weights = self.weights()
        self.encoding = weights.encoding
        self._threads = threads
        if weights.player_options:
            raise InputError(f"{self.name}: takes the players as input; use for_players")
        try:
            self._tower = _tower(weights, threads)
        except ValueError as error:  # from numpy or the native core
            raise InputError(f"{self.name}: {error}") from None

    def _computing(self, weights: Weights) -> Network:
        return TowerNetwork(weights, threads=self._threads)

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        outputs = self._tower.evaluate(self.encoding.check_planes(planes))
        return check_finite(self, evaluation_of(*outputs))

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        packed = self.encoding.check_packed(masks, numbers)
        return evaluation_of(*self._tower.evaluate_packed(*packed))


def _tower(weights: Weights, threads: int) -> _core.Tower:
    arrays, encoding = weights.arrays, weights.encoding

    def layer(matrices: npt.NDArray[np.floating], bias: Array) -> _core.TowerLayer:
        return _core.TowerLayer(np.ascontiguousarray(matrices, np.float32), bias)

    def conv(name: str) -> _core.TowerLayer:
        kernels, bias = arrays[f"{name}.weight"], arrays[f"{name}.bias"]
        known = weights.tower_layers.get(name)
        if known is None or known[0] is not kernels or known[1] is not bias:
            known = weights.tower_layers[name] = kernels, bias, transformed(kernels, bias)
        return known[2]

    def transformed(kernels: Array, bias: Array) -> _core.TowerLayer:
        outputs, inputs, size, _ = kernels.shape
        flat = kernels.reshape(outputs * inputs, size * size).T
        in_basis = flat if size == 1 else _TO_BASIS @ flat
        return layer(in_basis.reshape(-1, outputs, inputs).swapaxes(1, 2), bias)

    def dense(name: str, planes: int = 1) -> _core.TowerLayer:
        """A dense layer. Weights store its inputs plane by plane, the tower point by point."""
        matrix = arrays[f"{name}.weight"]
        side_by_side = matrix.reshape(len(matrix), planes, -1).transpose(2, 1, 0)
        return layer(side_by_side.reshape(1, -1, len(matrix)), arrays[f"{name}.bias"])

    def squeeze(name: str) -> tuple[_core.TowerLayer, _core.TowerLayer] | None:
        return (dense(f"{name}.fc1"), dense(f"{name}.fc2")) if weights.se_channels else None

    if weights.policy == "classical":
        planes = len(arrays["policy.conv.bias"])
        policy = conv("policy.conv"), dense("policy.fc", planes=planes)
    else:
        policy = conv("policy.conv1"), conv("policy.conv2")
    value_planes = 1 if weights.pools_value else len(arrays["value.conv.bias"])
    return _core.Tower(
        shape=(encoding.planes, encoding.side, encoding.plane_words, encoding.number_plane),
        moves=encoding.moves,
        input=conv("input"),
        blocks=[
            (conv(f"{block}.conv1"), conv(f"{block}.conv2"), squeeze(f"{block}.se"))
            for block in (f"blocks.{i}" for i in range(weights.blocks))
        ],
        policy=weights.policy,
        policy_layers=policy,
        gather=np.array(weights.gather if weights.policy == "convolution" else [], np.uint32),
        value=(conv("value.conv"), dense("value.fc1", planes=value_planes), dense("value.fc2")),
        pools_value=weights.pools_value,
        threads=threads,
    )

"""Weights as an ONNX graph. `kedge.models.board.plain` specifies it.

It has the outputs ``policy`` (n, moves) logits, in chess in the order of `lc0_moves.MOVES`,
``value`` (n) = W − L for the side to move, and, if the value head predicts draws, ``wdl`` (n, 3).
"""

import numpy as np
import onnx

from kedge.models.board.weights import Array, Weights
from kedge.models.onnx_graph import Graph, in_bytes


def to_onnx(weights: Weights) -> onnx.ModelProto:
    """The network as an ONNX model with the input ``planes`` (n, planes, side, side), n free.

    A network that takes the players as input has the input ``who`` (n, k) too: see
    `kedge.models.board.conditioning`. In networks whose input convolution takes k more planes than
    the encoding has, each of the k numbers is a constant plane instead.
    """
    return _TowerGraph(weights).whole()


def to_shipped_onnx(weights: Weights) -> onnx.ModelProto:
    """The network as an ONNX model with one byte per weight: see `in_bytes`."""
    return in_bytes(to_onnx(weights))


class _TowerGraph(Graph):
    """A graph of convolutions on planes (n, channels, side, side)."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights

    def whole(self) -> onnx.ModelProto:
        weights = self._weights
        extra = weights.arrays["input.weight"].shape[1] - weights.encoding.planes
        self.input("planes", ["n", *weights.encoding.shape])
        if "who.weight" in weights.arrays:
            self.input("who", ["n", weights.arrays["who.weight"].shape[1]])
            x = self._conv("input", "planes", relu=False)
            x = self._add_players("who", x, slice(None))
            x = self.add("Relu", [x], "input.relu")
        else:
            x = self._conv("input", self._player_planes(extra) if extra else "planes", relu=True)
        for i in range(weights.blocks):
            x = self._block(f"blocks.{i}", x)
        self._policy_head(x)
        self._value_head(x)
        return self.made("tower", {"game": weights.encoding.game, "network": weights.kind})

    def _conv(self, name: str, x: str, *, relu: bool) -> str:
        array = self._weights.arrays[f"{name}.weight"]
        edge = array.shape[-1] // 2
        weight = self.constant(f"{name}.weight", array)
        bias = self.constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        out = self.add(
            "Conv", [x, weight, bias], name, kernel_shape=array.shape[2:], pads=[edge] * 4
        )
        return self.add("Relu", [out], f"{name}.relu") if relu else out

    def _block(self, name: str, x: str) -> str:
        y = self._conv(f"{name}.conv2", self._conv(f"{name}.conv1", x, relu=True), relu=False)
        if self._weights.se_channels:
            y = self._squeeze_and_excite(f"{name}.se", y)
        return self.add("Relu", [self.add("Add", [y, x], f"{name}.sum")], name)

    def _squeeze_and_excite(self, name: str, y: str) -> str:
        # The last layer is stored in halves, so that nothing is split at run time.
        filters = self._weights.filters
        arrays = self._weights.arrays

        who = f"{name.removesuffix('.se')}.who"

        def dense(part: str, x: str, rows: slice) -> str:
            weight = arrays[f"{name}.{part}.weight"][rows]
            bias = arrays[f"{name}.{part}.bias"][rows]
            out = self._pooled_dense(f"{name}.{part}.{rows.start or 0}", x, weight, bias)
            takes_players = part == "fc2" and f"{who}.weight" in arrays
            return self._add_players(who, out, rows) if takes_players else out

        pooled = self.add("GlobalAveragePool", [y], f"{name}.pooled")
        squeezed = self.add("Relu", [dense("fc1", pooled, slice(None))], f"{name}.fc1.relu")
        scale = self.add("Sigmoid", [dense("fc2", squeezed, slice(filters))], f"{name}.scale")
        bias = dense("fc2", squeezed, slice(filters, None))
        return self.add("Add", [self.add("Mul", [y, scale], f"{name}.scaled"), bias], name)

    def _pooled_dense(self, name: str, x: str, weight: Array, bias: Array) -> str:
        """A dense layer on pooled planes, as a 1 × 1 convolution to avoid a reshape."""
        inputs = [
            x,
            self.constant(f"{name}.weight", weight[:, :, None, None]),
            self.constant(f"{name}.bias", bias),
        ]
        return self.add("Conv", inputs, name, kernel_shape=[1, 1])

    def _flat(self, x: str, out: str) -> str:
        return self.add("Flatten", [x], out, axis=1)

    def _policy_head(self, x: str) -> None:
        if self._weights.policy == "classical":
            flat = self._flat(self._conv("policy.conv", x, relu=True), "policy.flat")
            self._dense("policy.fc", flat, "policy")
        else:
            x = self._conv("policy.conv1", x, relu=True)
            flat = self._flat(self._conv("policy.conv2", x, relu=False), "policy.flat")
            if self._weights.policy == "convolution":
                gather = self.constant("policy.gather", self._weights.gather)
                self.add("Gather", [flat, gather], "policy", axis=1)
            else:
                points, passing = self.split(flat, ["policy.points", "policy.passing"])
                mean = self.add("ReduceMean", [passing], "policy.pass", axes=[1], keepdims=1)
                self.add("Concat", [points, mean], "policy", axis=1)
        self.output("policy", ["n", self._weights.encoding.moves])

    def _value_head(self, x: str) -> None:
        planes = self._conv("value.conv", x, relu=True)
        if self._weights.pools_value:
            means = self.add("GlobalAveragePool", [planes], "value.pooled")
            flat = self._flat(means, "value.flat")
        else:
            flat = self._flat(planes, "value.flat")
        hidden = self.add("Relu", [self._dense("value.fc1", flat, "value.fc1")], "value.hidden")
        last = self._dense("value.fc2", hidden, "value.fc2")
        axis = self.constant("value.axis", np.array([1]))
        if self._weights.value == "wdl":
            self.add("Softmax", [last], "wdl", axis=1)
            self.output("wdl", ["n", 3])
            signs = self.constant("value.signs", np.array([[1.0, 0.0, -1.0]], np.float32))
            signed = self.add("Mul", ["wdl", signs], "value.signed")
            self.add("ReduceSum", [signed, axis], "value", keepdims=0)
        else:
            self.add("Squeeze", [self.add("Tanh", [last], "value.tanh"), axis], "value")
        self.output("value", ["n"])

    def _add_players(self, name: str, x: str, rows: slice) -> str:
        """Add the bias that ``who`` gives to each channel of `x`."""
        part = f"{name}.{rows.start or 0}"
        weight = self.constant(f"{part}.weight", self._weights.arrays[f"{name}.weight"][rows])
        bias = self.add("Gemm", ["who", weight], f"{part}.shift", transB=1)
        axes = self.constant(f"{part}.axes", np.array([2, 3]))
        spread = self.add("Unsqueeze", [bias, axes], f"{part}.spread")
        return self.add("Add", [x, spread], f"{part}.sum")

    def _player_planes(self, count: int) -> str:
        """``planes`` followed by the constant planes of ``who``."""
        self.input("who", ["n", count])
        axes = self.constant("who.axes", np.array([2, 3]))
        side = self._weights.encoding.side
        board = self.constant("who.board", np.array([1, count, side, side]))
        small = self.add("Unsqueeze", ["who", axes], "who.small")
        spread = self.add("Expand", [small, board], "who.planes")
        return self.add("Concat", ["planes", spread], "all.planes", axis=1)

    def _dense(self, name: str, x: str, out: str) -> str:
        weight = self.constant(f"{name}.weight", self._weights.arrays[f"{name}.weight"])
        bias = self.constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        return self.add("Gemm", [x, weight, bias], out, transB=1)

"""One weight dictionary, two graphs: ONNX and torch. `kedge.models.plain` says what they compute.

Both have the outputs ``policy`` (n, moves) logits, in chess in the order of `lc0_moves.MOVES`,
``value`` (n) = W − L for the side to move, and, where the value head knows draws, ``wdl`` (n, 3).
"""

from typing import TYPE_CHECKING

import numpy as np
import onnx

from kedge.errors import InputError
from kedge.models.lc0_moves import GATHER
from kedge.models.onnx_graph import Graph, in_bytes
from kedge.models.weights import Weights

if TYPE_CHECKING:
    from kedge.models.torch_network import TorchModule

#: Of the graphs that `to_onnx` makes; cached files of another version are made anew.
GRAPH_VERSION = 1


def to_onnx(weights: Weights) -> onnx.ModelProto:
    """The network as an ONNX model with the input ``planes`` (n, planes, side, side), n free.

    Where its input convolution takes more planes than the encoding has, it is also told who plays:
    ``who`` (n, k) holds k numbers, each seen as a plane of its own, all over the board.
    """
    told = weights.arrays["input.weight"].shape[1] - weights.encoding.planes
    graph = _Graph(weights)
    graph.input("planes", ["n", *weights.encoding.shape])
    x = graph.conv("input", graph.told_planes(told) if told else "planes", relu=True)
    for i in range(weights.blocks):
        x = graph.block(f"blocks.{i}", x)
    graph.policy_head(x)
    graph.value_head(x)
    return graph.made("lc0")


def to_shipped_onnx(weights: Weights) -> onnx.ModelProto:
    """The same as kedge ships it: see `in_bytes`."""
    return in_bytes(to_onnx(weights))


def to_torch(weights: Weights) -> "TorchModule":
    """The network as a `torch.nn.Module`, its parameters named as in ``weights.arrays``."""
    try:
        from kedge.models.torch_network import TorchModule
    except ImportError as error:
        raise InputError(f"torch is needed: pip install 'kedge[train]' ({error})") from None
    return TorchModule(weights)


class _Graph(Graph):
    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights

    def conv(self, name: str, x: str, *, relu: bool) -> str:
        array = self._weights.arrays[f"{name}.weight"]
        edge = array.shape[-1] // 2
        weight = self.constant(f"{name}.weight", array)
        bias = self.constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        out = self.add(
            "Conv", [x, weight, bias], name, kernel_shape=array.shape[2:], pads=[edge] * 4
        )
        return self.add("Relu", [out], f"{name}.relu") if relu else out

    def block(self, name: str, x: str) -> str:
        y = self.conv(f"{name}.conv2", self.conv(f"{name}.conv1", x, relu=True), relu=False)
        if self._weights.se_channels:
            y = self._squeeze_and_excite(f"{name}.se", y)
        return self.add("Relu", [self.add("Add", [y, x], f"{name}.sum")], name)

    def _squeeze_and_excite(self, name: str, y: str) -> str:
        # Dense layers on pooled planes are 1 × 1 convolutions; the last is cut into its halves, so
        # that nothing has to be split or reshaped at run time.
        filters = self._weights.filters
        arrays = self._weights.arrays
        pooled = self.add("GlobalAveragePool", [y], f"{name}.pooled")

        def dense(part: str, x: str, rows: slice) -> str:
            weight = arrays[f"{name}.{part}.weight"][rows, :, None, None]
            bias = arrays[f"{name}.{part}.bias"][rows]
            label = f"{name}.{part}.{rows.start or 0}"
            inputs = [
                x,
                self.constant(f"{label}.weight", weight),
                self.constant(f"{label}.bias", bias),
            ]
            return self.add("Conv", inputs, label, kernel_shape=[1, 1])

        squeezed = self.add("Relu", [dense("fc1", pooled, slice(None))], f"{name}.fc1.relu")
        scale = self.add("Sigmoid", [dense("fc2", squeezed, slice(filters))], f"{name}.scale")
        bias = dense("fc2", squeezed, slice(filters, None))
        return self.add("Add", [self.add("Mul", [y, scale], f"{name}.scaled"), bias], name)

    def policy_head(self, x: str) -> None:
        if self._weights.policy == "convolution":
            planes = self.conv("policy.conv2", self.conv("policy.conv1", x, relu=True), relu=False)
            flat = self.add("Flatten", [planes], "policy.flat", axis=1)
            self.add("Gather", [flat, self.constant("policy.gather", GATHER)], "policy", axis=1)
        else:
            planes = self.conv("policy.conv", x, relu=True)
            flat = self.add("Flatten", [planes], "policy.flat", axis=1)
            self._dense("policy.fc", flat, "policy")
        self.output("policy", ["n", self._weights.encoding.moves])

    def value_head(self, x: str) -> None:
        planes = self.conv("value.conv", x, relu=True)
        flat = self.add("Flatten", [planes], "value.flat", axis=1)
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

    def told_planes(self, count: int) -> str:
        """``planes`` with ``who`` spread over the board behind them."""
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

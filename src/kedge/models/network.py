"""One weight dictionary, two graphs: ONNX and torch. `kedge.models.plain` says what they compute.

Both have the outputs ``policy`` (n, moves) logits, in chess in the order of `lc0_moves.MOVES`,
``value`` (n) = W − L for the side to move, and, where the value head knows draws, ``wdl`` (n, 3).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from kedge.errors import InputError
from kedge.models.lc0_moves import GATHER
from kedge.models.weights import Weights

if TYPE_CHECKING:
    from kedge.models.torch_network import TorchModule

OPSET = 17
#: Of the graphs that `to_onnx` makes; cached files of another version are made anew.
GRAPH_VERSION = 1


def to_onnx(weights: Weights) -> onnx.ModelProto:
    """The network as an ONNX model with the input ``planes`` (n, planes, side, side), n free.

    Where its input convolution takes more planes than the encoding has, it is also told who plays:
    ``who`` (n, k) holds k numbers, each seen as a plane of its own, all over the board.
    """
    told = weights.arrays["input.weight"].shape[1] - weights.encoding.planes
    graph = _Graph(weights)
    x = graph.conv("input", graph.told_planes(told) if told else "planes", relu=True)
    for i in range(weights.blocks):
        x = graph.block(f"blocks.{i}", x)
    graph.policy_head(x)
    graph.value_head(x)
    return graph.model(told)


def to_shipped_onnx(weights: Weights) -> onnx.ModelProto:
    """The same with a byte a weight, and a scale for all that make one output: what kedge ships."""
    model = to_onnx(weights)
    kept, unpacked = [], []
    for constant in model.graph.initializer:
        name, array = constant.name, numpy_helper.to_array(constant)
        if not name.endswith(".weight"):
            kept.append(constant)
            continue
        outputs = (len(array), *[1] * (array.ndim - 1))
        scale = (np.abs(array).reshape(len(array), -1).max(1) / 127.0).reshape(outputs)
        whole = np.round(array / np.where(scale > 0.0, scale, 1.0)).astype(np.int8)
        parts = {f"{name}.bytes": whole, f"{name}.scale": scale}
        kept += [numpy_helper.from_array(part, part_name) for part_name, part in parts.items()]
        floats = f"{name}.floats"
        unpacked += [
            helper.make_node("Cast", [f"{name}.bytes"], [floats], to=TensorProto.FLOAT),
            helper.make_node("Mul", [floats, f"{name}.scale"], [name]),
        ]
    nodes = [*unpacked, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return model


def to_torch(weights: Weights) -> "TorchModule":
    """The network as a `torch.nn.Module`, its parameters named as in ``weights.arrays``."""
    try:
        from kedge.models.torch_network import TorchModule
    except ImportError as error:
        raise InputError(f"torch is needed: pip install 'kedge[train]' ({error})") from None
    return TorchModule(weights)


class _Graph:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def conv(self, name: str, x: str, *, relu: bool) -> str:
        array = self._weights.arrays[f"{name}.weight"]
        edge = array.shape[-1] // 2
        weight = self._constant(f"{name}.weight", array)
        bias = self._constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        out = self._add(
            "Conv", [x, weight, bias], name, kernel_shape=array.shape[2:], pads=[edge] * 4
        )
        return self._add("Relu", [out], f"{name}.relu") if relu else out

    def block(self, name: str, x: str) -> str:
        y = self.conv(f"{name}.conv2", self.conv(f"{name}.conv1", x, relu=True), relu=False)
        if self._weights.se_channels:
            y = self._squeeze_and_excite(f"{name}.se", y)
        return self._add("Relu", [self._add("Add", [y, x], f"{name}.sum")], name)

    def _squeeze_and_excite(self, name: str, y: str) -> str:
        # Dense layers on pooled planes are 1 × 1 convolutions; the last is cut into its halves, so
        # that nothing has to be split or reshaped at run time.
        filters = self._weights.filters
        arrays = self._weights.arrays
        pooled = self._add("GlobalAveragePool", [y], f"{name}.pooled")

        def dense(part: str, x: str, rows: slice) -> str:
            weight = arrays[f"{name}.{part}.weight"][rows, :, None, None]
            bias = arrays[f"{name}.{part}.bias"][rows]
            label = f"{name}.{part}.{rows.start or 0}"
            inputs = [
                x,
                self._constant(f"{label}.weight", weight),
                self._constant(f"{label}.bias", bias),
            ]
            return self._add("Conv", inputs, label, kernel_shape=[1, 1])

        squeezed = self._add("Relu", [dense("fc1", pooled, slice(None))], f"{name}.fc1.relu")
        scale = self._add("Sigmoid", [dense("fc2", squeezed, slice(filters))], f"{name}.scale")
        bias = dense("fc2", squeezed, slice(filters, None))
        return self._add("Add", [self._add("Mul", [y, scale], f"{name}.scaled"), bias], name)

    def policy_head(self, x: str) -> None:
        if self._weights.policy == "convolution":
            planes = self.conv("policy.conv2", self.conv("policy.conv1", x, relu=True), relu=False)
            flat = self._add("Flatten", [planes], "policy.flat", axis=1)
            self._add("Gather", [flat, self._constant("policy.gather", GATHER)], "policy", axis=1)
        else:
            planes = self.conv("policy.conv", x, relu=True)
            flat = self._add("Flatten", [planes], "policy.flat", axis=1)
            self._dense("policy.fc", flat, "policy")
        self._output("policy", ["n", self._weights.encoding.moves])

    def value_head(self, x: str) -> None:
        planes = self.conv("value.conv", x, relu=True)
        flat = self._add("Flatten", [planes], "value.flat", axis=1)
        hidden = self._add("Relu", [self._dense("value.fc1", flat, "value.fc1")], "value.hidden")
        last = self._dense("value.fc2", hidden, "value.fc2")
        axis = self._constant("value.axis", np.array([1]))
        if self._weights.value == "wdl":
            self._add("Softmax", [last], "wdl", axis=1)
            self._output("wdl", ["n", 3])
            signs = self._constant("value.signs", np.array([[1.0, 0.0, -1.0]], np.float32))
            signed = self._add("Mul", ["wdl", signs], "value.signed")
            self._add("ReduceSum", [signed, axis], "value", keepdims=0)
        else:
            self._add("Squeeze", [self._add("Tanh", [last], "value.tanh"), axis], "value")
        self._output("value", ["n"])

    def told_planes(self, count: int) -> str:
        """``planes`` with ``who`` spread over the board behind them."""
        axes = self._constant("who.axes", np.array([2, 3]))
        side = self._weights.encoding.side
        board = self._constant("who.board", np.array([1, count, side, side]))
        small = self._add("Unsqueeze", ["who", axes], "who.small")
        spread = self._add("Expand", [small, board], "who.planes")
        return self._add("Concat", ["planes", spread], "all.planes", axis=1)

    def model(self, told: int = 0) -> onnx.ModelProto:
        shape: list[str | int] = ["n", *self._weights.encoding.shape]
        inputs = [helper.make_tensor_value_info("planes", TensorProto.FLOAT, shape)]
        if told:
            inputs.append(helper.make_tensor_value_info("who", TensorProto.FLOAT, ["n", told]))
        graph = helper.make_graph(
            self._nodes, "lc0", inputs, self._outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid("", OPSET)]
        # The oldest file version with this opset, so that older runtimes read it.
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="kedge")
        onnx.checker.check_model(model)
        return model

    def _dense(self, name: str, x: str, out: str) -> str:
        weight = self._constant(f"{name}.weight", self._weights.arrays[f"{name}.weight"])
        bias = self._constant(f"{name}.bias", self._weights.arrays[f"{name}.bias"])
        return self._add("Gemm", [x, weight, bias], out, transB=1)

    def _add(self, kind: str, inputs: list[str], out: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def _constant(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _output(self, name: str, shape: list[str | int]) -> None:
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

"""Builder of ONNX graphs, and packing of their weights into bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """Collects nodes and constants of a graph."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def add(self, kind: str, inputs: Sequence[str], out: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def split(self, x: str, outs: list[str]) -> list[str]:
        """Split along the last axis into equal parts."""
        self._nodes.append(helper.make_node("Split", [x], outs, axis=-1))
        return outs

    def constant(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def input(self, name: str, shape: Sequence[str | int], kind: int = TensorProto.FLOAT) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, shape: Sequence[str | int]) -> None:
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def made(self, name: str, metadata: Mapping[str, str] | None = None) -> onnx.ModelProto:
        """Build the model, with `metadata`; `ValueError` if it is not a valid graph."""
        graph = helper.make_graph(
            self._nodes, name, self._inputs, self._outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid("", OPSET)]
        # The oldest file version with this opset, so that older runtimes can read it.
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="kedge")
        if metadata:
            helper.set_model_props(model, dict(metadata))
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as error:
            raise ValueError(str(error)) from None
        return model


class WeightGraph(Graph):
    """A graph whose layers take their weights by name."""

    def __init__(self, arrays: Mapping[str, np.ndarray[Any, np.dtype[np.float32]]]) -> None:
        super().__init__()
        self._arrays = arrays
        self.used: set[str] = set()

    def weight(self, name: str) -> str:
        if name not in self.used:
            self.used.add(name)
            self.constant(name, self._arrays[name])
        return name

    def add_unused(self) -> None:
        """Add the weights that no layer uses, so that one file holds all of them."""
        for name in self._arrays:
            self.weight(name)

    def numbers(self, name: str, numbers: Any) -> str:
        return self.constant(f"numbers.{name}", np.array(numbers, np.int64))

    def dense(self, name: str, x: str, *, bias: bool = True) -> str:
        turned = self.add("Transpose", [self.weight(f"{name}.weight")], f"{name}.turned")
        y = self.add("MatMul", [x, turned], f"{name}.product")
        return self.add("Add", [y, self.weight(f"{name}.bias")], f"{name}.sum") if bias else y

    def lstm(self, name: str, x: str, h: str, c: str) -> tuple[str, str]:
        """One step of a layer with torch's order of gates: its output and its cell."""
        sums = [self.dense(f"{name}.input", x), self.dense(f"{name}.hidden", h, bias=False)]
        return self.gated(name, self.add("Add", sums, f"{name}.gates"), c)

    def stacked_lstm(self, x: str, layers: int, shape: Sequence[str | int], *, axis: int) -> str:
        """One step of a stack of layers, whose state is in inputs and outputs of this shape.

        The inputs are ``hidden`` and ``cell``, the outputs ``hidden.next`` and ``cell.next``, with
        layers along `axis`. Returns the last layer's output.
        """
        state = [self.input(name, shape) for name in ("hidden", "cell")]
        hidden, cells = [], []
        for i in range(layers):
            number = self.numbers(f"layer.{i}", i)
            h, c = (self.add("Gather", [name, number], f"{name}.{i}", axis=axis) for name in state)
            x, c = self.lstm(f"lstm.{i}", x, h, c)
            hidden.append(x)
            cells.append(c)
        for name, parts in (("hidden.next", hidden), ("cell.next", cells)):
            place = self.numbers(f"{name}.axis", [axis])
            apart = [self.add("Unsqueeze", [part, place], f"{part}.apart") for part in parts]
            self.add("Concat", apart, name, axis=axis)
            self.output(name, shape)
        return x

    def gated(self, name: str, gates: str, c: str) -> tuple[str, str]:
        """The output and cell of an LSTM, from the summed inputs of its gates."""
        parts = [f"{name}.{part}" for part in ("in", "forget", "new", "out")]
        let_in, forget, new, out = (
            self.add("Tanh" if part.endswith("new") else "Sigmoid", [part], f"{part}.gate")
            for part in self.split(gates, parts)
        )
        kept = self.add("Mul", [forget, c], f"{name}.kept")
        cell = self.add("Add", [kept, self.add("Mul", [let_in, new], f"{name}.got")], f"{name}.c")
        return self.add("Mul", [out, self.add("Tanh", [cell], f"{name}.open")], f"{name}.h"), cell


def in_bytes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Pack the weights of `model` into a byte each, with one scale per output."""
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

"""The weights of the Diplomacy network, and its ONNX graphs.

`kedge.models.diplomacy.torch_network` has the same in torch.

A model's file holds all weights, packed in bytes, and a graph that reads positions, for other
programs. kedge takes only the weights from it. From them it builds the graphs that it runs: one
reads positions, and one advances by one order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from kedge.models.diplomacy.encoding import FACTS, PLACES, PURPOSES, TOKENS
from kedge.models.onnx_file import OnnxFile
from kedge.models.onnx_graph import WeightGraph, in_bytes

Array = npt.NDArray[np.float32]


#: Shipped model that values positions.
VALUE = "diplomacy-value"


@dataclass(frozen=True)
class DiplomacyWeights:
    """A network's arrays by name, each ``.weight`` with its outputs first, and its shape."""

    arrays: Mapping[str, Array]
    heads: int
    sha256: str  # of the file
    training: Mapping[str, Any] = field(default_factory=dict)

    game_name: ClassVar[str] = "diplomacy"
    kind: ClassVar[str] = "orders"
    described: ClassVar[str] = "a model of people's orders in Diplomacy"

    def companions(self, name: str) -> tuple[str, ...]:
        """The model that values positions for it."""
        return (VALUE,)

    @property
    def width(self) -> int:
        return int(self.arrays["encoder.facts.weight"].shape[1])

    @property
    def blocks(self) -> int:
        return _count(self.arrays, "encoder.blocks.{}.up.weight")

    @property
    def layers(self) -> int:
        """Layers of the LSTM."""
        return _count(self.arrays, "lstm.{}.input.weight")

    @property
    def parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())

    def architecture(self) -> dict[str, Any]:
        """The shape as JSON data."""
        shape = {"width": self.width, "blocks": self.blocks, "heads": self.heads}
        return {**shape, "layers": self.layers, "parameters": self.parameters}


def _count(arrays: Mapping[str, Array], name: str) -> int:
    return next(i for i in range(len(arrays) + 1) if name.format(i) not in arrays)


def parse_diplomacy(file: OnnxFile) -> DiplomacyWeights:
    """Read a model from `to_shipped_onnx`; `KeyError` or `ValueError` if parts are missing."""
    arrays = file.weights()
    weights = DiplomacyWeights(arrays, int(file.metadata["heads"]), file.sha256)
    if missing := weight_names(weights.blocks, weights.layers) - arrays.keys():
        raise KeyError(*missing)
    return weights


def weight_names(blocks: int, layers: int) -> set[str]:
    """The names of all arrays of a network."""
    encoder = {"encoder.facts.weight"}
    places = ["encoder.norm", "encoder.share"]
    parts = ("norm1", "query", "key", "value", "out", "norm2", "up", "down")
    places += [f"encoder.blocks.{i}.{part}" for i in range(blocks) for part in parts]
    encoder |= {f"{place}.{kind}" for place in places for kind in ("weight", "bias")}
    lstm = ("input.weight", "input.bias", "hidden.weight")
    decoder = {f"{name}.weight" for name in ("look", "left", "place", "power", "before", "order")}
    return encoder | decoder | {f"lstm.{i}.{part}" for i in range(layers) for part in lstm}


def to_shipped_onnx(weights: DiplomacyWeights) -> onnx.ModelProto:
    """The model file: the graph that reads positions, with all other weights."""
    graph = _Graph(weights)
    graph.read()
    graph.add_unused()
    return in_bytes(
        graph.made(
            "diplomacy", {"game": "diplomacy", "network": weights.kind, "heads": str(weights.heads)}
        )
    )


def to_onnx(weights: DiplomacyWeights, *, values_only: bool = False) -> onnx.ModelProto:
    """The graph that reads positions.

    Its input is ``facts`` (n, 88, 10). Its outputs are the logits ``shares`` (n, 7) and, unless
    `values_only`, ``places`` (n, 82, width), ``powers`` (n, 7, width) and ``looks``
    (n, 325, width). The last place and the first look are 0.
    """
    graph = _Graph(weights)
    graph.read(values_only=values_only)
    return graph.made("diplomacy")


def to_step_onnx(weights: DiplomacyWeights) -> onnx.ModelProto:
    """The graph that advances by one order, for g powers with r partial orders each.

    Its inputs are ``places`` (g, width) and ``powers`` (g, width) from the graph that reads
    positions, the number of choices ``left`` (g), facts of the order ``before`` (g, r, 3), the c
    legal ``orders`` (g, c, 3) with the vectors ``looked`` (g, c, width) of their places, and the
    LSTM's ``hidden`` and ``cell`` (layers, g, r, width). Its outputs are the ``logits`` (g, r, c)
    and the LSTM's next state.
    """
    graph = _Graph(weights)
    graph.step()
    return graph.made("diplomacy-step")


class _Graph(WeightGraph):
    def __init__(self, weights: DiplomacyWeights) -> None:
        super().__init__(weights.arrays)
        self._weights = weights

    def read(self, values_only: bool = False) -> None:
        width = self._weights.width
        facts = self.input("facts", ["n", TOKENS, FACTS], TensorProto.INT32)
        x = self._rows("encoder.facts", facts, "x")
        for i in range(self._weights.blocks):
            x = self._block(f"encoder.blocks.{i}", x)
        x = self._norm("encoder.norm", x)
        powers = self._slice(x, PLACES, TOKENS, "powers")
        shares = self.dense("encoder.share", powers)
        self.add("Squeeze", [shares, self.numbers("last", [2])], "shares")
        self.output("shares", ["n", 7])
        if values_only:
            return
        places = self._slice(x, 0, PLACES, "all.places")
        self._pad(places, [0, 0, 0, 0, 1, 0], "places")
        looked = self.dense("look", places, bias=False)
        shape = self.numbers("look.shape", [0, PLACES, PURPOSES, width])
        looked = self.add("Reshape", [looked, shape], "look.apart")
        looked = self.add("Transpose", [looked], "look.purposes", perm=[0, 2, 1, 3])
        shape = self.numbers("look.flat.shape", [0, PURPOSES * PLACES, width])
        looked = self.add("Reshape", [looked, shape], "look.flat")
        self._pad(looked, [0, 1, 0, 0, 0, 0], "looks")
        self.output("places", ["n", PLACES + 1, width])
        self.output("powers", ["n", 7, width])
        self.output("looks", ["n", 1 + PURPOSES * PLACES, width])

    def step(self) -> None:
        width, layers = self._weights.width, self._weights.layers
        places = self.input("places", ["g", width])
        powers = self.input("powers", ["g", width])
        left = self.input("left", ["g"], TensorProto.INT64)
        before = self.input("before", ["g", "r", 3], TensorProto.INT64)
        orders = self.input("orders", ["g", "c", 3], TensorProto.INT64)
        looked = self.input("looked", ["g", "c", width])
        table = self.weight("left.weight")
        group = self.add("Gather", [table, left], "left.told", axis=0)
        for name, x in (("place", places), ("power", powers)):
            group = self.add("Add", [group, self.dense(name, x, bias=False)], f"{name}.told")
        group = self.add("Unsqueeze", [group, self.numbers("middle", [1])], "group.told")
        x = self.add("Add", [self._rows("before", before, "before.rows"), group], "told")
        x = self.stacked_lstm(x, layers, [layers, "g", "r", width], axis=0)
        vectors = self.add("Add", [self._rows("order", orders, "order.rows"), looked], "vectors")
        turned = self.add("Transpose", [vectors], "vectors.turned", perm=[0, 2, 1])
        self.add("MatMul", [x, turned], "logits")
        self.output("logits", ["g", "r", "c"])

    def _block(self, name: str, x: str) -> str:
        heads = self._weights.heads
        size = self._weights.width // heads
        y = self._norm(f"{name}.norm1", x)
        apart = self.numbers(f"{name}.apart", [0, TOKENS, heads, size])
        parts = []
        for part, order in (
            ("query", [0, 2, 1, 3]),
            ("key", [0, 2, 3, 1]),
            ("value", [0, 2, 1, 3]),
        ):
            split = self.add(
                "Reshape", [self.dense(f"{name}.{part}", y), apart], f"{name}.{part}.apart"
            )
            parts.append(self.add("Transpose", [split], f"{name}.{part}.heads", perm=order))
        query, key, value = parts
        scale = self.constant(f"{name}.scale", np.array(size**-0.5, np.float32))
        query = self.add("Mul", [query, scale], f"{name}.scaled")
        scores = self.add("MatMul", [query, key], f"{name}.scores")
        shares = self.add("Softmax", [scores], f"{name}.attention", axis=-1)
        y = self.add("MatMul", [shares, value], f"{name}.attended")
        y = self.add("Transpose", [y], f"{name}.back", perm=[0, 2, 1, 3])
        whole = self.numbers(f"{name}.whole", [0, TOKENS, self._weights.width])
        y = self.add("Reshape", [y, whole], f"{name}.together")
        x = self.add("Add", [x, self.dense(f"{name}.out", y)], f"{name}.x1")
        y = self.dense(f"{name}.up", self._norm(f"{name}.norm2", x))
        return self.add("Add", [x, self.dense(f"{name}.down", self._gelu(name, y))], f"{name}.x2")

    def _gelu(self, name: str, x: str) -> str:
        root = self.constant(f"{name}.root", np.array(2**0.5, np.float32))
        one = self.constant(f"{name}.one", np.array(1.0, np.float32))
        half = self.constant(f"{name}.half", np.array(0.5, np.float32))
        y = self.add("Erf", [self.add("Div", [x, root], f"{name}.rooted")], f"{name}.erf")
        y = self.add("Mul", [x, self.add("Add", [y, one], f"{name}.more")], f"{name}.gated")
        return self.add("Mul", [y, half], f"{name}.gelu")

    def _norm(self, name: str, x: str) -> str:
        inputs = [x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.add("LayerNormalization", inputs, name, axis=-1, epsilon=1e-5)

    def _rows(self, name: str, which: str, out: str) -> str:
        """The sum of rows of a table."""
        rows = self.add("Gather", [self.weight(f"{name}.weight"), which], f"{out}.each", axis=0)
        return self.add("ReduceSum", [rows, self.numbers(f"{out}.axis", [-2])], out, keepdims=0)

    def _slice(self, x: str, first: int, last: int, out: str) -> str:
        ends = [self.numbers(f"{out}.{end}", [end]) for end in (first, last)]
        return self.add("Slice", [x, *ends, self.numbers(f"{out}.axis", [1])], out)

    def _pad(self, x: str, edges: list[int], out: str) -> str:
        return self.add("Pad", [x, self.numbers(f"{out}.edges", edges)], out)

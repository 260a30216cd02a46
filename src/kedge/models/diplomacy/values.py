"""A small value network for Diplomacy, which searches evaluate thousands of times.

It reads a position from each power's view in turn. It adds up rows of a table (own and other units
and centres, and who could move where with how much support). Two layers turn the sum into a number,
and the softmax of the seven numbers is the shares. It does not take previous orders as input, so
the value of a position does not depend on its history. The native core computes it in a few
microseconds; `to_shipped_onnx` specifies it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from kedge import _core
from kedge.games.diplomacy import POWERS, DiplomacyBatch
from kedge.models.diplomacy.network import Array
from kedge.models.onnx_file import OnnxFile
from kedge.models.onnx_graph import Graph, in_bytes

#: Most rows of a power's view of a position, and the size of the table.
SEEN, SEEN_ROWS = _core.DIPLOMACY_SEEN, _core.DIPLOMACY_SEEN_ROWS


@dataclass(frozen=True)
class ValueWeights:
    """A value network's arrays: ``rows``, ``layer`` and ``out``, in torch's layout."""

    arrays: Mapping[str, Array]
    sha256: str  # of the file
    training: Mapping[str, Any] = field(default_factory=dict)

    game_name: ClassVar[str] = "diplomacy"
    kind: ClassVar[str] = "value"
    described: ClassVar[str] = "a small value network, such as diplomacy-value"

    def companions(self, name: str) -> tuple[str, ...]:
        """No other model belongs to the model `name`."""
        return ()

    @property
    def width(self) -> int:
        return int(self.arrays["rows.weight"].shape[1])

    @property
    def hidden(self) -> int:
        return int(self.arrays["layer.weight"].shape[0])

    @property
    def parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())

    def architecture(self) -> dict[str, Any]:
        """The shape as JSON data."""
        return {"width": self.width, "hidden": self.hidden, "parameters": self.parameters}


class SmallValues:
    """A `ValueModel`: the network on the CPU."""

    def __init__(self, weights: ValueWeights, threads: int = 0) -> None:
        arrays = weights.arrays
        self._threads = threads
        self._network = _core.DiplomacyValues(
            np.ascontiguousarray(arrays["rows.weight"]),
            arrays["rows.bias"],
            np.ascontiguousarray(arrays["layer.weight"].T),
            arrays["layer.bias"],
            np.ascontiguousarray(arrays["out.weight"][0]),
        )

    def values(self, boards: DiplomacyBatch) -> npt.NDArray[np.float64]:
        return self._network.shares(boards, self._threads)


def to_shipped_onnx(weights: ValueWeights) -> onnx.ModelProto:
    """The network as an ONNX model from ``seen`` (n, 7, 176) to the logits ``shares`` (n, 7)."""
    graph = Graph()
    seen = graph.input("seen", ["n", len(POWERS), SEEN], TensorProto.INT32)
    constants = {name: graph.constant(name, array) for name, array in weights.arrays.items()}
    rows = graph.add("Gather", [constants["rows.weight"], seen], "each", axis=0)
    x = graph.add("ReduceSum", [rows, graph.constant("axis", np.array([2]))], "sum", keepdims=0)
    x = graph.add("Relu", [graph.add("Add", [x, constants["rows.bias"]], "biased")], "positive")
    for name in ("layer", "out"):
        turned = graph.add("Transpose", [constants[f"{name}.weight"]], f"{name}.turned")
        x = graph.add("MatMul", [x, turned], f"{name}.product")
        if name == "layer":
            x = graph.add("Add", [x, constants["layer.bias"]], "layer.sum")
            x = graph.add("Relu", [x], "layer.positive")
    graph.add("Squeeze", [x, graph.constant("last", np.array([2]))], "shares")
    graph.output("shares", ["n", len(POWERS)])
    return in_bytes(graph.made("diplomacy-value", {"game": "diplomacy", "network": weights.kind}))


def parse_values(file: OnnxFile) -> ValueWeights:
    """Read a model from `to_shipped_onnx`; `KeyError` or `ValueError` if parts are missing."""
    weights = ValueWeights(file.weights(), file.sha256)
    width, hidden = weights.width, weights.hidden
    shapes = {
        "rows.weight": (SEEN_ROWS, width),
        "rows.bias": (width,),
        "layer.weight": (hidden, width),
        "layer.bias": (hidden,),
        "out.weight": (1, hidden),
    }
    if any(weights.arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("not the shapes of a value network")
    return weights


def alive(seen: npt.NDArray[np.uint16]) -> npt.NDArray[np.bool_]:
    """(n, 7): powers with a unit or a centre; the others' share is 0."""
    # Rows of units, dislodged units and centres encode their owner.
    unit, centre = 1, 1 + 8 * 81
    own_unit = (seen >= unit) & (seen < centre) & ((seen - unit) % 2 == 1)
    own_centre = (seen >= centre) & (seen < centre + 3 * 81) & ((seen - centre) % 3 == 1)
    anything: npt.NDArray[np.bool_] = (own_unit | own_centre).any(-1)
    return anything

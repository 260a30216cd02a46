"""A reader of weights in ONNX files.

It does without the package onnx, whose import takes longer than loading a network.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.models.wire import Message

_MAX_PARTS = 1 << 20  # nodes and constants of a graph
# Field numbers of the messages in onnx.proto.
_GRAPH, _METADATA = 7, 14
_CONSTANT, _INPUT = 5, 11
_SIZES, _TYPE, _NAME, _RAW = 1, 2, 8, 9
# Types of numbers in onnx.proto.
_DTYPES = {1: "<f4", 3: "<i1", 7: "<i8", 10: "<f2"}


@dataclass(frozen=True)
class OnnxFile:
    """The parts of a file that describe a network's weights."""

    sha256: str
    metadata: dict[str, str]
    inputs: dict[str, tuple[int, ...]]
    """Shapes by name, with 0 for sizes that vary."""
    tensors: dict[str, Message]
    """Constants by name."""

    def weights(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """Weights and biases by name, packed or not; errors as for `constants`."""
        constants, arrays = self.constants(), {}
        for key, array in constants.items():
            # Weights are packed in bytes, in half precision, or not at all.
            whole, _, packing = key.rpartition(".")
            plain = whole if packing in ("bytes", "half") else key
            if plain.endswith((".weight", ".bias")):  # other constants belong to the graph
                scale = constants.get(f"{plain}.scale", np.float32(1.0))
                arrays[plain] = array.astype(np.float32) * scale
        return arrays

    def constants(self) -> dict[str, np.ndarray[Any, Any]]:
        """Constants by name; `KeyError` or `ValueError` if kedge writes no such constants."""
        return {name: _array(tensor) for name, tensor in self.tensors.items()}


def read_onnx(content: bytes, name: str) -> OnnxFile:
    """Read an ONNX file's bytes; `name` is used in errors."""
    try:
        model = Message(name, memoryview(content))
        pairs = model.messages(_METADATA, "metadata")
        graph = model.message(_GRAPH, "graph", limit=_MAX_PARTS)
        tensors = graph.messages(_CONSTANT, "constant")
        return OnnxFile(
            hashlib.sha256(content).hexdigest(),
            {pair.text(1): pair.text(2) for pair in pairs},
            {each.text(1): _shape(each) for each in graph.messages(_INPUT, "input")},
            {tensor.text(_NAME): tensor for tensor in tensors},
        )
    except (InputError, ValueError):
        raise InputError(
            f"{name}: not an ONNX model; give weights of kedge train, or of lc0"
        ) from None


def _shape(value: Message) -> tuple[int, ...]:
    shape = value.message(2, "type").message(1, "tensor").message(2, "shape")
    return tuple(size.number(1) for size in shape.messages(1, "size"))


def _array(tensor: Message) -> np.ndarray[Any, Any]:
    dtype = np.dtype(_DTYPES[tensor.number(_TYPE)])
    return np.frombuffer(tensor.bytes(_RAW), dtype).reshape(tensor.numbers(_SIZES))

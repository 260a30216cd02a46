"""A reader of weights in ONNX files.

It does without the package onnx, whose import takes longer than loading a network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.models.wire import Message

Arrays = Mapping[str, np.ndarray[Any, Any]]
_MAX_PARTS = 1 << 20  # nodes and constants of a graph
# Field numbers of the messages in onnx.proto.
_GRAPH, _METADATA = 7, 14
_CONSTANT, _INPUT = 5, 11
_SIZES, _TYPE, _NAME, _RAW = 1, 2, 8, 9
# Types of numbers in onnx.proto.
_DTYPES = {1: "<f4", 3: "<i1", 7: "<i8", 10: "<f2"}


@dataclass(frozen=True)
class OnnxGraph:
    """The parts of a graph that describe a network's weights."""

    inputs: dict[str, tuple[int, ...]]
    """Shapes by name, with 0 for sizes that vary."""
    tensors: dict[str, Message]
    """Constants by name."""

    def constants(self) -> dict[str, np.ndarray[Any, Any]]:
        """Constants by name; `KeyError` or `ValueError` if kedge writes no such constants."""
        return {name: _array(tensor) for name, tensor in self.tensors.items()}


def read_metadata(content: bytes, name: str) -> dict[str, str]:
    """Return the metadata in a file's bytes; `name` is used in errors."""
    pairs = Message(name, memoryview(content)).messages(_METADATA, "metadata")
    return {pair.text(1): pair.text(2) for pair in pairs}


def read_graph(content: bytes, name: str) -> OnnxGraph:
    """Return the graph in a file's bytes; `name` is used in errors."""
    graph = Message(name, memoryview(content)).message(_GRAPH, "graph", limit=_MAX_PARTS)
    inputs = {each.text(1): _shape(each) for each in graph.messages(_INPUT, "input")}
    tensors = graph.messages(_CONSTANT, "constant")
    return OnnxGraph(inputs, {tensor.text(_NAME): tensor for tensor in tensors})


def unpacked(constants: Arrays) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """Return the weights and biases among a graph's constants, by name, packed or not."""
    arrays = {}
    for key, array in constants.items():
        # Weights are packed in bytes, in half precision, or not at all.
        whole, _, packing = key.rpartition(".")
        plain = whole if packing in ("bytes", "half") else key
        if plain.endswith((".weight", ".bias")):  # other constants belong to the graph
            scale = constants.get(f"{plain}.scale", np.float32(1.0))
            arrays[plain] = array.astype(np.float32) * scale
    return arrays


def _shape(value: Message) -> tuple[int, ...]:
    shape = value.message(2, "type").message(1, "tensor").message(2, "shape")
    return tuple(size.number(1) for size in shape.messages(1, "size"))


def _array(tensor: Message) -> np.ndarray[Any, Any]:
    dtype = np.dtype(_DTYPES[tensor.number(_TYPE)])
    return np.frombuffer(tensor.bytes(_RAW), dtype).reshape(tensor.numbers(_SIZES))

"""Files of weights: lc0's, and the ONNX files that `kedge train` makes."""

import hashlib
from pathlib import Path
from typing import Literal

import onnx

from kedge.errors import InputError
from kedge.models.encoding import ENCODINGS
from kedge.models.lc0 import parse_lc0, read_file
from kedge.models.onnx_graph import weight_arrays
from kedge.models.weights import Weights, weights_of

Format = Literal["lc0", "onnx"]
_ONNX_BEGINS = b"\x08"  # the field of the file's version, which every writer puts first


def read_weights(path: str | Path) -> Weights:
    """The network in a file of either kind; `InputError` where there is none that is read here."""
    return parse_weights(read_file(path), str(path))


def parse_weights(content: bytes, name: str) -> Weights:
    """The same of a file's bytes; `name` is for errors."""
    return (parse_onnx if format_of(content) == "onnx" else parse_lc0)(content, name)


def format_of(content: bytes) -> Format:
    return "onnx" if content.startswith(_ONNX_BEGINS) else "lc0"


def parse_onnx(content: bytes, name: str) -> Weights:
    """Back from what `network.to_onnx` or `network.to_shipped_onnx` made."""
    try:
        graph = onnx.load_from_string(content).graph
    except Exception:  # protobuf's kinds are not ours
        raise InputError(f"{name}: not an ONNX model") from None
    shapes = [
        tuple(size.dim_value for size in entry.type.tensor_type.shape.dim)[1:]
        for entry in graph.input
        if entry.name == "planes"
    ]
    encoding = next((known for known in ENCODINGS if [known.shape] == shapes), None)
    arrays = weight_arrays(graph)
    try:
        if encoding is not None:
            return weights_of(arrays, hashlib.sha256(content).hexdigest(), encoding)
    except (KeyError, ValueError, IndexError):
        pass
    raise InputError(f"{name}: not a network that kedge trained")

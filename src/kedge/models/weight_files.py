"""Weight files: lc0's, and the ONNX files that `kedge train` writes."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import onnx

from kedge.errors import InputError
from kedge.models.board.encoding import ENCODINGS
from kedge.models.board.weights import Weights, weights_of
from kedge.models.chess.lc0 import parse_lc0, read_file
from kedge.models.diplomacy.network import DiplomacyWeights, parse_diplomacy
from kedge.models.diplomacy.values import ValueWeights, parse_values
from kedge.models.hanabi.network import BeliefWeights, PolicyWeights, parse_belief, parse_policy
from kedge.models.onnx_graph import told_by, weight_arrays

Format = Literal["lc0", "onnx"]
_ONNX_BEGINS = b"\x08"  # the version field, which every writer puts first
_XZ_BEGINS = b"\xfd7zXZ\x00"


AnyWeights = Weights | DiplomacyWeights | ValueWeights | PolicyWeights | BeliefWeights


def read_model(path: str | Path) -> AnyWeights:
    """Read the network in a weight file; `InputError` if the file is of no known kind."""
    return parse_model(read_file(path), str(path))


def parse_model(content: bytes, name: str) -> AnyWeights:
    """Read the network in a file's bytes; `name` is used in errors."""
    if content.startswith(_XZ_BEGINS):
        raise InputError(f"{name}: compressed; decompress it first: xz -d {name}")
    if format_of(content) == "lc0":
        return parse_lc0(content, name)
    try:
        model = onnx.load_from_string(content)
    except Exception:  # protobuf raises its own kinds
        raise InputError(f"{name}: not an ONNX model") from None
    digest = hashlib.sha256(content).hexdigest()
    parsers: dict[str, Callable[[onnx.ModelProto, str], AnyWeights]] = {
        "orders": parse_diplomacy,
        "value": parse_values,
        "hanabi-policy": parse_policy,
        "hanabi-belief": parse_belief,
    }
    try:
        return parsers.get(told_by(model).get("network", ""), _parse_tower)(model, digest)
    except (KeyError, ValueError, IndexError, StopIteration, onnx.checker.ValidationError):
        raise InputError(f"{name}: not a network trained by kedge") from None


def read_weights(path: str | Path) -> Weights:
    """Read the network of a board game."""
    weights = read_model(path)
    if not isinstance(weights, Weights):
        raise InputError(f"{path}: not a network for chess or Go")
    return weights


def format_of(content: bytes) -> Format:
    return "onnx" if content.startswith(_ONNX_BEGINS) else "lc0"


def _parse_tower(model: onnx.ModelProto, digest: str) -> Weights:
    """Read a model from `network.to_onnx` or `network.to_shipped_onnx`."""
    shapes = [
        tuple(size.dim_value for size in entry.type.tensor_type.shape.dim)[1:]
        for entry in model.graph.input
        if entry.name == "planes"
    ]
    encoding = next(known for known in ENCODINGS if [known.shape] == shapes)
    return weights_of(weight_arrays(model.graph), digest, encoding)

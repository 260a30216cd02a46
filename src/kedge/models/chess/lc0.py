"""lc0's weight files (``.pb.gz``, ``.pb``): convolutional networks for chess, such as Maia.

Supported: the classical 112 input planes; a residual tower, with or without squeeze-and-excitation;
classical or convolutional policy; classical or win-draw-loss value. Batch normalisation of older
files is folded into the convolutions. A moves-left head is ignored; attention is an error.
"""

import gzip
import hashlib
import io
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.files import MAX_BYTES, read_file
from kedge.models.board.weights import Array, PolicyKind, ValueKind, Weights
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import MOVES
from kedge.models.chess.lc0_moves import PLANES as POLICY_PLANES
from kedge.models.wire import Message

_MAX_BLOCKS = 256
_MAGIC = 0x1C0
_NOT_LC0 = "not an lc0 weight file; kedge reads lc0's .pb.gz and .pb, and the .onnx of kedge train"
_EPSILON = 1e-5  # of lc0's batch normalisation

_INPUTS = {
    0: "INPUT_UNKNOWN",
    1: "INPUT_CLASSICAL_112_PLANE",
    2: "INPUT_112_WITH_CASTLING_PLANE",
    3: "INPUT_112_WITH_CANONICALIZATION",
    4: "INPUT_112_WITH_CANONICALIZATION_HECTOPLIES",
    5: "INPUT_112_WITH_CANONICALIZATION_V2",
    132: "INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON",
    133: "INPUT_112_WITH_CANONICALIZATION_V2_ARMAGEDDON",
}
_STRUCTURES = {
    0: "NETWORK_UNKNOWN",
    1: "NETWORK_CLASSICAL",
    2: "NETWORK_SE",
    3: "NETWORK_CLASSICAL_WITH_HEADFORMAT",
    4: "NETWORK_SE_WITH_HEADFORMAT",
    5: "NETWORK_ONNX",
    6: "NETWORK_ATTENTIONBODY_WITH_HEADFORMAT",
    7: "NETWORK_ATTENTIONBODY_WITH_MULTIHEADFORMAT",
    134: "NETWORK_AB_LEGACY_WITH_MULTIHEADFORMAT",
}
_POLICIES = {
    0: "POLICY_UNKNOWN",
    1: "POLICY_CLASSICAL",
    2: "POLICY_CONVOLUTION",
    3: "POLICY_ATTENTION",
}
_VALUES = {0: "VALUE_UNKNOWN", 1: "VALUE_CLASSICAL", 2: "VALUE_WDL", 3: "VALUE_PARAM"}
_ACTIVATIONS = {0: "DEFAULT_ACTIVATION_RELU", 1: "DEFAULT_ACTIVATION_MISH"}
# Fields of the message Weights: encoders, their embedding, attention policy, several heads.
_ATTENTION_FIELDS = (17, 19, 21, 22, 25, 27, 29, 35, 37, 44, 45)
_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32 = 1, 2, 3, 4


def read_lc0(path: str | Path, *, limit: int = MAX_BYTES) -> Weights:
    """Read a weight file; `InputError` if it is not one or not supported."""
    return parse_lc0(read_file(path, limit), str(path), limit=limit)


def parse_lc0(content: bytes, name: str, *, limit: int = MAX_BYTES) -> Weights:
    """Read the network in a file's bytes, compressed or not; ``name`` is used in errors."""
    data = _unzip(content, name, limit) if content[:2] == b"\x1f\x8b" else content
    if not data:
        raise InputError(f"{name}: empty")
    # Every writer puts the magic first, so other files are recognised at once.
    if data[0] != 0x0D:
        raise InputError(f"{name}: {_NOT_LC0}")
    net = Message(name, memoryview(data))
    if net.number(1) != _MAGIC:
        raise InputError(f"{name}: {_NOT_LC0}")
    policy, value = _formats(net, name)
    layers = _Layers(net.message(10, "weights"))
    arrays, shape = layers.network(policy, value)
    return Weights(
        arrays=arrays,
        policy=policy,
        value=value,
        sha256=hashlib.sha256(content).hexdigest(),
        training=_training(net.message(5, "training parameters")),
        encoding=CHESS,
        **shape,
    )


def _unzip(content: bytes, name: str, limit: int) -> bytes:
    """Decompress in steps, so that a small file cannot fill the memory."""
    data = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while step := file.read(1 << 20):
                data += step
                if len(data) > limit:
                    raise InputError(f"{name}: expands to more than {limit:,} bytes")
                if data[0] != 0x0D:
                    raise InputError(f"{name}: {_NOT_LC0}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: damaged gzip file ({error})") from None
    return bytes(data)


def _formats(net: Message, name: str) -> tuple[PolicyKind, ValueKind]:
    """Check the format and return the kinds of the heads."""

    def refuse(names: Mapping[int, str], number: int) -> InputError:
        what = names.get(number, f"format {number}")
        return InputError(f"{name}: {what} is not supported")

    if net.has(11):
        raise refuse(_STRUCTURES, 5)
    if not net.has(10):
        raise InputError(f"{name}: has no weights")
    format_ = net.message(4, "format")
    encoding = format_.number(1)
    if encoding not in (0, _LINEAR16):
        raise InputError(f"{name}: weights encoding {encoding} is not supported")
    if not format_.has(2):  # the oldest files
        return "classical", "classical"
    network = format_.message(2, "network format")
    if network.number(1) != 1:
        raise refuse(_INPUTS, network.number(1))
    structure = network.number(3)
    if structure not in (1, 2, 3, 4):
        raise refuse(_STRUCTURES, structure)
    if network.number(7) != 0:
        raise refuse(_ACTIVATIONS, network.number(7))
    if structure in (1, 2):  # before the heads had formats
        return "classical", "classical"
    policy, value = network.number(4), network.number(5)
    if policy not in (1, 2):
        raise refuse(_POLICIES, policy)
    if value not in (1, 2):
        raise refuse(_VALUES, value)
    return ("classical" if policy == 1 else "convolution"), ("classical" if value == 1 else "wdl")


def _training(params: Message) -> dict[str, Any]:
    training: dict[str, Any] = {}
    if params.has(1):
        training["training_steps"] = params.number(1)
    for number, name in enumerate(("learning_rate", "mse_loss", "policy_loss", "accuracy"), 2):
        if params.has(number) and math.isfinite(params.real(number)):
            training[name] = params.real(number)
    if params.has(6):
        training["lc0_params"] = params.text(6)
    return training


class _Layers:
    """Reads the layers of the message Weights and checks their shapes."""

    def __init__(self, weights: Message) -> None:
        self._weights = weights
        self._arrays: dict[str, Array] = {}

    def network(
        self, policy: PolicyKind, value: ValueKind
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        weights = self._weights
        for number in _ATTENTION_FIELDS:
            if weights.has(number):
                raise InputError(f"{weights.where}: attention layers are not supported")
        filters = self._conv(weights.message(1, "input"), "input", None, CHESS.planes, 3)
        blocks = weights.messages(2, "residual block")
        if len(blocks) > _MAX_BLOCKS:
            raise InputError(f"{weights.where}: more than {_MAX_BLOCKS} residual blocks")
        se_channels = {self._block(block, i, filters) for i, block in enumerate(blocks)}
        if len(se_channels) > 1:
            raise InputError(f"{weights.where}: residual blocks differ in squeeze-and-excitation")
        self._policy(policy, filters)
        self._value(value, filters)
        return self._arrays, {
            "filters": filters,
            "blocks": len(blocks),
            "se_channels": se_channels.pop() if se_channels else 0,
        }

    def _block(self, block: Message, index: int, filters: int) -> int:
        name = f"blocks.{index}"
        self._conv(block.message(1, "conv1"), f"{name}.conv1", filters, filters, 3)
        self._conv(block.message(2, "conv2"), f"{name}.conv2", filters, filters, 3)
        if not block.has(3):
            return 0
        unit = block.message(3, "squeeze-and-excitation")
        channels = self._dense(unit, (1, 2), f"{name}.se.fc1", None, filters)
        # The second layer gives a scale and a bias for each filter.
        self._dense(unit, (3, 4), f"{name}.se.fc2", 2 * filters, channels)
        return channels

    def _policy(self, kind: PolicyKind, filters: int) -> None:
        head = self._weights.message(3, "policy")
        if kind == "convolution":
            first = self._weights.message(11, "policy1")
            self._conv(first, "policy.conv1", filters, filters, 3)
            planes = self._conv(head, "policy.conv2", None, filters, 3)
            if planes < POLICY_PLANES:
                raise InputError(f"{head.where}: {planes} planes, fewer than {POLICY_PLANES}")
        else:
            planes = self._conv(head, "policy.conv", None, filters, 1)
            self._dense(self._weights, (4, 5), "policy.fc", len(MOVES), 64 * planes)

    def _value(self, kind: ValueKind, filters: int) -> None:
        planes = self._conv(self._weights.message(6, "value"), "value.conv", None, filters, 1)
        hidden = self._dense(self._weights, (7, 8), "value.fc1", None, 64 * planes)
        self._dense(self._weights, (9, 10), "value.fc2", 3 if kind == "wdl" else 1, hidden)

    def _conv(self, block: Message, name: str, outputs: int | None, inputs: int, size: int) -> int:
        """Store a convolution, with batch normalisation folded in; return its output count."""
        weight = _decode(block.message(1, "weights"))
        outputs = _outputs(block.where, weight, outputs, inputs * size * size)
        weight = weight.reshape(outputs, inputs, size, size)

        def vector(number: int, what: str, default: float) -> Array:
            if not block.has(number):
                return np.full(outputs, default, np.float32)
            array = _decode(block.message(number, what))
            if array.size == 0:
                return np.full(outputs, default, np.float32)
            return _sized(f"{block.where}: {what}", array, outputs)

        bias = vector(2, "biases", 0.0)
        if block.message(3, "means").has(3):
            means, variances = vector(3, "means", 0.0), vector(4, "variances", 1.0)
            gammas, betas = vector(5, "gammas", 1.0), vector(6, "betas", 0.0)
            # lc0 calls them stddivs, but they are variances.
            with np.errstate(all="ignore"):
                scale = gammas / np.sqrt(variances + np.float32(_EPSILON))
                weight = weight * scale[:, None, None, None]
                bias = (bias - means) * scale + betas
        self._keep(block.where, f"{name}.weight", weight)
        self._keep(block.where, f"{name}.bias", bias)
        return outputs

    def _dense(
        self,
        message: Message,
        numbers: tuple[int, int],
        name: str,
        outputs: int | None,
        inputs: int,
    ) -> int:
        """Store a fully connected layer; return its output count."""
        where = f"{message.where}: {name}"
        weight = _decode(message.message(numbers[0], f"{name}.weight"))
        outputs = _outputs(where, weight, outputs, inputs)
        bias = _sized(where, _decode(message.message(numbers[1], f"{name}.bias")), outputs)
        self._keep(where, f"{name}.weight", weight.reshape(outputs, inputs))
        self._keep(where, f"{name}.bias", bias)
        return outputs

    def _keep(self, where: str, name: str, array: Array) -> None:
        if not np.isfinite(array).all():
            raise InputError(f"{where}: a weight is not finite")
        self._arrays[name] = np.ascontiguousarray(array, np.float32)


def _outputs(where: str, weight: Array, outputs: int | None, inputs: int) -> int:
    """The output count of a weight with this many inputs; checked against `outputs` if given."""
    count, rest = divmod(weight.size, inputs)
    if rest or not count or (outputs is not None and count != outputs):
        expected = f"a multiple of {inputs}" if outputs is None else f"{outputs * inputs}"
        raise InputError(f"{where}: {weight.size} weights, expected {expected}")
    return count


def _sized(where: str, array: Array, size: int) -> Array:
    if array.size != size:
        raise InputError(f"{where}: {array.size} numbers, expected {size}")
    return array


def _decode(layer: Message) -> Array:
    """Decode a layer's weights. LINEAR16 has 65536 even steps from the least to the greatest."""
    encoding = layer.number(4, _LINEAR16)
    params = layer.bytes(3)
    size = 4 if encoding == _FLOAT32 else 2
    if encoding not in (_LINEAR16, _FLOAT16, _BFLOAT16, _FLOAT32):
        raise InputError(f"{layer.where}: encoding {encoding} is not supported")
    if len(params) % size:
        raise InputError(f"{layer.where}: {len(params)} bytes, not a multiple of {size}")
    if encoding == _FLOAT32:
        return np.frombuffer(params, "<f4").astype(np.float32)
    if encoding == _FLOAT16:
        return np.frombuffer(params, "<f2").astype(np.float32)
    steps = np.frombuffer(params, "<u2")
    if encoding == _BFLOAT16:
        return (steps.astype(np.uint32) << 16).view(np.float32)
    least, greatest = np.float32(layer.real(1)), np.float32(layer.real(2))
    with np.errstate(all="ignore"):
        theta = steps / np.float32(0xFFFF)
        return np.asarray(least * (1 - theta) + greatest * theta, np.float32)

"""The network in plain numpy: the specification of the backends. Slow."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kedge.models.board.weights import Weights

_Array = npt.NDArray[np.float64]


class PlainOutputs(NamedTuple):
    policy: _Array  # (n, moves) logits
    value: _Array  # (n) W − L
    draw: _Array | None  # (n)


def forward(weights: Weights, planes: npt.ArrayLike) -> PlainOutputs:
    """Evaluate a batch of planes (n, planes, side, side) in float64."""
    a = {name: array.astype(np.float64) for name, array in weights.arrays.items()}

    def conv(name: str, x: _Array) -> _Array:
        return _conv(x, a[f"{name}.weight"]) + a[f"{name}.bias"][:, None, None]

    def dense(name: str, x: _Array) -> _Array:
        return np.asarray(x @ a[f"{name}.weight"].T + a[f"{name}.bias"])

    x = _relu(conv("input", np.asarray(planes, np.float64)))
    for i in range(weights.blocks):
        y = conv(f"blocks.{i}.conv2", _relu(conv(f"blocks.{i}.conv1", x)))
        if weights.se_channels:
            pooled = y.mean(axis=(2, 3))
            both = dense(f"blocks.{i}.se.fc2", _relu(dense(f"blocks.{i}.se.fc1", pooled)))
            scale, bias = np.split(both, 2, axis=1)
            y = y / (1.0 + np.exp(-scale))[:, :, None, None] + bias[:, :, None, None]
        x = _relu(x + y)
    if weights.policy == "classical":
        policy = dense("policy.fc", _relu(conv("policy.conv", x)).reshape(len(x), -1))
    else:
        planes = conv("policy.conv2", _relu(conv("policy.conv1", x))).reshape(len(x), -1)
        if weights.policy == "convolution":
            policy = planes[:, weights.gather]
        else:
            to_play, passing = np.split(planes, 2, axis=1)
            policy = np.concatenate([to_play, passing.mean(axis=1, keepdims=True)], axis=1)
    points = _relu(conv("value.conv", x)).reshape(len(x), -1, weights.area)
    seen = points.mean(axis=2) if weights.pools_value else points.reshape(len(x), -1)
    value = dense("value.fc2", _relu(dense("value.fc1", seen)))
    if weights.value == "classical":
        return PlainOutputs(policy, np.tanh(value[:, 0]), None)
    wdl = np.exp(value - value.max(axis=1, keepdims=True))
    wdl /= wdl.sum(axis=1, keepdims=True)
    return PlainOutputs(policy, wdl[:, 0] - wdl[:, 2], wdl[:, 1])


def _relu(x: _Array) -> _Array:
    return np.maximum(x, 0.0)


def _conv(x: _Array, weight: _Array) -> _Array:
    """Convolve and keep the board's size: the sum over the kernel's shifts."""
    size, rows = weight.shape[-1], x.shape[-1]
    edge = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    return np.asarray(
        sum(
            np.einsum("nchw,oc->nohw", padded[:, :, r : r + rows, f : f + rows], weight[:, :, r, f])
            for r in range(size)
            for f in range(size)
        )
    )

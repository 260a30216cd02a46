"""The models that ship with kedge: ONNX files that the project trained itself, each with a card."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from kedge.errors import InputError
from kedge.models.conditioning import TOLD, who
from kedge.models.encoding import CHESS
from kedge.models.store import ModelInfo
from kedge.models.weights import Weights, weights_of
from kedge.specs import suggest

_ONES = 111  # lc0's plane that is 1 all over the board
_FOLDER = files("kedge.models") / "shipped"


def names() -> list[str]:
    return sorted(
        path.name.removesuffix(".onnx") for path in _FOLDER.iterdir() if path.name.endswith(".onnx")
    )


def card(name: str) -> dict[str, Any]:
    """What the model was trained on and how, what it reaches, how to make it again."""
    _check(name)
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class ShippedInfo(ModelInfo):
    """What is known of a shipped model; its card stands for what a trainer wrote down."""

    @property
    def path(self) -> Path:
        return Path(str(_FOLDER / f"{self.name}.onnx"))


def info(name: str) -> ShippedInfo:
    """What is known of the shipped model `name`."""
    told = card(name)
    return ShippedInfo(
        name=name,
        format="onnx",
        sha256=sha256(name),
        size=len((_FOLDER / f"{name}.onnx").read_bytes()),
        source="ships with kedge",
        added=told["date"],
        architecture=_conditioned(name).architecture(),
        training={key: value for key, value in told.items() if key != "name"},
    )


def sha256(name: str) -> str:
    """Of the model's file."""
    _check(name)
    return hashlib.sha256((_FOLDER / f"{name}.onnx").read_bytes()).hexdigest()


def load_embedded(
    name: str, *, elo: float = 1500.0, opponent: float | None = None, bullet: bool = False
) -> Weights:
    """The model for a player of rating `elo` against `opponent` (alike, if not given)."""
    return specialise(_conditioned(name), elo, elo if opponent is None else opponent, bullet)


def specialise(weights: Weights, elo: float, opponent: float, bullet: bool = False) -> Weights:
    """A network that is told who plays, as one for these players alone.

    A told number is a plane of that number all over the board, and lc0 has a plane of ones: what
    the input convolution makes of the one is, scaled, what it makes of the other. So the planes of
    who plays fold into it exactly, and what is left is a network of lc0's 112 planes.
    """
    arrays = dict(weights.arrays)
    full = arrays["input.weight"].astype(np.float64)
    kernel = full[:, : CHESS.planes].copy()
    told = full[:, CHESS.planes :]
    if told.shape[1] != TOLD:
        raise InputError(f"a network that is told {told.shape[1]} numbers, not {TOLD}")
    kernel[:, _ONES] += np.tensordot(who(elo, opponent, bullet), told, axes=(0, 1))
    kernel[:, CHESS.number_plane] = told[:, 0] / 100.0
    arrays["input.weight"] = kernel.astype(np.float32)
    return replace(weights, arrays=arrays, sha256=f"{weights.sha256}-{elo:g}-{opponent:g}-{bullet}")


@cache
def _conditioned(name: str) -> Weights:
    _check(name)
    model = onnx.load_from_string((_FOLDER / f"{name}.onnx").read_bytes())
    arrays: dict[str, Any] = {}
    for constant in model.graph.initializer:
        name_of_array = constant.name.removesuffix(".half")
        if name_of_array.endswith((".weight", ".bias")):  # the others are the graph's own
            arrays[name_of_array] = numpy_helper.to_array(constant).astype(np.float32)
    return weights_of(arrays, name)


def _check(name: str) -> None:
    if name not in names():
        raise InputError(f"no model {name!r} ships with kedge; {suggest(name, names())}")

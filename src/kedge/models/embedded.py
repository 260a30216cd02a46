"""The models that ship with kedge: ONNX files that the project trained itself, each with a card.

Some are compressed, which takes a tenth or two off; it costs tenths of a second at every start.
"""

import json
import lzma
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.models.conditioning import TOLD, who
from kedge.models.encoding import CHESS
from kedge.models.store import ModelInfo
from kedge.models.weight_files import AnyWeights, parse_model
from kedge.models.weights import Weights
from kedge.specs import suggest

_ONES = 111  # lc0's plane that is 1 all over the board
_FOLDER = files("kedge.models") / "shipped"
_SUFFIXES = (".onnx", ".onnx.xz")


@cache
def _files() -> dict[str, Path]:
    """By the names of models."""
    found = sorted(path.name for path in _FOLDER.iterdir() if path.name.endswith(_SUFFIXES))
    return {name.partition(".onnx")[0]: Path(str(_FOLDER / name)) for name in found}


def names() -> list[str]:
    return sorted(_files())


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
        return _path(self.name)


def load_any(name: str) -> AnyWeights:
    """The model, of whatever game."""
    return _shipped(name)


def info(name: str) -> ShippedInfo:
    """What is known of the shipped model `name`."""
    told = card(name)
    return ShippedInfo(
        name=name,
        format="onnx",
        sha256=sha256(name),
        size=_path(name).stat().st_size,
        source="ships with kedge",
        added=told["date"],
        architecture=_shipped(name).architecture(),
        training={key: value for key, value in told.items() if key != "name"},
    )


def sha256(name: str) -> str:
    """Of the model's file, before it was compressed."""
    return _shipped(name).sha256


def load_embedded(
    name: str,
    *,
    elo: float | None = None,
    opponent: float | None = None,
    bullet: bool = False,
) -> Weights:
    """The model; one that knows of ratings, for a player of `elo` against `opponent`.

    Without them players are of 1500, and alike.
    """
    weights = _shipped(name)
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of chess or Go")
    if weights.arrays["input.weight"].shape[1] == weights.encoding.planes:
        if elo is not None or opponent is not None or bullet:
            raise InputError(f"{name} is told nothing of who plays")
        return weights
    elo = 1500.0 if elo is None else elo
    return specialise(weights, elo, elo if opponent is None else opponent, bullet)


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
def _shipped(name: str) -> AnyWeights:
    path = _path(name)
    content = path.read_bytes()
    if path.suffix == ".xz":
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError:
            raise InputError(f"{path}: damaged; install kedge anew") from None
    return parse_model(content, str(path))


def _path(name: str) -> Path:
    _check(name)
    return _files()[name]


def _check(name: str) -> None:
    if name not in names():
        raise InputError(f"no model {name!r} ships with kedge; {suggest(name, names())}")

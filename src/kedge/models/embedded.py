"""The models that ship with kedge: ONNX files that the project trained itself, each with a card.

Some are compressed, which takes a tenth or two off; it costs tenths of a second at every start.
"""

import json
import lzma
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.models.board.weights import Weights
from kedge.models.chess.conditioning import for_players
from kedge.models.store import ModelInfo
from kedge.models.weight_files import AnyWeights, parse_model
from kedge.specs import suggest

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
    """The model; one that is told who plays, for a player of `elo`: see `for_players`."""
    weights = _shipped(name)
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of a board game")
    return for_players(weights, name, elo=elo, opponent=opponent, bullet=bullet)


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

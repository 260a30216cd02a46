"""The models that ship with kedge: ONNX files trained by the project, each with a card.

Some are compressed: 10–20 % smaller, but tenths of a second slower to load.
"""

import json
import lzma
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.models.board.conditioning import for_players
from kedge.models.board.weights import Weights
from kedge.models.store import ModelInfo
from kedge.models.weight_files import AnyWeights, parse_model
from kedge.specs import suggest

_FOLDER = files("kedge.models") / "shipped"
_SUFFIXES = (".onnx", ".onnx.xz")


@cache
def _files() -> dict[str, Path]:
    """The model files by model name."""
    shipped = sorted(path.name for path in _FOLDER.iterdir() if path.name.endswith(_SUFFIXES))
    return {name.partition(".onnx")[0]: Path(str(_FOLDER / name)) for name in shipped}


def names() -> list[str]:
    return sorted(_files())


def card(name: str) -> dict[str, Any]:
    """The model's card: its data, training, results, and the command that rebuilds it."""
    _check(name)
    content: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


@dataclass(frozen=True)
class ShippedInfo(ModelInfo):
    """Facts about a shipped model; `training` is its card."""

    @property
    def path(self) -> Path:
        return _path(self.name)


def load_any(name: str) -> AnyWeights:
    """Load the shipped model `name`, of any game."""
    return _shipped(name)


def info(name: str) -> ShippedInfo:
    """Facts about the shipped model `name`."""
    about = card(name)
    return ShippedInfo(
        name=name,
        format="onnx",
        sha256=sha256(name),
        size=_path(name).stat().st_size,
        source="ships with kedge",
        added=about["date"],
        architecture=_shipped(name).architecture(),
        training={key: value for key, value in about.items() if key != "name"},
    )


def sha256(name: str) -> str:
    """The sha256 of the model's file before compression."""
    return _shipped(name).sha256


def load_embedded(name: str, **players: Any) -> Weights:
    """Load a board game's model for these players, if it takes any: see `for_players`."""
    weights = _shipped(name)
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of a board game")
    return for_players(weights, name, **players)


@cache
def _shipped(name: str) -> AnyWeights:
    path = _path(name)
    content = path.read_bytes()
    if path.suffix == ".xz":
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError:
            raise InputError(f"{path}: damaged; reinstall kedge") from None
    return parse_model(content, str(path))


def _path(name: str) -> Path:
    _check(name)
    return _files()[name]


def _check(name: str) -> None:
    if name not in names():
        raise InputError(f"kedge ships no model {name!r}; {suggest(name, names())}")

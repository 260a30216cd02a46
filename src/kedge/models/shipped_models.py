"""The models that ship in packages, kedge's own and those of games: ONNX files with cards.

Some are compressed: 10–20 % smaller, but tenths of a second slower to load.
"""

import hashlib
import json
import lzma
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kedge import catalogue
from kedge.errors import InputError
from kedge.models.board.conditioning import for_players
from kedge.models.board.weights import Weights
from kedge.models.store import ModelInfo
from kedge.models.weight_files import AnyWeights, of_class, parse_model
from kedge.specs import suggest

_OURS = files("kedge.models") / "shipped"
_SUFFIXES = (".onnx", ".onnx.xz")


@cache
def _files() -> dict[str, Path]:
    """The model files by model name. A package cannot replace a model of kedge."""
    folders = reversed(catalogue.loaded("shipped").values())
    return {
        path.name.partition(".onnx")[0]: Path(str(path))
        for folder in (*folders, _OURS)
        if folder.is_dir()
        for path in folder.iterdir()
        if path.name.endswith(_SUFFIXES)
    }


def names() -> list[str]:
    return sorted(_files())


def card(name: str) -> dict[str, Any]:
    """The model's card: its data, training, results, and the command that rebuilds it."""
    path = _path(name).with_name(f"{name}.json")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def imitates_people(name: str) -> bool:
    """Whether a model imitates people: any model, unless its card says that programs taught it."""
    return name not in _files() or card(name).get("imitates") != "programs"


@dataclass(frozen=True)
class ShippedInfo(ModelInfo):
    """Facts about a shipped model; `training` is its card."""

    @property
    def path(self) -> Path:
        return _path(self.name)


@cache
def load(name: str) -> AnyWeights:
    """Load the shipped model `name`, of any game."""
    path = _path(name)
    return parse_model(_content(path), str(path))


@cache
def sha256(name: str) -> str:
    """Return the sha256 of the file of the shipped model `name`, unpacked."""
    return hashlib.sha256(_content(_path(name))).hexdigest()


def info(name: str) -> ShippedInfo:
    """Facts about the shipped model `name`."""
    about, path, weights = card(name), _path(name), load(name)
    return ShippedInfo(
        name=name,
        format="onnx",
        sha256=weights.sha256,
        size=path.stat().st_size,
        source="ships with kedge" if path.parent == Path(str(_OURS)) else f"ships in {path.parent}",
        added=about["date"],
        architecture=weights.architecture(),
        training={key: value for key, value in about.items() if key != "name"},
    )


def load_for_players(name: str, **players: Any) -> Weights:
    """Load a board game's model for these players, if it takes any: see `for_players`."""
    return for_players(of_class(Weights, load(name), name), name, **players)


def _content(path: Path) -> bytes:
    """Return the bytes of a model file, unpacked."""
    content = path.read_bytes()
    if path.suffix != ".xz":
        return content
    try:
        return lzma.decompress(content)
    except lzma.LZMAError:
        raise InputError(f"{path}: damaged; reinstall its package") from None


def _path(name: str) -> Path:
    try:
        return _files()[name]
    except KeyError:
        raise InputError(f"no shipped model {name!r}; {suggest(name, names())}") from None

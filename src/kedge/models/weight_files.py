"""Weight files: lc0's, and the ONNX files that `kedge train` writes.

The catalogue names the parsers of games' own kinds of networks, so this module knows no game.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from kedge import catalogue
from kedge.errors import InputError
from kedge.files import read_file
from kedge.models.board.weights import Weights, weights_of
from kedge.models.onnx_file import read_onnx

Format = Literal["lc0", "onnx"]
_ONNX_BEGINS = b"\x08"  # the version field, which every writer puts first
_KEPT = 4  # files; the largest take some 100 MB
_XZ_BEGINS = b"\xfd7zXZ\x00"


class AnyWeights(Protocol):
    """The weights of a network, whatever its game."""

    kind: ClassVar[str]
    """Kind of network, by which the catalogue names its parser and the maker of its agents."""
    described: ClassVar[str]
    """A phrase for networks of this kind in errors: ``a model that plays Hanabi``."""

    @property
    def game_name(self) -> str:
        """Name of its game in the catalogue."""
        ...

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        ...

    @property
    def training(self) -> Mapping[str, Any]:
        """Facts that the trainer wrote."""
        ...

    def companions(self, name: str) -> tuple[str, ...]:
        """Names of other models that agents over the model `name` may load."""
        ...

    def architecture(self) -> dict[str, Any]:
        """The shape in JSON."""
        ...


W = TypeVar("W", bound=AnyWeights)


def read_model(path: str | Path) -> AnyWeights:
    """Return the network in a file of any kind; a file that has not changed is parsed once."""
    path = Path(path)
    try:
        stat = path.stat()
    except OSError:
        return _read_model(path, 0, 0)  # which says what is wrong
    return _read_model(path.resolve(), stat.st_mtime_ns, stat.st_size)


@lru_cache(_KEPT)
def _read_model(path: Path, changed: int, size: int) -> AnyWeights:
    """Read the network in a weight file; `InputError` if the file is of no known kind."""
    return parse_model(read_file(path), str(path))


def parse_model(content: bytes, name: str) -> AnyWeights:
    """Read the network in a file's bytes; `name` is used in errors."""
    if content.startswith(_XZ_BEGINS):
        raise InputError(f"{name}: compressed; decompress it first: xz -d {name}")
    if format_of(content) == "lc0" and not name.lower().endswith(".onnx"):
        return _parser("lc0", None, name)(content, name)
    file = read_onnx(content, name)
    kind = file.metadata.get("network", Weights.kind)  # the shipped board models name none
    parse = weights_of if kind == Weights.kind else _parser(kind, file.metadata.get("game"), name)
    try:
        return parse(file)
    except (KeyError, ValueError, IndexError, StopIteration):
        raise InputError(f"{name}: not a network trained by kedge; see kedge train") from None


def _parser(kind: str, game: str | None, name: str) -> Callable[..., AnyWeights]:
    parser: Callable[..., AnyWeights] | None = catalogue.look_up("models", kind, game)
    if parser is None:
        raise InputError(f"{name}: no installed game has networks of the kind {kind!r}")
    return parser


def of_class(kind: type[W], weights: AnyWeights, name: str) -> W:
    """Return `weights`, which must be of the class `kind`; `name` is used in errors."""
    if not isinstance(weights, kind):
        raise InputError(f"{name} is not {kind.described}")
    return weights


def format_of(content: bytes) -> Format:
    return "onnx" if content.startswith(_ONNX_BEGINS) else "lc0"

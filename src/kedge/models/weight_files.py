"""Weight files: lc0's, and the ONNX files that `kedge train` writes."""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from kedge import catalogue
from kedge.errors import InputError
from kedge.files import read_file
from kedge.models.board.encoding import encodings
from kedge.models.board.weights import Weights, make_weights
from kedge.models.onnx_file import OnnxGraph, read_graph, read_metadata, unpacked

Format = Literal["lc0", "onnx"]
_ONNX_BEGINS = b"\x08"  # the version field, which every writer puts first
_KEPT = 4  # files; the largest take some 100 MB
_XZ_BEGINS = b"\xfd7zXZ\x00"


class AnyWeights(Protocol):
    """The weights of a network, whatever its game."""

    @property
    def arrays(self) -> Mapping[str, Any]:
        """Numbers by name."""
        ...

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        ...

    @property
    def training(self) -> Mapping[str, Any]:
        """Facts that the trainer wrote."""
        ...

    @property
    def parameters(self) -> int: ...

    @property
    def agent(self) -> str:
        """Dotted name of the function from (name, weights) to the maker of the model's agent.

        It raises `InputError` where the model plays nothing, such as a belief model.
        """
        ...

    def companions(self, name: str) -> tuple[str, ...]:
        """Names of other models that agents over the model `name` may load."""
        ...

    def architecture(self) -> dict[str, Any]:
        """The shape in JSON."""
        ...


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
    if format_of(content) == "lc0":
        parser = _parser("lc0")
        if parser is None:
            raise InputError(f"{name}: no game has parsers of lc0's networks")
        return parser(content, name)
    kind = _onnx(read_metadata, content, name).get("network")
    parser = None if kind is None else _parser(kind)
    digest = hashlib.sha256(content).hexdigest()
    try:
        if parser is None:
            return _parse_tower(_onnx(read_graph, content, name), digest)
        return _parse_named(parser, _onnx(_load_onnx, content, name), digest)
    except (KeyError, ValueError, IndexError, StopIteration):
        raise InputError(f"{name}: not a network trained by kedge") from None


T = TypeVar("T")


def _onnx(read: Callable[[bytes, str], T], content: bytes, name: str) -> T:
    """Read an ONNX file; an `InputError` if it is none."""
    try:
        return read(content, name)
    except Exception:  # protobuf raises its own kinds
        raise InputError(f"{name}: not an ONNX model") from None


def _load_onnx(content: bytes, name: str) -> Any:
    import onnx  # slow, and networks of board games do without

    return onnx.load_from_string(content)


def _parser(kind: str) -> Callable[[Any, str], AnyWeights] | None:
    """Return the parser of a file format, or of the kind of network that an ONNX file names.

    Board games' networks name no kind.
    """
    for entry in catalogue.entries("models"):
        parsers: Mapping[str, Callable[[Any, str], AnyWeights]] = entry.load("models")
        if kind in parsers:
            return parsers[kind]
    return None


def _parse_named(parser: Callable[[Any, str], AnyWeights], model: Any, digest: str) -> AnyWeights:
    import onnx

    try:
        return parser(model, digest)
    except onnx.checker.ValidationError as error:
        raise ValueError(str(error)) from None


def read_weights(path: str | Path) -> Weights:
    """Read the network of a board game."""
    weights = read_model(path)
    if not isinstance(weights, Weights):
        raise InputError(f"{path}: not a network of a board game")
    return weights


def format_of(content: bytes) -> Format:
    return "onnx" if content.startswith(_ONNX_BEGINS) else "lc0"


def _parse_tower(graph: OnnxGraph, digest: str) -> Weights:
    """Read a model from `network.to_onnx` or `network.to_shipped_onnx`."""
    shape = graph.inputs["planes"][1:]
    encoding = next(known for known in encodings() if known.shape == shape)
    return make_weights(unpacked(graph.constants()), digest, encoding)

"""Networks converted to ONNX, kept on disk by the sha256 of the file they came from.

A file's name ends in the start of its own sha256, so that a damaged one is seen and made anew.
Nothing here is needed: without the folder, or without leave to write to it, all works, slower.
"""

import contextlib
import hashlib
from pathlib import Path

from kedge.errors import InputError
from kedge.files import make_folder, write_atomic
from kedge.home import home
from kedge.models.lc0 import parse_lc0, read_file
from kedge.models.network import GRAPH_VERSION, to_onnx


def cache_folder() -> Path:
    return home() / "cache" / "onnx"


def onnx_of(path: str | Path) -> bytes:
    """The ONNX model of an lc0 weight file."""
    content = read_file(path)
    key = f"{hashlib.sha256(content).hexdigest()}-{GRAPH_VERSION}"
    kept = _find(key)
    if kept is not None:
        return kept
    model: bytes = to_onnx(parse_lc0(content, str(path))).SerializeToString()
    with contextlib.suppress(InputError):
        make_folder(cache_folder())
        write_atomic(cache_folder() / f"{key}-{_digest(model)}.onnx", model)
    return model


def _find(key: str) -> bytes | None:
    for path in cache_folder().glob(f"{key}-*.onnx"):
        with contextlib.suppress(OSError):
            model = path.read_bytes()
            if path.stem == f"{key}-{_digest(model)}":
                return model
            path.unlink()
    return None


def _digest(model: bytes) -> str:
    return hashlib.sha256(model).hexdigest()[:16]

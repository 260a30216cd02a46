"""Write files that are either complete or absent, even if the writer is killed."""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kedge.errors import InputError

#: Largest weight file: far above any network, protects against decompression bombs.
MAX_BYTES = 512 * 2**20
_SUFFIX = ".partial"
# Another process may be writing in the same folder; no write takes this long.
_STALE_SECONDS = 3600.0


def read_file(path: str | Path, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file of at most `limit` bytes."""
    path = Path(path)
    try:
        if not path.is_file():
            raise InputError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror})") from None
    if len(content) > limit:
        raise InputError(f"{path}: larger than {limit:,} bytes")
    return content


def make_folder(folder: Path) -> None:
    """Create ``folder`` and its parents, or raise an `InputError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot create folder ({error.strerror})") from error


def write_atomic(path: Path, content: bytes | str) -> None:
    """Write ``path`` in one step: a reader never sees half a file."""
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    with whole_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears at ``path`` only when complete and on disk."""
    _refuse_others(path)
    partial = _beside(path)
    try:
        try:
            with partial.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot write ({error.strerror})") from error


def check_writable(path: Path) -> None:
    """Raise an `InputError` now if `whole_file` would raise it later."""
    _refuse_others(path)
    partial = _beside(path)
    try:
        partial.open("xb").close()
        partial.unlink()
    except OSError as error:
        raise InputError(f"{path}: cannot write ({error.strerror})") from error


def _refuse_others(path: Path) -> None:
    # Renaming onto a folder raises errors that differ by system, and onto a device replaces it.
    # Path.is_dir raises for names that are too long; os.path.isdir does not.
    if os.path.isdir(path):
        raise InputError(f"{path}: cannot write (it is a folder)")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: cannot write (it is not a file)")


def _beside(path: Path) -> Path:
    return path.parent / f".{path.name[:60]}.{secrets.token_hex(6)}{_SUFFIX}"


def is_partial(path: Path) -> bool:
    """Whether ``path`` is the temporary file of a writer that may have been killed."""
    return path.name.startswith(".") and path.name.endswith(_SUFFIX)


def sweep(folder: Path) -> None:
    """Remove old temporary files of killed writers from ``folder``."""
    oldest = time.time() - _STALE_SECONDS
    for path in folder.glob(f".*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()

"""Files of records, plain or compressed, read and written piece by piece."""

import bz2
import contextlib
import gzip
import importlib
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from kedge.errors import InputError
from kedge.files import whole_file

# What a damaged or cut-off compressed file raises while it is read.
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
_MAX_WINDOW = 1 << 27  # zstd's own limit for files that one may trust to fit in memory


def open_records(path: str | Path) -> tuple[IO[bytes], IO[bytes]]:
    """The file as it is stored (whose ``tell`` shows progress), and its uncompressed content."""
    try:
        stored = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{str(path)!r} is not the name of a file") from None
    try:
        return stored, uncompressed(stored, str(path))
    except BaseException:
        stored.close()
        raise


def uncompressed(stored: IO[bytes], where: str) -> IO[bytes]:
    """The content of a stream that may be compressed, told by its first bytes."""
    try:
        if isinstance(stored, io.BufferedReader):
            magic = stored.peek(6)[:6]
        else:
            magic = stored.read(6)
            stored.seek(-len(magic), io.SEEK_CUR)
    except OSError as error:
        raise InputError(f"{where}: {error.strerror}") from None
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(stored))
    if magic.startswith(b"BZh"):
        return bz2.open(stored)
    if magic.startswith(b"\xfd7zXZ\0"):
        return lzma.open(stored)
    # A frame, or a skippable one as parallel compressors put first.
    if magic[:4] == b"\x28\xb5\x2f\xfd" or (magic[1:4] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):
        return _zstd_reader(stored, where)
    return stored


def _zstd() -> tuple[str, Any] | None:
    for name in ("compression.zstd", "zstandard"):  # the first is Python 3.14's own
        with contextlib.suppress(ImportError):
            return name, importlib.import_module(name)
    return None


def _zstd_reader(stored: IO[bytes], where: str) -> IO[bytes]:
    found = _zstd()
    if found is None:
        raise InputError(f"{where}: to read .zst, pip install 'kedge[records]' (zstandard)")
    name, zstd = found
    if name == "compression.zstd":
        options = {zstd.DecompressionParameter.window_log_max: 27}
        return cast(IO[bytes], zstd.open(stored, options=options))
    return cast(IO[bytes], _ZstdStream(stored, zstd))


class _ZstdStream(io.RawIOBase):
    """Frame after frame; unlike zstandard's own reader, it tells an end from a cut.

    A few bytes may stand for a block of 128 KiB, so little is taken in at a time.
    """

    _TAKEN = 2048

    def __init__(self, stored: IO[bytes], zstd: Any) -> None:
        self._stored, self._error = stored, zstd.ZstdError
        self._new = zstd.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj
        self._frame = self._new()
        self._inside = False  # of a frame
        self._failure: str | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """At least one byte, unless this is the end; not more than a little over `size`."""
        parts: list[bytes] = []
        total, wanted = 0, sys.maxsize if size is None or size < 0 else size
        while total < wanted and self._failure is None:
            raw = self._stored.read(self._TAKEN)
            if not raw:
                if self._inside:
                    self._failure = "ended in the middle of a frame"
                break
            try:
                while raw:
                    parts.append(self._frame.decompress(raw))
                    total += len(parts[-1])
                    self._inside = not self._frame.eof
                    raw = b""
                    if not self._inside:
                        raw = self._frame.unused_data
                        self._frame = self._new()
            except self._error as error:
                self._failure = str(error)
        if total == 0 and self._failure is not None:
            raise EOFError(self._failure)
        return b"".join(parts)


@contextlib.contextmanager
def create(path: str | Path) -> Iterator[IO[bytes]]:
    """A new file, compressed as its name says (.gz, .bz2, .xz, .zst), there only when whole."""
    path = Path(path)
    with whole_file(path) as stored:
        writer = _writer(stored, path)
        yield writer
        if writer is not stored:
            writer.close()


def _writer(stored: IO[bytes], path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        # No name and no time in it: the same games make the same file.
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=stored, mtime=0))
    if suffix == ".bz2":
        return bz2.open(stored, "wb")
    if suffix == ".xz":
        return lzma.open(stored, "wb")
    if suffix == ".zst":
        found = _zstd()
        if found is None:
            raise InputError(f"{path}: to write .zst, pip install 'kedge[records]' (zstandard)")
        name, zstd = found
        if name == "compression.zstd":
            return cast(IO[bytes], zstd.open(stored, "wb"))
        return cast(IO[bytes], zstd.ZstdCompressor().stream_writer(stored, closefd=False))
    return stored


__all__ = ["DAMAGE", "create", "open_records", "uncompressed"]

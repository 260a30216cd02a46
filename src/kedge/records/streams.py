"""Files of records, plain or compressed, read and written piece by piece."""

import bz2
import contextlib
import gzip
import importlib
import io
import json
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from kedge.errors import InputError
from kedge.files import whole_file
from kedge.records.report import ReadReport

PIECE = 1 << 22  # bytes read at a time
LONGEST = 1 << 22  # bytes of one game; what is longer is broken
_NOISE = 1 << 26  # bytes without a game; what has more before its first is no file of games

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


@contextlib.contextmanager
def opened(path: str | Path | IO[bytes]) -> Iterator[tuple[IO[bytes], IO[bytes], str]]:
    """What `open_records` gives, and a name for it. A stream of the caller's own stays open."""
    if not isinstance(path, (str, Path)):
        where = str(getattr(path, "name", "stream"))
        yield path, uncompressed(path, where), where
        return
    stored, content = open_records(path)
    try:
        yield stored, content, str(path)
    finally:
        if content is not stored:
            content.close()
        stored.close()


def first_bytes(stored: IO[bytes], where: str) -> bytes:
    """Six of them, by which formats are told; they stay to be read."""
    try:
        if isinstance(stored, io.BufferedReader):
            return stored.peek(6)[:6]
        found = stored.read(6)
        stored.seek(-len(found), io.SEEK_CUR)
        return found
    except OSError as error:
        raise InputError(f"{where}: {error.strerror}") from None


def uncompressed(stored: IO[bytes], where: str) -> IO[bytes]:
    """The content of a stream that may be compressed, told by its first bytes."""
    magic = first_bytes(stored, where)
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


class Pieces:
    """The content piece by piece, up to where it can be read."""

    def __init__(
        self, stored: IO[bytes], content: IO[bytes], where: str, report: ReadReport
    ) -> None:
        self.stored, self.content, self.where = stored, content, where
        self.report = report
        self.damage: str | None = None
        self._before = report.bytes_read
        self._any = False

    def __iter__(self) -> "Pieces":
        return self

    def __next__(self) -> bytes:
        if self.damage is not None:
            raise StopIteration
        try:
            # Compressed data may end in the middle: what came before is not to be lost.
            size = PIECE if self.content is self.stored else 1 << 16
            parts, total = [], 0
            while total < PIECE:
                part = self.content.read(size)
                if not part:
                    break
                parts.append(part)
                total += len(part)
        except DAMAGE as error:
            if not self._any and not parts:
                reason = getattr(error, "strerror", None) or error
                raise InputError(f"{self.where}: cannot be read: {reason}") from None
            self.damage = str(error).strip() or type(error).__name__
        if self.stored.seekable():
            self.report.bytes_read = self._before + self.stored.tell()
        if not parts:
            raise StopIteration
        self._any = True
        return b"".join(parts)

    def tell_damage(self) -> None:
        """Report where the content ended early, if it did."""
        if self.damage is not None:
            number = self.report.games + self.report.broken_games + 1
            reason = f"the compressed file ends early: {self.damage}"
            self.report.add_broken(number, self.where, reason, noise=True)


def with_games(pieces: Iterator[bytes], where: str, report: ReadReport) -> Iterator[bytes]:
    """`pieces`, unless there is no game in them: a little file may unpack to hours of nothing."""
    known, size = report.games + report.broken_games - report.noise, 0
    for piece in pieces:
        size += len(piece)
        if size > _NOISE and report.games + report.broken_games - report.noise == known:
            raise InputError(f"{where}: holds no game in its first {_NOISE >> 20} MiB")
        yield piece


def lines(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank; of one that is too long, only the front."""
    rest, number = b"", 0
    for piece in pieces:
        *whole, tail = piece.split(b"\n")
        for line in whole:
            number += 1
            if rest:
                line, rest = rest + line, b""
            if line and not line.isspace():
                yield number, line
        if len(rest) <= LONGEST:
            rest += tail
    if rest and not rest.isspace():
        yield number + 1, rest


def json_object(content: bytes) -> dict[str, Any]:
    """The JSON object that a game is kept in; a ValueError with the reason if it is none."""
    if len(content) > LONGEST:
        raise ValueError(f"longer than {LONGEST >> 20} MiB")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("not JSON, or cut short") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


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


__all__ = [
    "DAMAGE",
    "LONGEST",
    "Pieces",
    "create",
    "first_bytes",
    "json_object",
    "lines",
    "open_records",
    "opened",
    "uncompressed",
    "with_games",
]

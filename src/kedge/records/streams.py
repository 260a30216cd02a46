"""Read and write files of records in pieces, plain or compressed."""

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

from kedge.errors import InputError, needs
from kedge.files import whole_file
from kedge.records.report import ReadReport

PIECE = 1 << 22  # bytes read at a time
LONGEST = 1 << 22  # bytes of one game; a longer one is invalid
_NOISE = 1 << 26  # bytes; a file without a game in this many is refused

# Errors raised while reading a damaged or truncated compressed file.
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError)
_MAX_WINDOW = 1 << 27  # bytes; zstd's own default limit for decompression


def open_records(path: str | Path) -> tuple[IO[bytes], IO[bytes]]:
    """Return the stored file (its ``tell`` shows progress) and its uncompressed content."""
    try:
        stored = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{str(path)!r}: not a valid file name") from None
    try:
        return stored, uncompressed(stored, str(path))
    except BaseException:
        stored.close()
        raise


@contextlib.contextmanager
def opened(path: str | Path | IO[bytes]) -> Iterator[tuple[IO[bytes], IO[bytes], str]]:
    """Open like `open_records`, with a name for messages. A stream of the caller stays open."""
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
    """Return the first six bytes, which identify the format, without consuming them."""
    try:
        if isinstance(stored, io.BufferedReader):
            return stored.peek(6)[:6]
        start = stored.read(6)
        stored.seek(-len(start), io.SEEK_CUR)
        return start
    except OSError as error:
        raise InputError(f"{where}: {error.strerror}") from None


def uncompressed(stored: IO[bytes], where: str) -> IO[bytes]:
    """Return the uncompressed content of a stream; its first bytes identify the format."""
    magic = first_bytes(stored, where)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(stored))
    if magic.startswith(b"BZh"):
        return bz2.open(stored)
    if magic.startswith(b"\xfd7zXZ\0"):
        return lzma.open(stored)
    # A frame, or a skippable frame, which parallel compressors write first.
    if magic[:4] == b"\x28\xb5\x2f\xfd" or (magic[1:4] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):
        return _zstd_reader(stored, where)
    return stored


def _zstd() -> tuple[str, Any] | None:
    for name in ("compression.zstd", "zstandard"):  # the first is Python 3.14's own
        with contextlib.suppress(ImportError):
            return name, importlib.import_module(name)
    return None


def _zstd_reader(stored: IO[bytes], where: str) -> IO[bytes]:
    library = _zstd()
    if library is None:
        raise InputError(f"{where}: reading .zst needs zstandard; {needs('records')}")
    name, zstd = library
    if name == "compression.zstd":
        options = {zstd.DecompressionParameter.window_log_max: 27}
        return cast(IO[bytes], zstd.open(stored, options=options))
    return cast(IO[bytes], _ZstdStream(stored, zstd))


class _ZstdStream(io.RawIOBase):
    """Decompress frame after frame; unlike zstandard's own reader, detect a truncated file.

    A few bytes may expand to a block of 128 KiB, so each read takes only a little input.
    """

    _INPUT = 2048  # bytes

    def __init__(self, stored: IO[bytes], zstd: Any) -> None:
        self._stored, self._error = stored, zstd.ZstdError
        self._new = zstd.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj
        self._frame = self._new()
        self._in_frame = False
        self._failure: str | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Return at least one byte unless at the end, and not much more than `size`."""
        parts: list[bytes] = []
        total, wanted = 0, sys.maxsize if size is None or size < 0 else size
        while total < wanted and self._failure is None:
            raw = self._stored.read(self._INPUT)
            if not raw:
                if self._in_frame:
                    self._failure = "ended in the middle of a frame"
                break
            try:
                while raw:
                    parts.append(self._frame.decompress(raw))
                    total += len(parts[-1])
                    self._in_frame = not self._frame.eof
                    raw = b""
                    if not self._in_frame:
                        raw = self._frame.unused_data
                        self._frame = self._new()
            except self._error as error:
                self._failure = str(error)
        if total == 0 and self._failure is not None:
            raise EOFError(self._failure)
        return b"".join(parts)


class Pieces:
    """Iterate over the content in pieces, up to its end or the first damage."""

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
            # Small reads: if compressed data ends early, the part before must not be lost.
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
                raise InputError(f"{self.where}: cannot read ({reason})") from None
            self.damage = str(error).strip() or type(error).__name__
        if self.stored.seekable():
            self.report.bytes_read = self._before + self.stored.tell()
        if not parts:
            raise StopIteration
        self._any = True
        return b"".join(parts)

    def report_damage(self) -> None:
        """Add an entry to the report if the content ended early."""
        if self.damage is not None:
            number = self.report.games + self.report.broken_games + 1
            reason = f"compressed file ends early: {self.damage}"
            self.report.add_broken(number, self.where, reason, noise=True)


def with_games(pieces: Iterator[bytes], where: str, report: ReadReport) -> Iterator[bytes]:
    """Yield `pieces`; refuse a long content without any game, such as a zip bomb."""
    known, size = report.games + report.broken_games - report.noise, 0
    for piece in pieces:
        size += len(piece)
        if size > _NOISE and report.games + report.broken_games - report.noise == known:
            raise InputError(f"{where}: no game in its first {_NOISE >> 20} MiB")
        yield piece


def lines(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines that are not blank; a line that is too long is truncated."""
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
    """Return the JSON object in `content`, or raise a ValueError with the reason."""
    if len(content) > LONGEST:
        raise ValueError(f"longer than {LONGEST >> 20} MiB")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("not JSON, or cut short") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


@contextlib.contextmanager
def create(path: str | Path) -> Iterator[IO[bytes]]:
    """Create a file, compressed by its suffix (.gz, .bz2, .xz, .zst); it appears when complete."""
    path = Path(path)
    with whole_file(path) as stored:
        writer = _writer(stored, path)
        yield writer
        if writer is not stored:
            writer.close()


def _writer(stored: IO[bytes], path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        # Without name and time, the same games give the same file.
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=stored, mtime=0))
    if suffix == ".bz2":
        return bz2.open(stored, "wb")
    if suffix == ".xz":
        return lzma.open(stored, "wb")
    if suffix == ".zst":
        library = _zstd()
        if library is None:
            raise InputError(f"{path}: writing .zst needs zstandard; {needs('records')}")
        name, zstd = library
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

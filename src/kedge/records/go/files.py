"""Files of Go games: SGF, folders and archives of SGF, and tables with one game per line.

Nothing is unpacked to disk. At most `LARGEST_ARCHIVE` bytes of an archive are read; archives inside
archives are skipped.
"""

import contextlib
import io
import itertools
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records import streams
from kedge.records.go.folders import is_record_name, record_files
from kedge.records.go.games import GoGame, date_of, handicap_of, komi_of, points_of, result_of
from kedge.records.go.sgf import read_pieces
from kedge.records.report import ReadReport
from kedge.words import counted

LARGEST_FILE = 1 << 26  #: most bytes of one file in an archive
LARGEST_ARCHIVE = 1 << 33  #: most bytes read from an archive
LONGEST_HEADER = 1 << 20  #: most bytes between two files of a tar
MOST_FILES = 2_000_000  #: most files of an archive

_RECORD = re.compile(r"\.(?:sgf|mgt)\Z", re.IGNORECASE)
_BLOCK = 512  # bytes, of a tar
# The compression methods of zip that unpack no more than the requested bytes.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_COLUMNS = ("moves", "black", "white")  # columns that identify a table


def read_go_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[GoGame]:
    """Yield the games of a file or folder.

    Parameters
    ----------
    path
        SGF, a zip or tar of SGF files, a table of tab-separated columns with a header (``moves`` as
        SGF's two letters each, and other fields of `GoGame`), or a folder of such files. Or a
        binary stream (buffered, or one that can seek). All but zip may be compressed: gzip, bzip2,
        xz, and zstd with the ``records`` extra. The content decides the format.
    report
        Counts what is read, and collects why games and files are left out: invalid games, files of
        an archive that are encrypted or too long.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    for file in record_files(path) if isinstance(path, (str, Path)) else [path]:
        with streams.opened(file) as (stored, content, where):
            yield from _read(stored, content, where, report)


def holds_go(path: str | Path) -> bool:
    """Whether a file has Go games and not chess, by its name or its first bytes."""
    path = Path(path)
    if os.path.isdir(path) or is_record_name(path.name):
        return True
    if not os.path.isfile(path):  # a pipe can be read only once
        return False
    stored, content = streams.open_records(path)
    with stored, contextlib.suppress(*streams.DAMAGE):
        return re.match(rb"(?:\xef\xbb\xbf)?\s*\(\s*;", content.read(_BLOCK)) is not None
    return False


def _read(
    stored: IO[bytes], content: IO[bytes], where: str, report: ReadReport
) -> Iterator[GoGame]:
    if content is stored and streams.first_bytes(stored, where).startswith((b"PK\3\4", b"PK\5\6")):
        if not stored.seekable():
            raise InputError(f"{where}: zip archives are read from files, not from pipes")
        yield from _read_zip(stored, where, report)
        return
    pieces = streams.Pieces(stored, content, where, report)
    first = next(pieces, b"")
    rest = itertools.chain((first,), pieces)
    if first[257:262] == b"ustar" or _is_old_tar(first):
        yield from _read_tar(rest, where, report)
    else:
        read = _read_table if _is_table(first) else read_pieces
        yield from read(streams.with_games(rest, where, report), where, report)
    pieces.report_damage()


# --- Archives -----------------------------------------------------------------------------------


def _read_zip(stored: IO[bytes], where: str, report: ReadReport) -> Iterator[GoGame]:
    before, left = report.bytes_read, LARGEST_ARCHIVE
    try:
        with zipfile.ZipFile(stored) as archive:
            for member in itertools.islice(archive.infolist(), MOST_FILES):
                if member.is_dir() or not _RECORD.search(member.filename):
                    continue
                place = f"{where}: {member.filename}"
                if member.flag_bits & 1 or member.compress_type not in _BOUNDED:
                    encrypted = member.flag_bits & 1
                    reason = "encrypted" if encrypted else "not compressed with deflate"
                    report.add_broken(1, place, reason, noise=True)
                    continue
                try:
                    with archive.open(member) as file:
                        content = file.read(min(LARGEST_FILE, left) + 1)
                except (*streams.DAMAGE, zipfile.BadZipFile, NotImplementedError) as error:
                    report.add_broken(1, place, f"cannot unpack ({error})", noise=True)
                    continue
                left -= len(content)
                yield from _read_member(content, place, report)
                report.bytes_read = before + stored.tell()
                if left < 0:
                    report.add_broken(1, where, _too_long(LARGEST_ARCHIVE), noise=True)
                    return
    except (zipfile.BadZipFile, *streams.DAMAGE) as error:
        raise InputError(f"{where}: cannot read ({error})") from None


def _read_tar(pieces: Iterator[bytes], where: str, report: ReadReport) -> Iterator[GoGame]:
    left = LARGEST_ARCHIVE
    source = _PieceStream(pieces)
    stream = io.BufferedReader(source)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in itertools.islice(archive, MOST_FILES):
                left -= member.size
                # Its content and the next header, whatever length the header claims.
                source.left = member.size + LONGEST_HEADER
                if member.issparse():
                    raise tarfile.ReadError("sparse files are not read")
                if left < 0:
                    report.add_broken(1, where, _too_long(LARGEST_ARCHIVE), noise=True)
                    return
                file = archive.extractfile(member) if member.isfile() else None
                archive.members = []  # type: ignore[attr-defined]  # or it remembers them all
                if file is None or not _RECORD.search(member.name):
                    continue
                content = file.read(min(member.size, LARGEST_FILE) + 1)
                yield from _read_member(content, f"{where}: {member.name}", report)
    except (tarfile.TarError, *streams.DAMAGE) as error:
        report.add_broken(1, where, f"archive ends early: {error}", noise=True)


def _read_member(content: bytes, place: str, report: ReadReport) -> Iterator[GoGame]:
    if len(content) > LARGEST_FILE:
        report.add_broken(1, place, _too_long(LARGEST_FILE), noise=True)
    else:
        yield from read_pieces(iter((content,)), place, report)


def _too_long(bound: int) -> str:
    return f"longer than {bound >> 20} MiB; the rest is not read"


def _is_old_tar(first: bytes) -> bool:
    """Whether this is a tar from before POSIX: no magic, but a correct checksum in its header."""
    with contextlib.suppress(tarfile.TarError):
        tarfile.TarInfo.frombuf(first[:_BLOCK], "utf-8", "surrogateescape")
        return True
    return False


class _PieceStream(io.RawIOBase):
    """Pieces of bytes as a stream, which raises a ValueError after `left` more bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")
        self.left = LONGEST_HEADER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._rest))
        self.left -= count
        if self.left < 0:
            raise ValueError(f"header longer than {LONGEST_HEADER >> 20} MiB")
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


# --- Tables -------------------------------------------------------------------------------------


def _is_table(first: bytes) -> bool:
    header = first[:4096].split(b"\n", 1)[0].rstrip(b"\r").split(b"\t")
    return all(name.encode() in header for name in _COLUMNS)


def _read_table(pieces: Iterator[bytes], where: str, report: ReadReport) -> Iterator[GoGame]:
    rows = streams.lines(pieces)
    _, first = next(rows)
    header = first.decode("utf-8", "replace").rstrip("\r").split("\t")
    for number, line in rows:
        place = f"{where}, line {number}"
        cells = line.decode("utf-8", "replace").rstrip("\r").split("\t")
        try:
            if len(cells) != len(header):
                raise ValueError(f"{len(cells)} columns, expected {len(header)}")
            game = _game_of(dict(zip(header, cells, strict=True)))
        except ValueError as error:
            report.add_broken(number - 1, place, str(error))
            continue
        report.add_game(number - 1, place, len(game))
        yield game


def _game_of(row: dict[str, str]) -> GoGame:
    def known(name: str) -> str | None:
        value = row.get(name, "")
        return None if value in ("", "?") else value

    moves = _points(row["moves"])
    colours = row.get("colors")
    movers: npt.NDArray[np.uint8] | None
    if colours is None:
        movers = None  # they alternate, White first after handicap stones
    elif len(colours) in (0, 1):  # the colour that begins; then they alternate
        movers = ((np.arange(len(moves)) + (colours == "W")) % 2).astype(np.uint8)
    elif len(colours) == len(moves):
        movers = np.array([letter == "W" for letter in colours], np.uint8)
    else:
        raise ValueError(f"{counted(len(colours), 'colour')} for {counted(len(moves), 'move')}")
    server, bots = known("server"), row.get("bot", "")
    if bots not in ("", "B", "W", "BW"):
        raise ValueError(f"bot: B, W or BW, not {bots!r}")
    return GoGame(
        moves=moves,
        colours=movers,
        komi=_komi(row.get("komi", ""), server),
        rules=known("rules"),
        handicap=handicap_of(row.get("handicap", "")),
        black_stones=tuple(sorted(_points(row.get("AB", "")).tolist())),
        white_stones=tuple(sorted(_points(row.get("AW", "")).tolist())),
        result=result_of(row.get("result", "")),
        black=known("black"),
        white=known("white"),
        black_rank=known("black_rank"),
        white_rank=known("white_rank"),
        date=date_of(row.get("date", "")),
        event=known("event"),
        source=known("path") or known("id"),
        server=server,
        time=known("time"),
        ai=row.get("ai") == "1" or bots != "",
        bots=bots,
    )


def _komi(text: str, server: str | None) -> float | None:
    """The komi; Fox writes 0 where it does not export it."""
    is_unknown = text == "0" and (server or "").startswith("Fox")
    return None if is_unknown else komi_of(text)


def _points(letters: str) -> npt.NDArray[np.int16]:
    if len(letters) % 2 or not letters.isascii():
        raise ValueError("moves must have two letters each")
    return points_of(letters.encode(), 19)


__all__ = ["holds_go", "read_go_games"]

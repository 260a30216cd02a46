"""Files of chess games: PGN as Lichess writes it, and JSON lines.

The native parser reads the moves and replays them; this module feeds it pieces of a file. Memory
does not grow with the length of the file.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kedge.records import streams
from kedge.records.chess.games import ChessGame
from kedge.records.chess.json_lines import read_lines
from kedge.records.chess.pgn import date_of, known_tag, rating_of, read_pgn
from kedge.records.chess.pgn_writing import pgn_texts, tag_section, write_pgn
from kedge.records.report import ReadReport


def read_chess_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None, *, threads: int = 0
) -> Iterator[ChessGame]:
    """Yield the games of a PGN or JSON-lines file.

    Parameters
    ----------
    path
        A file, or a binary stream (buffered, or one that can seek). It may be compressed: gzip,
        bzip2, xz, and zstd with the ``records`` extra. The content decides the format.
    report
        Counts what is read, and collects why games are left out: an illegal move, NUL bytes, a text
        cut short, another variant than standard chess. Reading ends where a compressed file is
        damaged, and the report says so.
    threads
        Threads of the native parser; 0 uses all cores.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    with streams.opened(path) as (stored, content, where):
        yield from _read(stored, content, where, report, threads)


def _read(
    stored: IO[bytes], content: IO[bytes], where: str, report: ReadReport, threads: int
) -> Iterator[ChessGame]:
    pieces = streams.Pieces(stored, content, where, report)
    first = next(pieces, b"")
    if first.startswith(b"\xef\xbb\xbf"):
        first = first[3:]
    read = read_lines if re.match(rb'\s*\{\s*"', first) else read_pgn
    whole = streams.with_games(itertools.chain((first,), pieces), where, report)
    for game in read(whole, where, report, threads):
        report.games += 1
        report.positions += len(game)
        yield game
    pieces.report_damage()


__all__ = [
    "date_of",
    "known_tag",
    "pgn_texts",
    "rating_of",
    "read_chess_games",
    "tag_section",
    "write_pgn",
]

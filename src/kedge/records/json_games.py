"""Games stored as JSON objects, one per line or one per file."""

import contextlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import IO, Any, TypeVar

from kedge.errors import InputError
from kedge.records import streams
from kedge.records.report import ReadReport

_T = TypeVar("_T")
_Game = TypeVar("_Game", bound=Sized)
_KINDS: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "a JSON object",
}


def read_json_games(
    path: str | Path | IO[bytes],
    report: ReadReport,
    game_of: Callable[[dict[str, Any]], _Game],
    mark: str,
) -> Iterator[_Game]:
    """Yield the games of a file, which may be compressed; record the invalid ones in `report`.

    `game_of` makes a game from an object, or raises a ValueError with the reason. An object without
    the key `mark` counts as noise.
    """
    with streams.opened(path) as (stored, content, where):
        if content is stored and streams.first_bytes(stored, where).startswith(b"PK\3\4"):
            raise InputError(
                f"{where}: zip archives are not read; unpack it and pass the files in it"
            )
        pieces = streams.Pieces(stored, content, where, report)
        whole = streams.with_games(pieces, where, report)
        for number, (line, text) in enumerate(object_texts(whole), 1):
            place = f"{where}, line {line}"
            record: dict[str, Any] = {}
            try:
                record = streams.json_object(text)
                game = game_of(record)
            except ValueError as error:
                report.add_broken(number, place, str(error), noise=mark not in record)
                continue
            report.add_game(number, place, len(game))
            yield game
        pieces.report_damage()


def json_keys(path: Path) -> frozenset[str]:
    """Return the keys of the first object in a file, which may be compressed.

    Empty if there is no object, and for a pipe, which can be read only once.
    """
    if not os.path.isfile(path):
        return frozenset()
    with streams.opened(path) as (stored, content, where):
        pieces = streams.Pieces(stored, content, where, ReadReport())
        with contextlib.suppress(ValueError, StopIteration):
            return frozenset(streams.json_object(next(object_texts(pieces))[1]))
    return frozenset()


def write_json_games(objects: Iterable[Mapping[str, Any]], path: str | Path) -> int:
    """Write games as JSON objects, one per line; return their number.

    The suffix of `path` selects the compression.
    """
    count = 0
    with streams.create(path) as file:
        for record in objects:
            file.write(json.dumps(record).encode() + b"\n")
            count += 1
    return count


def object_texts(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines, or the whole text if it is one object spread over lines.

    In that case the first line ends inside an object, and the second does not begin a new one.
    """
    first = next(pieces, b"").removeprefix(b"\xef\xbb\xbf")
    if re.match(rb"\s*\{(?:[^\n]*[{\[,])?[^\S\n]*\n(?!\{)", first) is None:
        yield from streams.lines(itertools.chain((first,), pieces))
        return
    parts, size = [first], len(first)
    for piece in pieces:
        if size <= streams.LONGEST:  # a longer object is invalid
            parts.append(piece)
            size += len(piece)
    yield 1, b"".join(parts)


def known(record: Mapping[str, Any], name: str, kind: type[_T]) -> _T | None:
    """Return the value of the key `name`, or None; a ValueError if it has another type."""
    value: _T | None = record.get(name)
    if value is not None and type(value) is not kind:
        raise ValueError(f'"{name}" is not {_KINDS[kind]}')
    return value


def short(value: object) -> str:
    """Return `value` shortened, to quote it in a message."""
    return repr(value[:40]) if isinstance(value, str) else "a non-text value"


__all__ = ["json_keys", "known", "object_texts", "read_json_games", "short", "write_json_games"]

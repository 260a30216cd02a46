"""Games that are kept as JSON objects, one a line or one alone."""

import contextlib
import itertools
import json
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
    bool: "yes or no",
    int: "whole number",
    list: "list",
    dict: "JSON object",
}


def read_json_games(
    path: str | Path | IO[bytes],
    report: ReadReport,
    game_of: Callable[[dict[str, Any]], _Game],
    mark: str,
) -> Iterator[_Game]:
    """The games of a file that may be compressed; `report` is told of them, and of broken ones.

    `game_of` makes a game of an object, or raises a ValueError that says why it is broken. What
    does not even have the key `mark` is noise.
    """
    with streams.opened(path) as (stored, content, where):
        if content is stored and streams.first_bytes(stored, where).startswith(b"PK\3\4"):
            raise InputError(f"{where}: is a zip; unpack it, and name the files in it")
        pieces = streams.Pieces(stored, content, where, report)
        whole = streams.with_games(pieces, where, report)
        for number, (line, text) in enumerate(object_texts(whole), 1):
            place = f"{where}, line {line}"
            found: dict[str, Any] = {}
            try:
                found = streams.json_object(text)
                game = game_of(found)
            except ValueError as error:
                report.add_broken(number, place, str(error), noise=mark not in found)
                continue
            report.add_game(number, place, len(game))
            yield game
        pieces.tell_damage()


def json_keys(path: Path) -> frozenset[str]:
    """Of the first object in a file that may be compressed, by which games are told apart.

    None where there is none; nor of a pipe, which is read once.
    """
    if not path.is_file():
        return frozenset()
    with streams.opened(path) as (stored, content, where):
        pieces = streams.Pieces(stored, content, where, ReadReport())
        with contextlib.suppress(ValueError, StopIteration):
            return frozenset(streams.json_object(next(object_texts(pieces))[1]))
    return frozenset()


def write_json_games(objects: Iterable[Mapping[str, Any]], path: str | Path) -> int:
    """Write games that are JSON objects, one a line; how many they were.

    The file is compressed as its name says.
    """
    count = 0
    with streams.create(path) as file:
        for found in objects:
            file.write(json.dumps(found).encode() + b"\n")
            count += 1
    return count


def object_texts(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The numbered lines; or the whole, if it is one JSON object that is spread over lines.

    Then the first line ends where an object goes on, and the second begins no other.
    """
    first = next(pieces, b"").removeprefix(b"\xef\xbb\xbf")
    if re.match(rb"\s*\{(?:[^\n]*[{\[,])?[^\S\n]*\n(?!\{)", first) is None:
        yield from streams.lines(itertools.chain((first,), pieces))
        return
    parts, size = [first], len(first)
    for piece in pieces:
        if size <= streams.LONGEST:  # what is longer is broken
            parts.append(piece)
            size += len(piece)
    yield 1, b"".join(parts)


def known(found: Mapping[str, Any], name: str, kind: type[_T]) -> _T | None:
    """What an object says, if it does and that is of this kind."""
    value: _T | None = found.get(name)
    if value is not None and type(value) is not kind:
        raise ValueError(f'"{name}" is not a {_KINDS[kind]}')
    return value


def short(value: object) -> str:
    """To be quoted in a reason."""
    return repr(value[:40]) if isinstance(value, str) else "what is not a text"


__all__ = ["json_keys", "known", "object_texts", "read_json_games", "short", "write_json_games"]

"""How a game's records are read, and how a file of them is recognised."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kedge import catalogue
from kedge.catalogue import GameEntry
from kedge.errors import InputError
from kedge.records.report import ReadReport


@dataclass(frozen=True)
class RecordFormat:
    """The records of one game."""

    read: Callable[[Any, ReadReport], Iterator[Any]]
    """Yield the legal games of a file; record the others in the report."""
    sniff: Callable[[Path], bool]
    """Whether a file holds records of this game, by its name or its first bytes."""
    files: str
    """The kinds of files, for help texts."""
    read_for_prediction: Callable[[Any, ReadReport], Iterator[Any]] | None = None
    """Yield the games for predictions, if not by `read`: games of which only a part is legal, where
    `read` drops these, or games with the positions of their replay."""
    write: Callable[[Any, str | Path], object] | None = None
    """Write games to a file."""
    files_in: Callable[[str | Path], list[Path]] = lambda path: [Path(path)]
    """Return the files that `read` reads: more than one if it takes folders."""


def record_format(game: str) -> RecordFormat:
    """Return the format of `game`."""
    return _format(catalogue.find(game, "records"))


def _formats() -> dict[str, RecordFormat]:
    """Return the formats of all games, by the game's name."""
    formats = catalogue.loaded("records", _format)
    return {entry.name: record for entry, record in formats.items()}


def _format(entry: GameEntry) -> RecordFormat:
    record = entry.load("records")
    if not isinstance(record, RecordFormat):
        raise InputError(f"game {entry.name}: records = {entry.records!r}: not a RecordFormat")
    return record


def files_words() -> str:
    """Describe the files of all games, for help texts."""
    formats = catalogue.loaded("records", _format)
    return " ".join(f"{entry.title}: {record.files}." for entry, record in formats.items())


def recorded_game(path: Path) -> str:
    """Return the name of the game whose records a file holds.

    A file that no game recognises, and a pipe, which can be read only once, count as records of the
    first game in the catalogue.
    """
    return recognised_game(path) or next(iter(_formats()))


def recognised_game(path: Path) -> str | None:
    """Return the name of the game that recognises a file, by its name or its first bytes."""
    return next((name for name, kind in _formats().items() if kind.sniff(path)), None)

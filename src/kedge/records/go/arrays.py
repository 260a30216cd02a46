"""Many Go games as flat arrays, which load in no time: what training works on.

Text is slow to read, so a table is kept under kedge's home and made anew when the files that it
came from change. Without leave to write there, all works, slower.
"""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.files import make_folder, whole_file
from kedge.home import home
from kedge.records.go.files import read_go_games, record_files
from kedge.records.go.games import SPLITS, GoGame, Split, split_of
from kedge.records.report import ReadReport

_VERSION = 2  # of the arrays and of what the reader makes of a text
AI, HANDICAP, SETUP, COLOURS = 1, 2, 4, 8  #: bits of `GoTable.flags`


@dataclass(frozen=True, slots=True, eq=False)
class GoTable:
    """Games in the order of their files; row i of every array is game i.

    Game i's moves are ``actions[offsets[i] : offsets[i + 1]]``. Stones and colours are not kept: of
    a game whose `flags` have HANDICAP, SETUP or COLOURS, the moves alone do not make the game.
    """

    actions: npt.NDArray[np.int16]
    offsets: npt.NDArray[np.int64]
    years: npt.NDArray[np.int16]  #: 0 where it is not known
    komi: npt.NDArray[np.float32]  #: NaN where it is not known
    black_returns: npt.NDArray[np.float32]  #: 1, 0 or −1; NaN where it is not known
    sizes: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    splits: npt.NDArray[np.uint8]  #: an index into `SPLITS`, or its length for games in none

    def __len__(self) -> int:
        return len(self.sizes)

    def moves(self, game: int) -> npt.NDArray[np.int16]:
        return self.actions[self.offsets[game] : self.offsets[game + 1]]

    def rows(self, split: Split) -> npt.NDArray[np.int64]:
        """The games of one of the paper's sets; see `split_of`."""
        return np.flatnonzero(self.splits == SPLITS.index(split))


_ARRAYS = tuple(f.name for f in fields(GoTable))


def go_table(path: str | Path, report: ReadReport | None = None) -> GoTable:
    """The games of `path`, as `read_go_games` reads them, kept for the next time.

    `report` is filled only where the files are read anew.
    """
    files = record_files(path)
    key = _key(files)
    kept = table_folder() / f"{_digest(str(Path(path).resolve()))}.npz"
    table = _load(kept, key)
    if table is None:
        table = tabulate_games(read_go_games(path, report))
        with contextlib.suppress(InputError):
            make_folder(table_folder())
            with whole_file(kept) as file:
                arrays: dict[str, Any] = {name: getattr(table, name) for name in _ARRAYS}
                np.savez(file, key=np.array(key), **arrays)
    return table


def tabulate_games(games: Iterable[GoGame]) -> GoTable:
    """A table of games that are at hand."""
    moves: list[npt.NDArray[np.int16]] = [np.empty(0, np.int16)]
    rows: list[tuple[Any, ...]] = []
    for game in games:
        moves.append(game.moves)
        split, komi, value = split_of(game), game.komi, game.black_return
        rows.append(
            (
                game.year or 0,
                np.nan if komi is None else komi,
                np.nan if value is None else value,
                game.size,
                AI * game.ai
                + HANDICAP * (game.handicap > 0)
                + SETUP * bool(game.black_stones or game.white_stones)
                + COLOURS * (game.colours is not None),
                len(SPLITS) if split is None else SPLITS.index(split),
            )
        )
    years, komis, returns, sizes, flags, splits = zip(*rows, strict=True) if rows else ((),) * 6
    return GoTable(
        actions=np.concatenate(moves),
        offsets=np.cumsum([0, *map(len, moves[1:])], dtype=np.int64),
        years=np.array(years, np.int16),
        komi=np.array(komis, np.float32),
        black_returns=np.array(returns, np.float32),
        sizes=np.array(sizes, np.uint8),
        flags=np.array(flags, np.uint8),
        splits=np.array(splits, np.uint8),
    )


def table_folder() -> Path:
    return home() / "cache" / "go"


def _key(files: list[Path]) -> str:
    """Changes when a file does, or comes or goes."""
    try:
        stats = [(str(file), file.stat()) for file in files]
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}") from None
    return _digest(repr([_VERSION, *((name, s.st_mtime_ns, s.st_size) for name, s in stats)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _load(kept: Path, key: str) -> GoTable | None:
    try:
        with np.load(kept, allow_pickle=False) as arrays:
            if str(arrays["key"]) == key:
                return GoTable(**{name: arrays[name] for name in _ARRAYS})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # damaged, or of another version: made anew
    return None


__all__ = ["AI", "COLOURS", "HANDICAP", "SETUP", "GoTable", "go_table", "tabulate_games"]

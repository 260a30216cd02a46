"""Many Go games as flat arrays, which load at once: the input of training.

Text is slow to read, so the arrays are cached under kedge's home and rebuilt when the source files
change. Without permission to write there everything works, only slower.
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

_VERSION = 3  # change it with the arrays or with how texts are read
AI, HANDICAP, SETUP, COLOURS = 1, 2, 4, 8  #: bits of `GoArrays.flags`


@dataclass(frozen=True, slots=True, eq=False)
class GoArrays:
    """Games in the order of their files; row i of every array is game i.

    Game i's moves are ``actions[offsets[i] : offsets[i + 1]]``. Stones and colours are not stored:
    a game with HANDICAP, SETUP or COLOURS in its `flags` cannot be replayed from its moves alone.
    """

    actions: npt.NDArray[np.int16]
    offsets: npt.NDArray[np.int64]
    years: npt.NDArray[np.int16]  #: 0 if unknown
    komi: npt.NDArray[np.float32]  #: in points; NaN if unknown
    black_returns: npt.NDArray[np.float32]  #: 1, 0 or −1; NaN if unknown
    sizes: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    splits: npt.NDArray[np.uint8]  #: an index into `SPLITS`, or its length for games in none

    def __len__(self) -> int:
        return len(self.sizes)

    def moves(self, game: int) -> npt.NDArray[np.int16]:
        return self.actions[self.offsets[game] : self.offsets[game + 1]]

    def rows(self, split: Split) -> npt.NDArray[np.int64]:
        """Return the numbers of the games in one of the paper's sets; see `split_of`."""
        return np.flatnonzero(self.splits == SPLITS.index(split))


_ARRAYS = tuple(f.name for f in fields(GoArrays))


def go_arrays(path: str | Path, report: ReadReport | None = None) -> GoArrays:
    """Return the games of `path`, from the cache if the files have not changed.

    `report` is filled only if the files are read again.
    """
    files = record_files(path)
    key = _key(files)
    cached = arrays_folder() / f"{_digest(str(Path(path).resolve()))}.npz"
    arrays = _load(cached, key)
    if arrays is None:
        arrays = make_go_arrays(read_go_games(path, report))
        with contextlib.suppress(InputError):
            make_folder(arrays_folder())
            with whole_file(cached) as file:
                columns: dict[str, Any] = {name: getattr(arrays, name) for name in _ARRAYS}
                np.savez(file, key=np.array(key), **columns)
    return arrays


def make_go_arrays(games: Iterable[GoGame]) -> GoArrays:
    """Return `games` as flat arrays."""
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
    return GoArrays(
        actions=np.concatenate(moves),
        offsets=np.cumsum([0, *map(len, moves[1:])], dtype=np.int64),
        years=np.array(years, np.int16),
        komi=np.array(komis, np.float32),
        black_returns=np.array(returns, np.float32),
        sizes=np.array(sizes, np.uint8),
        flags=np.array(flags, np.uint8),
        splits=np.array(splits, np.uint8),
    )


def arrays_folder() -> Path:
    return home() / "cache" / "go"


def _key(files: list[Path]) -> str:
    """A key that changes when a file is changed, added or removed."""
    try:
        stats = [(str(file), file.stat()) for file in files]
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}") from None
    return _digest(repr([_VERSION, *((name, s.st_mtime_ns, s.st_size) for name, s in stats)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _load(cached: Path, key: str) -> GoArrays | None:
    try:
        with np.load(cached, allow_pickle=False) as arrays:
            if str(arrays["key"]) == key:
                return GoArrays(**{name: arrays[name] for name in _ARRAYS})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # damaged, or of another version: rebuild it
    return None


__all__ = ["AI", "COLOURS", "HANDICAP", "SETUP", "GoArrays", "go_arrays", "make_go_arrays"]

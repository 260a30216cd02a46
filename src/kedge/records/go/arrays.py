"""Many Go games as flat arrays, which load at once: the input of training.

Text is slow to read, so the arrays are cached under kedge's home and rebuilt when the source files
change. Without permission to write there everything works, only slower.
"""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.files import make_folder, whole_file
from kedge.games.go.ranks import rank_number, server_number
from kedge.home import home
from kedge.records.go.files import read_go_games
from kedge.records.go.folders import record_files
from kedge.records.go.games import SPLITS, GoGame, Split, split_of
from kedge.records.go.people import part_of
from kedge.records.report import ReadReport

_VERSION = 4  # change it with the arrays, with how texts are read, or with `split_of` or `part_of`
AI, HANDICAP, SETUP, COLOURS = 1, 2, 4, 8  #: bits of `GoArrays.flags`


@dataclass(frozen=True, slots=True, eq=False)
class GoArrays:
    """Games in the order of their files; row i of every array is game i.

    Game i's moves are ``actions[offsets[i] : offsets[i + 1]]``. Colours are not stored: a game
    with COLOURS in its `flags` cannot be replayed from its moves alone.
    """

    actions: npt.NDArray[np.int16]
    offsets: npt.NDArray[np.int64]
    years: npt.NDArray[np.int16]  #: 0 if unknown
    komi: npt.NDArray[np.float32]  #: in points; NaN if unknown
    black_returns: npt.NDArray[np.float32]  #: 1, 0 or −1; NaN if unknown
    sizes: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    splits: npt.NDArray[np.uint8]  #: an index into `SPLITS`, or its length for games in none
    stones: npt.NDArray[np.int32]  #: (stones, 3) game, point and colour before the first move
    first: npt.NDArray[np.uint8]  #: who moves first: 0 black, 1 white
    ranks: npt.NDArray[np.uint8]  #: (games, 2) black's and white's, by `rank_number`
    servers: npt.NDArray[np.uint8]  #: by `server_number`
    bots: npt.NDArray[np.bool_]  #: (games, 2) whether black and white are known programs
    parts: npt.NDArray[np.uint8]  #: (games, 2) LEARN, CHOOSE or TEST, by a hash of the person

    def __len__(self) -> int:
        return len(self.sizes)

    def moves(self, game: int) -> npt.NDArray[np.int16]:
        return self.actions[self.offsets[game] : self.offsets[game + 1]]

    def rows(self, split: Split) -> npt.NDArray[np.int64]:
        """Return the numbers of the games in one of the paper's sets; see `split_of`."""
        return np.flatnonzero(self.splits == SPLITS.index(split))

    def take(self, games: npt.NDArray[np.int64]) -> "GoArrays":
        """Some of the games, in this order."""
        lengths = np.diff(self.offsets)[games]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(self.offsets[games] - offsets[:-1], lengths)
        first_stone = np.searchsorted(self.stones[:, 0], np.arange(len(self) + 1))
        counts = np.diff(first_stone)[games]
        starts = np.concatenate([[0], np.cumsum(counts)])
        at = np.arange(starts[-1]) + np.repeat(first_stone[games] - starts[:-1], counts)
        stones = self.stones[at]
        stones[:, 0] = np.repeat(np.arange(len(games)), counts)
        rest = {name: getattr(self, name)[games] for name in _BY_GAME}
        actions = self.actions[np.arange(offsets[-1]) + shift]
        return GoArrays(actions=actions, offsets=offsets, stones=stones, **rest)


def joined_arrays(tables: Sequence[GoArrays]) -> GoArrays:
    """The games of all tables, one table after the other."""
    if len(tables) == 1:
        return tables[0]
    before = np.cumsum([0, *(len(table) for table in tables)])
    moves = np.cumsum([0, *(len(table.actions) for table in tables)])
    later = [table.offsets[1:] + start for table, start in zip(tables, moves[:-1], strict=True)]
    stones = [
        table.stones + np.array([start, 0, 0], np.int32)
        for table, start in zip(tables, before[:-1], strict=True)
    ]
    rest = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in ("actions", *_BY_GAME)
    }
    offsets = np.concatenate([np.zeros(1, np.int64), *later])
    return GoArrays(offsets=offsets, stones=np.concatenate(stones), **rest)


_ARRAYS = tuple(f.name for f in fields(GoArrays))
_BY_GAME = tuple(name for name in _ARRAYS if name not in ("actions", "offsets", "stones"))


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
    stones: list[tuple[int, int, int]] = []
    rows: list[tuple[Any, ...]] = []
    for number, game in enumerate(games):
        moves.append(game.moves)
        stones += [(number, point, 0) for point in game.black_stones]
        stones += [(number, point, 1) for point in game.white_stones]
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
                game.mover(0) if len(game) else game.first_player,
                (rank_number(game.black_rank), rank_number(game.white_rank)),
                server_number(game.server),
                ("B" in game.bots, "W" in game.bots),
                (part_of(game, 0), part_of(game, 1)),
            )
        )
    columns = list(zip(*rows, strict=True)) if rows else [()] * 11
    years, komis, returns, sizes, flags, splits, first, ranks, servers, bots, parts = columns
    return GoArrays(
        actions=np.concatenate(moves),
        offsets=np.cumsum([0, *map(len, moves[1:])], dtype=np.int64),
        years=np.array(years, np.int16),
        komi=np.array(komis, np.float32),
        black_returns=np.array(returns, np.float32),
        sizes=np.array(sizes, np.uint8),
        flags=np.array(flags, np.uint8),
        splits=np.array(splits, np.uint8),
        stones=np.array(stones, np.int32).reshape(-1, 3),
        first=np.array(first, np.uint8),
        ranks=np.array(ranks, np.uint8).reshape(-1, 2),
        servers=np.array(servers, np.uint8),
        bots=np.array(bots, np.bool_).reshape(-1, 2),
        parts=np.array(parts, np.uint8).reshape(-1, 2),
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


__all__ = [
    "AI",
    "COLOURS",
    "HANDICAP",
    "SETUP",
    "GoArrays",
    "go_arrays",
    "joined_arrays",
    "make_go_arrays",
]

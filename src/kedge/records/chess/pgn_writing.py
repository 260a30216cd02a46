"""Write games as PGN."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.records import streams
from kedge.records.chess.games import ChessGame

_BATCH = 512  # games at a time


def write_pgn(games: Iterable[ChessGame], path: str | Path, *, threads: int = 0) -> int:
    """Write games as Lichess does, compressed by the suffix of `path`; return their number."""
    count = 0
    with streams.create(path) as file:
        remaining = iter(games)
        while batch := list(itertools.islice(remaining, _BATCH)):
            file.write("".join(pgn_texts(batch, threads=threads)).encode())
            count += len(batch)
    return count


def pgn_texts(games: Iterable[ChessGame], *, threads: int = 0) -> list[str]:
    """Return each game as PGN: tags, moves with known clocks and evaluations, and the result."""
    games = list(games)
    offsets = np.cumsum([0, *map(len, games)], dtype=np.int64)
    try:
        moves = _core.chess_write_moves(
            np.concatenate([np.empty(0, np.uint16), *(game.moves for game in games)]),
            _joined((game.clocks for game in games), offsets),
            _joined((game.evals for game in games), offsets),
            offsets,
            [game.fen or "" for game in games],
            threads,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    return [
        f"{tag_section(game)}\n{text}{' ' if text else ''}{game.result}\n\n\n"
        for game, text in zip(games, moves, strict=True)
    ]


def _joined(
    columns: Iterable[npt.NDArray[np.float32] | None], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Join a column of all games; where a game has none, it is NaN."""
    joined = np.full(offsets[-1], np.nan, np.float32)
    for column, (first, end) in zip(columns, itertools.pairwise(offsets), strict=True):
        if column is not None:
            joined[first:end] = column
    return joined


def tag_section(game: ChessGame) -> str:
    """Return the PGN tags of a game, one per line."""
    return "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in _tags_of(game))


def _tags_of(game: ChessGame) -> Iterator[tuple[str, str]]:
    rated = {True: "Rated ", False: "Casual ", None: ""}[game.rated]
    speed = "" if game.time_class == "unknown" else game.time_class + " "
    date = ".".join([*(game.date or "????").split("-"), "??", "??"][:3])
    yield "Event", game.event or f"{rated}{speed}game"
    yield "Site", game.site or "?"
    yield "Date", date
    yield "Round", game.round or "?"
    yield "White", game.white or "?"
    yield "Black", game.black or "?"
    yield "Result", game.result
    yield "UTCDate", date
    yield "WhiteElo", str(game.white_elo or "?")
    yield "BlackElo", str(game.black_elo or "?")
    if game.white_title:
        yield "WhiteTitle", game.white_title
    if game.black_title:
        yield "BlackTitle", game.black_title
    yield "Variant", game.variant
    yield "TimeControl", game.time_control or "?"
    if game.termination:
        yield "Termination", game.termination
    if game.fen:
        yield "FEN", game.fen
        yield "SetUp", "1"
    if game.source:
        yield "Source", game.source


def _escaped(text: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text.replace("\\", "\\\\").replace('"', '\\"')

"""The human games that the chess tables are measured on, drawn once a process."""

import functools
import heapq
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kedge.errors import InputError
from kedge.records import ChessGame, read_chess_games
from kedge.records.chess.filters import MAIA, MAIA_BY_NAME, bucket_of
from kedge.records.sieve import Sieve, chosen_plies, sifted_words

#: Those of the games under ``$KEDGE_DATA`` that have many players; the others are one person's.
MANY_PLAYERS = ("BoyTiger-1/Chess-AI-Bot", "HliasOuzounis/Ai-Guess-the-elo")


def default_sources(path: Path) -> tuple[str, ...]:
    """`MANY_PLAYERS` of the games under ``$KEDGE_DATA``; of others' games, every source."""
    root = os.environ.get("KEDGE_DATA")
    if root and path.resolve().is_relative_to(Path(root).resolve()):
        return MANY_PLAYERS
    return ()


def check_games(path: Path, buckets: tuple[int, ...], sources: tuple[str, ...]) -> None:
    """An `InputError` if `draw_games` would find nothing; it reads no further than it must."""
    sieve = Sieve(
        {
            "of other sources": lambda game: _is_of(game, sources),
            "outside the buckets": lambda game: bucket_of(game) in buckets,
            **MAIA_BY_NAME,
        }
    )
    if not any(len(sieve.plies(game)) for game in read_chess_games(path, sieve.read)):
        raise InputError(f"{path}: no position is left: {sifted_words(sieve.to_json())}")


def draw_games(
    path: Path, buckets: tuple[int, ...], sources: tuple[str, ...], limit: int | None, seed: int
) -> Mapping[int, list[ChessGame]]:
    """By bucket, games in which Maia's filters leave something to predict, in a random order.

    There are as many as make `limit` positions, or all. Games that name a source are of one of
    `sources`, if those are given.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return _drawn(path, changed, buckets, sources, limit, seed)


@functools.lru_cache(maxsize=1)
def _drawn(
    path: Path,
    changed: int,
    buckets: tuple[int, ...],
    sources: tuple[str, ...],
    limit: int | None,
    seed: int,
) -> Mapping[int, list[ChessGame]]:
    urns = {bucket: _Urn(limit, np.random.default_rng([seed, bucket])) for bucket in buckets}
    for game in read_chess_games(path, threads=1):
        urn = urns.get(bucket_of(game) or -1)
        if urn is not None and _is_of(game, sources):
            urn.offer(game, len(chosen_plies(game, MAIA)))
    return {bucket: urn.games() for bucket, urn in urns.items()}


def _is_of(game: ChessGame, sources: tuple[str, ...]) -> bool:
    return not sources or game.source is None or game.source in sources


class _Urn:
    """Whole games in a random order until they have `limit` positions.

    Every game is given its place in the order as it comes, and only the front of it is kept: a
    month of Lichess does not fit in memory.
    """

    def __init__(self, limit: int | None, rng: np.random.Generator) -> None:
        self._limit, self._rng = limit, rng
        self._kept: list[tuple[float, int, int, ChessGame]] = []  # the last of the order on top
        self._offered = self._positions = 0

    def offer(self, game: ChessGame, positions: int) -> None:
        if positions == 0:
            return
        self._offered += 1  # never two alike, so that games are not compared
        heapq.heappush(self._kept, (-self._rng.random(), self._offered, positions, game))
        self._positions += positions
        while self._limit is not None and self._positions - self._kept[0][2] >= self._limit:
            self._positions -= heapq.heappop(self._kept)[2]

    def games(self) -> list[ChessGame]:
        return [game for *_, game in sorted(self._kept, reverse=True)]

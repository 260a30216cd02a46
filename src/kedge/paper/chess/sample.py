"""The human games of the chess tables, drawn once per process."""

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

#: Sources under ``$KEDGE_DATA`` with many players; each other source is one person's games.
MANY_PLAYERS = ("BoyTiger-1/Chess-AI-Bot", "HliasOuzounis/Ai-Guess-the-elo")


def default_sources(path: Path) -> tuple[str, ...]:
    """`MANY_PLAYERS` for files under ``$KEDGE_DATA``, and all sources for others."""
    root = os.environ.get("KEDGE_DATA")
    if root and path.resolve().is_relative_to(Path(root).resolve()):
        return MANY_PLAYERS
    return ()


def check_games(path: Path, buckets: tuple[int, ...], sources: tuple[str, ...]) -> None:
    """Raise `InputError` if `draw_games` would find nothing; stop at the first position."""
    sieve = Sieve(
        {
            "of other sources": lambda game: _is_of(game, sources),
            "outside the buckets": lambda game: bucket_of(game) in buckets,
            **MAIA_BY_NAME,
        }
    )
    if not any(len(sieve.plies(game)) for game in read_chess_games(path, sieve.read)):
        raise InputError(f"{path}: no position left: {sifted_words(sieve.to_json())}")


def draw_games(
    path: Path, buckets: tuple[int, ...], sources: tuple[str, ...], limit: int | None, seed: int
) -> Mapping[int, list[ChessGame]]:
    """Draw games with positions that pass Maia's filters, by bucket, in a random order.

    The games have `limit` positions together, or all are drawn. If `sources` are given, games with
    another source are left out.
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
    """Draws whole games in a random order until they have `limit` positions.

    Each game gets a random place when it is offered, and only the first games are kept: a month of
    Lichess does not fit in memory.
    """

    def __init__(self, limit: int | None, rng: np.random.Generator) -> None:
        self._limit, self._rng = limit, rng
        self._kept: list[tuple[float, int, int, ChessGame]] = []  # a heap, last place on top
        self._offered = self._positions = 0

    def offer(self, game: ChessGame, positions: int) -> None:
        if positions == 0:
            return
        self._offered += 1  # unique, so that the heap never compares games
        heapq.heappush(self._kept, (-self._rng.random(), self._offered, positions, game))
        self._positions += positions
        while self._limit is not None and self._positions - self._kept[0][2] >= self._limit:
            self._positions -= heapq.heappop(self._kept)[2]

    def games(self) -> list[ChessGame]:
        return [game for *_, game in sorted(self._kept, reverse=True)]

"""Positions of recorded chess games: native boards for search, and planes for a network."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.records.chess.filters import bucket_of
from kedge.records.chess.games import ChessGame
from kedge.records.sieve import Filter, chosen_plies

_MOVES = len(_core.chess_policy_moves())  # lc0's


@dataclass(frozen=True, slots=True, eq=False)
class ChessPosition:
    """The position before ``game.moves[ply]``, in which a person moved."""

    phases: ClassVar[Mapping[str, int]] = {"plies 0-19": 0, "plies 20-39": 20, "plies 40-": 40}

    game: ChessGame
    ply: int

    @property
    def action(self) -> int:
        """The move that was played."""
        return int(self.game.moves[self.ply])

    @property
    def mover(self) -> int:
        """The player to move: 0 is white."""
        return self.game.mover(self.ply)

    @property
    def rating(self) -> int | None:
        """The mover's rating."""
        return self.game.rating(self.mover)

    @property
    def clock(self) -> float | None:
        """Seconds left to the mover after the move."""
        clocks = self.game.clocks
        if clocks is None or np.isnan(clocks[self.ply]):
            return None
        return float(clocks[self.ply])

    @property
    def groups(self) -> dict[str, str]:
        """The groups of this position, by which results are split."""
        game = self.game
        return {
            "bucket": str(bucket_of(game) or "mixed"),
            "time_class": game.time_class,
            "time_control": game.time_control or "unknown",
            "clocks": "known" if game.clocks is not None else "unknown",
        }

    def state(self) -> ChessState:
        """Return the state with its history. For many positions, `boards_of` is far cheaper."""
        return self.game.state(self.ply)


def chess_positions(
    games: Iterable[ChessGame], filters: Iterable[Filter] = ()
) -> Iterator[ChessPosition]:
    """Yield the positions that pass every filter, game by game, in the order of play.

    >>> from kedge.records import chess_positions, maia_filter, read_chess_games
    >>> games = read_chess_games("games.pgn.zst")  # doctest: +SKIP
    >>> for position in chess_positions(games, maia_filter(1900)):  # doctest: +SKIP
    ...     print(position.rating, position.state())
    """
    filters = tuple(filters)
    for game in games:
        for ply in chosen_plies(game, filters).tolist():
            yield ChessPosition(game, ply)


def boards_of(chosen: Sequence[ChessPosition]) -> list[_core.ChessBoard]:
    """Return the native boards of positions, each with the moves so far as its history.

    Neighbouring positions of one game are replayed once.
    """
    boards: list[_core.ChessBoard] = []
    for _, run in groupby(chosen, key=lambda position: id(position.game)):
        group = list(run)
        game = group[0].game
        plies = np.array([position.ply for position in group], np.int64)
        boards += _core.chess_replay(game.state(0).board, game.moves, plies)
    return boards


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPositions:
    """Positions in the form that a network takes, one row each.

    See `kedge.models.board.encoding.encode_chess`.
    """

    planes: npt.NDArray[np.uint64]  #: (n, 112) sets of squares
    rule50: npt.NDArray[np.uint8]  #: (n,)
    played: npt.NDArray[np.uint16]  #: (n,) lc0's index of the move played
    legal: npt.NDArray[np.uint64]  #: (n, 30) words; bit j of a row is set if lc0's move j is legal

    def __len__(self) -> int:
        return len(self.played)

    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """`legal` as (n, 1858) booleans."""
        octets = self.legal.astype("<u8", copy=False).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, count=_MOVES, bitorder="little")
        return bits.view(np.bool_)


def encode_chess_positions(
    chosen: Sequence[ChessPosition], *, fill: bool = True, threads: int = 0
) -> EncodedPositions:
    """Encode positions, each with the moves so far as its history.

    Neighbouring positions of one game are replayed once, so keep the order of `chess_positions`.
    See `kedge.models.board.encoding.encode_chess` for `fill`.
    """
    games, counts = [], []
    for _, run in groupby(chosen, key=lambda position: id(position.game)):
        group = list(run)
        games.append(group[0].game)
        counts.append(len(group))
    plies = np.fromiter((position.ply for position in chosen), np.int64, len(chosen))
    return encode_games(games, plies, counts, fill=fill, threads=threads)


def encode_games(
    games: Sequence[ChessGame],
    plies: npt.NDArray[np.int64],
    counts: Sequence[int],
    *,
    fill: bool = True,
    threads: int = 0,
) -> EncodedPositions:
    """Encode `counts[i]` positions of game i; `plies` lists their half-moves, game after game."""
    moves = [np.empty(0, np.uint16), *(game.moves for game in games)]
    try:
        columns = _core.chess_encode_games(
            np.concatenate(moves),
            np.cumsum([0, *map(len, games)], dtype=np.int64),
            np.ascontiguousarray(plies, np.int64),
            np.cumsum([0, *counts], dtype=np.int64),
            [game.fen or "" for game in games],
            fill,
            threads,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    return EncodedPositions(*columns)

"""Training a chess model on human games: the moves of people of a given rating.

A position is lc0's 112 planes plus constant planes that describe the players: both ratings, and
whether the game is bullet.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge import _core
from kedge.models.chess.conditioning import TOLD, rating_features
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import GATHER, MOVES
from kedge.records import ChessGame
from kedge.records.chess.filters import is_held_out
from kedge.training.board.imitation import Batch, Course, TowerRecipe
from kedge.training.board.network import ConvolutionPolicy, SEResNet, Value
from kedge.training.distributed import Rank

_CASTLING = slice(104, 108)
_FLIPPED = str.maketrans("abcdefgh", "hgfedcba")


@dataclass(frozen=True)
class GameTable:
    """Many games in flat arrays: all from the start position, moves as native actions."""

    actions: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]  # each game's first move, and the end of the last
    ratings: npt.NDArray[np.int16]  # (games, 2) white, black; 0 if unknown
    results: npt.NDArray[np.int8]  # 1 white won, 0 drawn, −1 black won
    bullet: npt.NDArray[np.bool_]
    held_out: npt.NDArray[np.bool_]
    learned: npt.NDArray[np.bool_]  # (games, 2) whether white's and black's moves are trained on

    def __len__(self) -> int:
        return len(self.results)

    def take(self, games: npt.NDArray[np.int64]) -> "GameTable":
        """Return the table of some games."""
        pieces = [self.actions[self.offsets[g] : self.offsets[g + 1]] for g in games]
        lengths = np.array([len(piece) for piece in pieces], np.int64)
        return GameTable(
            np.concatenate(pieces) if pieces else self.actions[:0],
            np.concatenate([[0], np.cumsum(lengths)]),
            self.ratings[games],
            self.results[games],
            self.bullet[games],
            self.held_out[games],
            self.learned[games],
        )


def table_of(games: Iterable[ChessGame], most_of_one: int | None = None) -> GameTable:
    """Collect the games to train on: standard chess with a result, without bots.

    `kedge.records.chess.filters.is_held_out` selects the held-out games. At most `most_of_one`
    games of a named player are trained on, so that a file with all games of one person does not
    turn the model into that person. The opponents' moves are always trained on.
    """
    kept = [game for game in games if _is_usable(game)]
    lengths = [len(game.moves) for game in kept]
    ratings = [(game.white_elo or 0, game.black_elo or 0) for game in kept]
    return GameTable(
        np.concatenate([game.moves for game in kept]) if kept else np.zeros(0, np.uint16),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array(ratings, np.int16).reshape(-1, 2),
        np.array([_RESULTS[game.result] for game in kept], np.int8),
        np.array([game.time_class == "bullet" for game in kept], bool),
        np.array([is_held_out(game) for game in kept], bool),
        np.array(list(_few_enough(kept, most_of_one)), bool).reshape(-1, 2),
    )


def _few_enough(games: Iterable[ChessGame], most: int | None) -> Iterator[tuple[bool, ...]]:
    """Yield whether white and black have had fewer than `most` games before."""
    played: Counter[str] = Counter()
    for game in games:
        yield tuple(
            most is None or player is None or played[player] < most
            for player in (game.white, game.black)
        )
        played.update(player for player in (game.white, game.black) if player is not None)


_RESULTS = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
_SHORTEST = 10


def _is_usable(game: ChessGame) -> bool:
    slow_enough = game.time_class not in ("ultrabullet", "correspondence")
    long_enough = len(game.moves) >= _SHORTEST and game.result in _RESULTS
    return slow_enough and long_enough and game.fen is None and not game.has_bot


def mirrored_moves() -> npt.NDArray[np.int64]:
    """The mirror image of each move, left and right exchanged; castling stays as it is."""
    index = {move: number for number, move in enumerate(MOVES)}
    # The letter of a promotion piece is not a file, so only the squares are mirrored.
    return np.array([index[move[:4].translate(_FLIPPED) + move[4:]] for move in MOVES], np.int64)


@dataclass(frozen=True)
class ChessPositions:
    """Packed positions and what people did in them, as tensors on one device."""

    masks: Tensor  # (n, planes) int64, a bit a square
    scalars: Tensor  # (n, scalar planes) float16: constant planes
    legal: Tensor  # (n, words) int64, a bit a move
    moves: Tensor  # (n,) int64, the moves played
    results: Tensor  # (n,) float32
    may_mirror: Tensor  # (n,) bool: no castling rights, so left and right are equivalent
    bits: Tensor  # (64,) int64: 0, 1, …
    mirrored: Tensor  # (moves,) int64: `mirrored_moves`

    def __len__(self) -> int:
        return len(self.moves)

    def to(self, device: torch.device) -> "ChessPositions":
        return ChessPositions(**{name: tensor.to(device) for name, tensor in vars(self).items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows; with `turns`, mirror half of those that may be mirrored."""
        squares = ((self.masks[rows][:, :, None] >> self.bits) & 1).to(torch.bfloat16)
        scalars = self.scalars[rows].to(torch.bfloat16)[:, :, None, None]
        planes = torch.cat([squares.view(len(rows), -1, 8, 8), scalars.expand(-1, -1, 8, 8)], dim=1)
        words = self.legal[rows]
        legal = ((words[:, :, None] >> self.bits) & 1).flatten(1)[:, : len(MOVES)].bool()
        moves = self.moves[rows]
        if turns is not None:
            flip = self.may_mirror[rows] & (turns < 0.5)
            planes = torch.where(flip[:, None, None, None], planes.flip(3), planes)
            legal = torch.where(flip[:, None], legal[:, self.mirrored], legal)
            moves = torch.where(flip, self.mirrored[moves], moves)
        planes = planes.contiguous(memory_format=torch.channels_last)
        return Batch(planes, legal, moves, self.results[rows])


def positions_of(table: GameTable, first_ply: int = 0) -> ChessPositions:
    """Pack every position from `first_ply` on in which a trained-on player moves."""
    plies_of = [_plies_of(table, game, first_ply) for game in range(len(table))]
    lengths = [len(plies) for plies in plies_of]
    plies = np.concatenate([np.zeros(0, np.int64), *plies_of])
    masks, rule50, moves, legal = _core.chess_encode_games(
        table.actions,
        table.offsets,
        plies,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
    game_of = np.repeat(np.arange(len(table)), lengths)
    black = plies % 2 == 1
    mine = table.ratings[game_of, black.astype(np.int64)]
    theirs = table.ratings[game_of, 1 - black.astype(np.int64)]
    outcome = np.where(black, -table.results[game_of], table.results[game_of])
    may_mirror = (masks[:, _CASTLING] == 0).all(axis=1)
    masks[:, CHESS.number_plane] = 0  # it is a scalar plane instead
    scalars = np.hstack(
        [
            (rule50[:, None] / 100.0).astype(np.float16),
            rating_features(mine).astype(np.float16),
            rating_features(theirs).astype(np.float16),
            table.bullet[game_of, None].astype(np.float16),
        ]
    )
    return ChessPositions(
        torch.from_numpy(masks.view(np.int64)),
        torch.from_numpy(scalars),
        torch.from_numpy(legal.view(np.int64)),
        torch.from_numpy(moves.astype(np.int64)),
        torch.from_numpy(outcome.astype(np.float32)),
        torch.from_numpy(may_mirror),
        torch.arange(64),
        torch.from_numpy(mirrored_moves()),
    )


def _plies_of(table: GameTable, game: int, first: int) -> npt.NDArray[np.int64]:
    plies = np.arange(first, table.offsets[game + 1] - table.offsets[game])
    return plies[table.learned[game, plies % 2]]


def make_network(recipe: TowerRecipe) -> SEResNet:
    return SEResNet(
        CHESS.planes + TOLD,
        ConvolutionPolicy(recipe.filters, GATHER),
        Value(recipe.filters, CHESS, draws=True),
        recipe.filters,
        recipe.blocks,
        recipe.se_ratio,
        recipe.drop,
    )


def train(
    table: GameTable,
    folder: Path,
    recipe: TowerRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
    teacher: str | None = None,
    begin_as: str | None = None,
) -> Iterator[dict[str, float]]:
    """Train on the games of `table`; see `Course.train`."""
    where = rank.device
    learned = positions_of(table.take(np.flatnonzero(~table.held_out))).to(where)
    tested = positions_of(table.take(np.flatnonzero(table.held_out)), TESTED_FROM).to(where)
    course = Course(CHESS, make_network, learned, tested)
    return course.train(
        folder, recipe, rank=rank, seconds=seconds, teacher=teacher, begin_as=begin_as
    )


#: First ply of held-out positions: the opening is skipped, as in the paper and Maia.
TESTED_FROM = 10

"""Training a chess model on human games: what people of a rating would play.

A position is lc0's 112 planes and, as planes that are one number all over, who plays: the ratings
of both players and whether it is bullet.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from kedge import _core
from kedge.models.lc0_moves import GATHER, MOVES
from kedge.training.imitation import Positions, Recipe, Unpacker
from kedge.training.network import SEResNet

#: Ratings are told to the network by how near they are to each of these.
KNOTS = np.arange(800.0, 2401.0, 200.0)
SCALARS = 1 + 2 * len(KNOTS) + 1  # rule 50, both ratings, bullet
_PLANES = 112
_RULE50 = 109
_CASTLING = slice(104, 108)
_WORDS = -(-len(MOVES) // 64)
_FLIPPED = str.maketrans("abcdefgh", "hgfedcba")


@dataclass(frozen=True)
class GameTable:
    """Many games in flat arrays: all from the start position, moves as native actions."""

    actions: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]  # of each game's first move, and the end of the last
    ratings: npt.NDArray[np.int16]  # (games, 2) white, black; 0 where unknown
    results: npt.NDArray[np.int8]  # 1 white won, 0 drawn, −1 black won
    bullet: npt.NDArray[np.bool_]
    held_out: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.results)

    def take(self, games: npt.NDArray[np.int64]) -> "GameTable":
        """Some of the games."""
        pieces = [self.actions[self.offsets[g] : self.offsets[g + 1]] for g in games]
        lengths = np.array([len(piece) for piece in pieces], np.int64)
        return GameTable(
            np.concatenate(pieces) if pieces else self.actions[:0],
            np.concatenate([[0], np.cumsum(lengths)]),
            self.ratings[games],
            self.results[games],
            self.bullet[games],
            self.held_out[games],
        )


def mirrored_moves() -> npt.NDArray[np.int64]:
    """For each move the one with left and right exchanged; castling has none and stays."""
    index = {move: number for number, move in enumerate(MOVES)}
    # A promotion piece is a letter too, and must not be taken for a file.
    return np.array([index[move[:4].translate(_FLIPPED) + move[4:]] for move in MOVES], np.int64)


def rating_features(ratings: npt.NDArray[np.int16]) -> npt.NDArray[np.float16]:
    """How near each rating is to each knot, 1 at it and 0 at its neighbours; 0s where unknown."""
    step = KNOTS[1] - KNOTS[0]
    known = np.clip(ratings.astype(np.float64), KNOTS[0], KNOTS[-1])
    near = np.maximum(0.0, 1.0 - np.abs(known[:, None] - KNOTS) / step)
    return np.where(ratings[:, None] > 0, near, 0.0).astype(np.float16)


def positions_of(table: GameTable, first_ply: int = 0) -> Positions:
    """Every position from `first_ply` on of every game, packed."""
    lengths = np.maximum(np.diff(table.offsets) - first_ply, 0)
    total = int(lengths.sum())
    masks = np.zeros((total, _PLANES), np.uint64)
    rule50 = np.zeros(total, np.uint8)
    legal = np.zeros((total, _WORDS * 64), np.bool_)
    moves = np.zeros(total, np.int64)
    row = 0
    for game in range(len(table)):
        board = _core.ChessBoard()
        line = table.actions[table.offsets[game] : table.offsets[game + 1]].tolist()
        for ply, action in enumerate(line):
            if ply >= first_ply:
                _core.chess_encode([board], masks[row : row + 1], rule50[row : row + 1])
                legal[row, board.policy_indices()] = True
                moves[row] = board.policy_index(action)
                row += 1
            board.push(action)
    game_of = np.repeat(np.arange(len(table)), lengths)
    ply_of = np.concatenate([np.arange(n) for n in lengths]) + first_ply if total else game_of
    black = ply_of % 2 == 1
    mine = table.ratings[game_of, black.astype(np.int64)]
    theirs = table.ratings[game_of, 1 - black.astype(np.int64)]
    outcome = np.where(black, -table.results[game_of], table.results[game_of])
    may_mirror = (masks[:, _CASTLING] == 0).all(axis=1)
    masks[:, _RULE50] = 0  # told as a number instead
    scalars = np.hstack(
        [
            (rule50[:, None] / 100.0).astype(np.float16),
            rating_features(mine),
            rating_features(theirs),
            table.bullet[game_of, None].astype(np.float16),
        ]
    )
    words = np.packbits(legal, axis=1, bitorder="little").view(np.int64)
    return Positions(
        torch.from_numpy(masks.view(np.int64)),
        torch.from_numpy(scalars),
        torch.from_numpy(np.ascontiguousarray(words)),
        torch.from_numpy(moves),
        torch.from_numpy((1 - outcome).astype(np.int64)),
        torch.from_numpy(may_mirror),
    )


def make_network(recipe: Recipe) -> SEResNet:
    return SEResNet(
        _PLANES + SCALARS, GATHER, recipe.filters, recipe.blocks, recipe.se_ratio, recipe.drop
    )


def make_unpacker(device: torch.device) -> Unpacker:
    return Unpacker(len(MOVES), mirrored_moves(), device)

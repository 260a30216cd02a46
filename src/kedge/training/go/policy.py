"""Training a Go model on human games: professionals' moves, and who wins.

A position is AlphaGo Zero's planes, the last of them ±komi / 10 (appendix E). The device stores
only the stones of each position; the rows before it are its history.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge import _core
from kedge.errors import InputError
from kedge.models.go.encoding import GO
from kedge.records.go.arrays import GoArrays
from kedge.records.go.games import KOMI, Split, years_words
from kedge.training.board.imitation import NO_MOVE, Batch, Course, TowerRecipe
from kedge.training.board.network import DensePolicy, PointsPolicy, SEResNet, Value
from kedge.training.distributed import Rank

_STEPS = 8  # positions in the input: the current one and seven before it
_POINTS = GO.side**2

#: `kedge train go --recipe NAME`.
RECIPES = {
    # Appendix E: 64 epochs on eight GPUs.
    "paper": TowerRecipe(
        filters=256,
        blocks=20,
        se_ratio=4,
        drop=0.0,
        steps=475_000,
        batch=2048,
        optimizer="sgd",
        learning_rate=0.1,
        warmup=1,
        schedule="steps",
        weight_decay=1e-4,
        value_weight=0.01,
        average=0.0,
    ),
    # Trains in twenty minutes on an H200.
    "small": TowerRecipe(
        filters=128,
        blocks=10,
        se_ratio=4,
        drop=0.0,
        steps=22_000,
        batch=2048,
        optimizer="muon",
        learning_rate=2e-3,
        warmup=300,
        weight_decay=0.05,
        value_weight=0.05,
        heads="points",
        average=0.999,
    ),
}


def turns() -> npt.NDArray[np.int64]:
    """The eight symmetries of the board: (8, 361), the source of each point."""
    board = np.arange(_POINTS).reshape(GO.side, GO.side)
    boards = [np.rot90(side, k) for side in (board, board.T) for k in range(4)]
    return np.stack([turned.ravel() for turned in boards])


@dataclass(frozen=True)
class GoPositions:
    """Packed positions and what people did in them, as tensors on one device."""

    stones: Tensor  # (n + 1, 2, 6) int64: the mover's and the opponent's; the last row is empty
    first: Tensor  # (n,) int64: the first row of its game
    komi: Tensor  # (n,) float16: ±komi / 10
    moves: Tensor  # (n,) int64
    results: Tensor  # (n,) float32
    bits: Tensor  # (64,) int64: 0, 1, …
    turned: Tensor  # (8, 361) int64: `turns`
    moved: Tensor  # (8, 362) int64: each move in each symmetry
    turn: bool = True  # whether batches are turned at random
    later: int = 0  # moves after the next in each batch

    def __len__(self) -> int:
        return len(self.moves)

    def to(self, device: torch.device) -> "GoPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: tensor.to(device) for name, tensor in tensors.items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows, each in the symmetry that `turns` selects if `turn` is set."""
        back = torch.arange(_STEPS, device=rows.device)
        at = rows[:, None] - back
        at = torch.where(at >= self.first[rows][:, None], at, len(self))
        stones = self.stones[at]
        # The mover was the opponent one move ago.
        stones = torch.where((back % 2 == 1)[:, None, None], stones.flip(2), stones)
        points = ((stones[..., None] >> self.bits) & 1).to(torch.bfloat16)
        points = points.view(len(rows), 2 * _STEPS, -1)[:, :, :_POINTS]
        moves = [self._move_after(rows, count) for count in range(1 + self.later)]
        if turns is not None and self.turn:
            turn = (8 * turns).long()
            where = self.turned[turn][:, None].expand(-1, points.shape[1], -1)
            points = points.gather(2, where)
            moves = [torch.where(to >= 0, self.moved[turn, to.clamp(0)], to) for to in moves]
        komi = self.komi[rows].to(torch.bfloat16)[:, None, None].expand(-1, -1, _POINTS)
        planes = torch.cat([points, komi], dim=1).view(-1, *GO.shape)
        planes = planes.contiguous(memory_format=torch.channels_last)
        return Batch(planes, None, moves[0], self.results[rows], tuple(moves[1:]))

    def _move_after(self, rows: Tensor, count: int) -> Tensor:
        """The move played `count` moves later in the game, or NO_MOVE."""
        at = (rows + count).clamp(max=len(self) - 1)
        same_game = (self.first[at] == self.first[rows]) & (at == rows + count)
        return torch.where(same_game, self.moves[at], NO_MOVE)


def positions_of(table: GoArrays, games: npt.NDArray[np.int64], threads: int = 0) -> GoPositions:
    """Pack every position of some even games on the full board, up to the first illegal move."""
    lengths = np.diff(table.offsets)[games]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    kept = [table.actions[table.offsets[g] : table.offsets[g + 1]] for g in games]
    moves = np.concatenate(kept) if len(games) else table.actions[:0]
    ply = np.arange(len(moves)) - np.repeat(offsets[:-1], lengths)
    komi = np.nan_to_num(table.komi[games], nan=KOMI).astype(np.float32)
    stones, signed, played, _, _ = _core.go_replay(
        moves,
        (ply % 2).astype(np.uint8),
        offsets,
        ply,
        offsets,
        table.sizes[games],
        komi,
        np.zeros((0, 3), np.int32),
        steps=1,
        threads=threads,
    )
    returns = np.repeat(table.black_returns[games], lengths)
    legal = played < GO.moves  # from an illegal move on, a game's rows are empty
    first = np.repeat(offsets[:-1], lengths)
    # A game loses only rows at its end, so one count of dropped rows shifts all its rows.
    dropped = np.concatenate([[0], np.cumsum(~legal)])[first]
    none = np.zeros((1, *stones.shape[1:]), stones.dtype)
    turned = turns()
    moved = np.concatenate([np.argsort(turned, axis=1), np.full((8, 1), _POINTS)], axis=1)
    return GoPositions(
        torch.from_numpy(np.concatenate([stones[legal], none]).view(np.int64)),
        torch.from_numpy((first - dropped)[legal]),
        torch.from_numpy(signed[legal].astype(np.float16)),
        torch.from_numpy(played[legal].astype(np.int64)),
        torch.from_numpy(np.where(ply % 2 == 0, returns, -returns)[legal].astype(np.float32)),
        torch.arange(64),
        torch.from_numpy(turned),
        torch.from_numpy(moved),
    )


def make_network(recipe: TowerRecipe) -> SEResNet:
    by_points = recipe.heads == "points"
    policy, *later = (
        PointsPolicy(recipe.filters) if by_points else DensePolicy(recipe.filters, GO)
        for _ in range(1 + recipe.later)
    )
    return SEResNet(
        GO.planes,
        policy,
        Value(recipe.filters, GO, draws=False, pooled=by_points),
        recipe.filters,
        recipe.blocks,
        recipe.se_ratio,
        recipe.drop,
        later,
    )


def train(
    table: GoArrays,
    folder: Path,
    recipe: TowerRecipe,
    *,
    rank: Rank,
    modern: bool = False,
    seconds: float = float("inf"),
    teacher: str | None = None,
    begin_as: str | None = None,
) -> Iterator[dict[str, float]]:
    """Train on the paper's years and test on 2015 and 2016; see `Course.train`.

    A `modern` model trains on all years and is tested on held-out games from 2017 on.
    """
    learned_from: tuple[Split, ...] = ("train", "test", "modern") if modern else ("train",)
    tested_on: Split = "modern-test" if modern else "test"
    train_rows = np.concatenate([table.rows(split) for split in learned_from])
    test_rows = table.rows(tested_on)
    if not len(train_rows) or not len(test_rows):
        years = "all years" if modern else years_words("train")
        raise InputError(
            f"too few games: {len(train_rows)} of {years} to train on, {len(test_rows)} of "
            f"{years_words(tested_on)} to test on"
            + ("" if modern else "; --modern trains on all years")
        )
    learned = replace(positions_of(table, train_rows), turn=recipe.turn, later=recipe.later)
    tested = positions_of(table, test_rows).to(rank.device)
    course = Course(GO, make_network, learned.to(rank.device), tested)
    return course.train(
        folder, recipe, rank=rank, seconds=seconds, teacher=teacher, begin_as=begin_as
    )

"""Training a Go model on human games: people's moves, and who wins.

A position is AlphaGo Zero's planes, with ±komi / 10 (appendix E), and planes of tactics. The device
stores the stones and the tactics of each position; the rows before it are its history.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge import _core
from kedge.errors import InputError
from kedge.games.go.ranks import RANKS, SERVERS
from kedge.games.symmetries import symmetries
from kedge.models.board.conditioning import takes_players
from kedge.models.board.weights import Weights
from kedge.models.go.conditioning import WHO, who_features
from kedge.models.go.encoding import GO
from kedge.records.go.arrays import AI, COLOURS, GoArrays
from kedge.records.go.duplicates import games_among
from kedge.records.go.games import KOMI, KOMI_BOUND, SPLITS, Split, years_in, years_words
from kedge.records.splits import CHOOSE, LEARN, TEST
from kedge.training.board.imitation import NO_MOVE, Batch, Course, TowerRecipe
from kedge.training.board.network import DensePolicy, PointsPolicy, SEResNet, Value
from kedge.training.distributed import Rank
from kedge.training.trainer import Finish

_STEPS = 8  # positions in the input: the current one and seven before it
_POINTS = GO.side**2
_FEWEST = 1000  # least positions of a rank for a test of its own


@dataclass(frozen=True)
class GoRecipe(TowerRecipe):
    """Settings for a Go model."""

    heads: Literal["dense", "points"] = "dense"
    """`dense` heads are AlphaGo Zero's, with weights for every point; `points` heads treat all
    points alike."""
    turn: bool = True
    """Whether each position is trained in a random one of the eight symmetries. People's games are
    not symmetric: by custom they begin in the upper right. An end without turning learns that: see
    `finish`."""
    finish: float = 0.0
    """Share of the run, at its end, in which no position is turned."""
    later: int = 0
    """Number of moves after the next that are also predicted in training."""
    later_weight: float = 0.25
    """Loss weight of each later move; the next move has 1."""
    players: bool = False
    """Take both players' ranks, the server and the year as inputs, and learn from the games of all
    people."""
    professionals: int = 1
    """How many times a move of a professional over the board counts, with `players`."""

    shape: ClassVar[tuple[str, ...]] = (*TowerRecipe.shape, "heads", "players")
    moved: ClassVar[tuple[str, ...]] = (*TowerRecipe.moved, "later")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("professionals")
        self._check_shares("finish")
        if self.heads not in ("dense", "points"):
            raise InputError(f"heads: dense or points, not {self.heads}")

    @classmethod
    def for_weights(cls, weights: Weights) -> Self:
        return replace(
            super().for_weights(weights),
            heads="points" if weights.policy == "points" else "dense",
            players=bool(takes_players(weights)),
        )


#: `kedge train go --recipe NAME`.
RECIPES = {
    # Appendix E: 64 epochs on eight GPUs.
    "paper": GoRecipe(
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
    "small": GoRecipe(
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


@dataclass(frozen=True)
class GoPositions:
    """Packed positions and what people did in them, as tensors on one device."""

    chosen: Tensor  # (m,) int64: the rows that count, some perhaps several times
    stones: Tensor  # (n + 1, 2, 6) int64: the mover's and the opponent's; the last row is empty
    tactics: Tensor  # (n, 8, 6) int64: see `encode_go`
    first: Tensor  # (n,) int64: the first row of its game
    komi: Tensor  # (n,) float16: ±komi / 10
    moves: Tensor  # (n,) int64
    results: Tensor  # (n,) float32
    sides: Tensor  # (n,) int32: the row of `who`
    who: Tensor  # (2 · games, numbers) float16: who plays, for black and for white to move
    bits: Tensor  # (64,) int64: 0, 1, …
    turned: Tensor  # (8, 361) int64: `symmetries`
    moved: Tensor  # (8, 362) int64: each move in each symmetry
    turn: bool = True  # whether batches are turned at random
    later: int = 0  # moves after the next in each batch
    later_weight: float = 0.0  # see `GoRecipe`
    players: bool = False  # whether batches say who plays
    forget: float = 0.0  # share of training positions that hide who plays

    def __len__(self) -> int:
        return len(self.chosen)

    def of(self, rows: Tensor) -> "GoPositions":
        """Return a copy in which only these rows count."""
        return replace(self, chosen=rows.to(self.chosen.device))

    def to(self, device: torch.device) -> "GoPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: tensor.to(device) for name, tensor in tensors.items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows, each in the symmetry that `turns` selects if `turn` is set."""
        rows = self.chosen[rows]
        back = torch.arange(_STEPS, device=rows.device)
        at = rows[:, None] - back
        at = torch.where(at >= self.first[rows][:, None], at, len(self.moves))
        stones = self.stones[at]
        # The mover was the opponent one move ago.
        stones = torch.where((back % 2 == 1)[:, None, None], stones.flip(2), stones)
        masks = torch.cat([stones.flatten(1, 2), self.tactics[rows]], dim=1)
        points = ((masks[..., None] >> self.bits) & 1).to(torch.bfloat16)
        points = points.flatten(2)[:, :, :_POINTS]
        moves = [self._move_after(rows, count) for count in range(1 + self.later)]
        if turns is not None and self.turn:
            turn = (8 * turns).long()
            where = self.turned[turn][:, None].expand(-1, points.shape[1], -1)
            points = points.gather(2, where)
            moves = [torch.where(to >= 0, self.moved[turn, to.clamp(0)], to) for to in moves]
        komi = self.komi[rows].to(torch.bfloat16)[:, None, None].expand(-1, -1, _POINTS)
        before, after = points[:, : GO.number_plane], points[:, GO.number_plane :]
        planes = torch.cat([before, komi, after], dim=1).view(-1, *GO.shape)
        planes = planes.contiguous(memory_format=torch.channels_last)
        who = self._who(rows, turns) if self.players else None
        later = tuple(moves[1:])
        return Batch(planes, None, moves[0], self.results[rows], later, self.later_weight, who)

    def _who(self, rows: Tensor, turns: Tensor | None) -> Tensor:
        who = self.who[self.sides[rows].long()].to(torch.bfloat16)
        if turns is None:
            return who
        rest = (8 * turns).frac()  # what the symmetry leaves of the draw
        return who * (rest >= self.forget)[:, None]

    def _move_after(self, rows: Tensor, count: int) -> Tensor:
        """The move played `count` moves later in the game, or NO_MOVE."""
        at = (rows + count).clamp(max=len(self.moves) - 1)
        same_game = (self.first[at] == self.first[rows]) & (at == rows + count)
        return torch.where(same_game, self.moves[at], NO_MOVE)


def positions_of(
    table: GoArrays,
    games: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64] | None = None,
    threads: int = 0,
) -> GoPositions:
    """Every position of some games on the full board, packed; what is illegal is left out.

    `counts` (games of the table, 2) says how often the moves of black and white count; once each
    without it.
    """
    part = table.take(games)
    lengths = np.diff(part.offsets)
    game = np.repeat(np.arange(len(part)), lengths)
    first = part.offsets[:-1][game]
    ply = np.arange(len(part.actions)) - first
    colours = ((ply + part.first[game]) % 2).astype(np.uint8)
    stones, signed, played, _, tactics, _ = _core.go_replay(
        part.actions,
        colours,
        part.offsets,
        ply,
        part.offsets,
        part.sizes,
        np.nan_to_num(part.komi, nan=KOMI).astype(np.float32),
        part.stones,
        steps=1,
        tactics=True,
        threads=threads,
    )
    returns = part.black_returns[game]
    legal = played < GO.moves  # from an illegal move on, a game's rows are empty
    # A game loses only rows at its end, so one count of dropped rows shifts all its rows.
    dropped = np.concatenate([[0], np.cumsum(~legal)])[first]
    none = np.zeros((1, *stones.shape[1:]), stones.dtype)
    turned = symmetries(GO.side)
    moved = np.concatenate([np.argsort(turned, axis=1), np.full((8, 1), _POINTS)], axis=1)
    sides = (2 * game + colours)[legal]
    rows = np.arange(len(sides))
    if counts is not None:
        rows = np.repeat(rows, counts[games].ravel()[sides])
    return GoPositions(
        torch.from_numpy(rows),
        torch.from_numpy(np.concatenate([stones[legal], none]).view(np.int64)),
        torch.from_numpy((tactics if legal.all() else tactics[legal]).view(np.int64)),
        torch.from_numpy((first - dropped)[legal]),
        torch.from_numpy(signed[legal].astype(np.float16)),
        torch.from_numpy(played[legal].astype(np.int64)),
        torch.from_numpy(np.where(colours == 0, returns, -returns)[legal].astype(np.float32)),
        torch.from_numpy(sides.astype(np.int32)),
        torch.from_numpy(_who_of(part).astype(np.float16)),
        torch.arange(64),
        torch.from_numpy(turned),
        torch.from_numpy(moved),
    )


def _who_of(table: GoArrays) -> npt.NDArray[np.float32]:
    """(2 · games, numbers): who plays, for black and for white to move."""
    both = [
        who_features(table.ranks[:, mover], table.ranks[:, 1 - mover], table.servers, table.years)
        for mover in (0, 1)
    ]
    return np.stack(both, axis=1).reshape(-1, WHO)


class Lessons(NamedTuple):
    """Masks (games, 2) of the sides whose moves train, choose or test a model."""

    learned: npt.NDArray[np.bool_]
    chosen_by: npt.NDArray[np.bool_]
    tested: npt.NDArray[np.bool_]


def lessons_of(table: GoArrays) -> Lessons:
    """Divide the games of people into those to learn from and those held out.

    Over the board, professionals' games of 2015 and 2016 test the model, and one in twenty of the
    later games chooses it. On servers, persons are held out with all their games. A held-out game
    is not learned from under another record either. Moves of programs are never learned.
    """
    on_server = table.servers > 0
    usable = (table.sizes == GO.side) & ~(np.abs(table.komi) > KOMI_BOUND)
    usable &= (table.flags & COLOURS) == 0
    people = usable[:, None] & ~table.bots
    people &= (table.bots.any(axis=1) | ((table.flags & AI) == 0))[:, None]
    chosen_by = people & on_server[:, None] & (table.parts == CHOOSE)
    chosen_by |= (
        people & (table.splits == SPLITS.index("modern-test"))[:, None] & ~on_server[:, None]
    )
    tested = people & on_server[:, None] & (table.parts == TEST)
    tested |= people & (table.splits == SPLITS.index("test"))[:, None] & ~on_server[:, None]
    held_out = (chosen_by | tested).any(axis=1)
    held_out |= ~on_server & np.isin(table.years, years_in("test"))
    held_out |= on_server & ((table.parts != LEARN) & ~table.bots).any(axis=1)
    held_out |= games_among(table, np.flatnonzero(held_out))
    return Lessons(people & ~held_out[:, None], chosen_by, tested)


def by_rank(positions: GoPositions, table: GoArrays) -> dict[str, GoPositions]:
    """Positions by where they were played and the mover's rank; rare kinds are left out."""
    sides = positions.sides[positions.chosen].long().cpu().numpy()
    ranks, servers = table.ranks.ravel()[sides], table.servers[sides // 2]
    kinds = {}
    for server in np.unique(servers):
        for rank in np.unique(ranks[servers == server]):
            rows = np.flatnonzero((servers == server) & (ranks == rank))
            where = SERVERS[server - 1] if server else "board"
            what = RANKS[rank - 1] if rank else "unknown"
            if len(rows) >= _FEWEST:
                kept = positions.chosen[torch.from_numpy(rows).to(positions.chosen.device)]
                kinds[f"{where} {what}"] = positions.of(kept)
    return kinds


def make_network(recipe: GoRecipe) -> SEResNet:
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
        WHO if recipe.players else 0,
    )


def train(
    table: GoArrays,
    folder: Path,
    recipe: GoRecipe,
    *,
    rank: Rank,
    modern: bool = False,
    seconds: float = float("inf"),
    teacher: str | None = None,
    begin_as: str | None = None,
) -> Iterator[dict[str, float]]:
    """Train on the paper's years and test on 2015 and 2016; see `Course.train`.

    A `modern` model trains on all years and is tested on held-out games from 2017 on. A model that
    takes `players` as input trains on all people, see `lessons_of`, and is tested on 2015-2016.
    """
    if recipe.players:
        if modern:
            raise InputError("players=true learns from all years: leave --modern out")
        course = _course_of_all(table, recipe, rank.device)
    else:
        course = _course(table, recipe, rank.device, modern=modern)
    return course.train(
        folder, recipe, rank=rank, seconds=seconds, teacher=teacher, begin_as=begin_as
    )


def _course(table: GoArrays, recipe: GoRecipe, device: torch.device, *, modern: bool) -> Course:
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
    learned = _as_learned(positions_of(table, train_rows).to(device), recipe)
    tested = positions_of(table, test_rows).to(device)
    return Course(GO, make_network, learned, tested, tested_on, finish=finish_of(learned, recipe))


def _as_learned(positions: GoPositions, recipe: GoRecipe) -> GoPositions:
    return replace(
        positions, turn=recipe.turn, later=recipe.later, later_weight=recipe.later_weight
    )


def finish_of(learned: GoPositions, recipe: GoRecipe) -> Finish[Batch] | None:
    """Return the last part of a run, if it has one: the same positions, not turned."""
    return Finish(recipe.finish, replace(learned, turn=False)) if recipe.finish else None


def _course_of_all(table: GoArrays, recipe: GoRecipe, device: torch.device) -> Course:
    learned, chosen_by, tested = lessons_of(table)
    over_board = (table.servers == 0)[:, None]
    tested &= over_board
    if not learned.any() or not tested.any():
        raise InputError(
            f"too few games of people: {learned.any(axis=1).sum()} to learn from, "
            f"{tested.any(axis=1).sum()} of {years_words('test')} over the board to test on"
        )
    counts = np.where(over_board, recipe.professionals, 1) * learned

    def positions(counts: npt.NDArray[np.int64]) -> tuple[GoPositions, GoArrays]:
        games = np.flatnonzero(counts.any(axis=1))
        made = replace(positions_of(table, games, counts), players=True)
        return made.to(device), table.take(games)

    lesson, _ = positions(counts)
    lesson = replace(_as_learned(lesson, recipe), forget=recipe.forget)
    others = by_rank(*positions(chosen_by.astype(np.int64)))
    test = positions(tested.astype(np.int64))[0]
    return Course(GO, make_network, lesson, test, "test", others, finish_of(lesson, recipe))

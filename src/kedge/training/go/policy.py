"""Training a Go model on human games: people's moves, and who wins."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch

from kedge.errors import InputError
from kedge.models.board.conditioning import takes_players
from kedge.models.board.weights import Weights
from kedge.models.go.conditioning import WHO
from kedge.models.go.encoding import GO
from kedge.records.go.arrays import GoArrays
from kedge.records.go.games import Split, years_words
from kedge.records.go.lessons import lessons_of
from kedge.training.board.imitation import Batch, Course, TowerRecipe
from kedge.training.board.network import DensePolicy, PointsPolicy, SEResNet, Value
from kedge.training.distributed import Rank
from kedge.training.go.positions import GoPositions, by_rank, positions_of
from kedge.training.trainer import Finish


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

"""Training a chess model on human games: what people of a rating play.

People are split three ways: the model learns from most, is chosen by some, and is tested on
others, whom training never touches.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kedge.models.chess.conditioning import ChessPlayers
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import GATHER
from kedge.records.splits import CHOOSE, LEARN
from kedge.training.board.imitation import Course, TowerRecipe
from kedge.training.board.network import ConvolutionPolicy, SEResNet, Value
from kedge.training.chess.panel import taught_by
from kedge.training.chess.positions import GameTable, by_kind, positions_of, rows_of
from kedge.training.distributed import Rank

#: First ply of held-out positions: the opening is skipped, as in the paper and Maia.
TESTED_FROM = 10


@dataclass(frozen=True)
class ChessRecipe(TowerRecipe):
    """Settings for a chess model. It always takes the players as inputs."""

    panel_weight: float = 0.0
    """Share of the policy loss that imitates models of single ratings, if there are any."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_shares("panel_weight")


def make_network(recipe: ChessRecipe) -> SEResNet:
    return SEResNet(
        CHESS.planes,
        ConvolutionPolicy(recipe.filters, GATHER),
        Value(recipe.filters, CHESS, draws=True),
        recipe.filters,
        recipe.blocks,
        recipe.se_ratio,
        recipe.drop,
        who=ChessPlayers.count,
    )


def train(
    table: GameTable,
    folder: Path,
    recipe: ChessRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
    teacher: str | None = None,
    begin_as: str | None = None,
    panel: Mapping[int, str] | None = None,
) -> Iterator[dict[str, float]]:
    """Train on the games of `table`; see `Course.train`.

    `panel` are models of people of a rating, by rating: see `taught_by`.
    """
    where = rank.device
    rows = rows_of(table, table.sides(LEARN))
    learned = positions_of(table, rows).to(where)
    if panel:
        learned = taught_by(panel, table, rows, learned)
    rows = rows_of(table, table.sides(CHOOSE), TESTED_FROM)
    chosen_by = positions_of(table, rows).to(where)
    course = Course(
        CHESS,
        make_network,
        replace(learned, forget=recipe.forget, taught_weight=recipe.panel_weight),
        chosen_by,
        by_kind(table, chosen_by, rows),
    )
    return course.train(
        folder, recipe, rank=rank, seconds=seconds, teacher=teacher, begin_as=begin_as
    )

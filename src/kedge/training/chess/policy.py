"""Training a chess model on human games: what people of a rating play.

People are split three ways: the model learns from most, is chosen by some, and is tested on
others, whom training never touches.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kedge.errors import InputError
from kedge.models.chess.conditioning import ChessPlayers
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import GATHER
from kedge.records.splits import CHOOSE, LEARN, PARTS
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
    panel_weight_low: float | None = None
    """`panel_weight` where the mover is rated below 1300; None if it is the same."""
    eval_weight: float = 0.0
    """Share of the value loss that learns an engine's evaluation where the games have it.

    The result of a game between people is a noisy label of its positions: who stands better often
    loses. An evaluation is not, so a value head that learned it is the better judge in a search.
    What it learns is the expected score of people by Lichess's curve: see
    `kedge.records.chess.evals.expected_score` and `Value.score_losses`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_shares("panel_weight", "eval_weight")
        if self.panel_weight_low is not None:
            self._check_shares("panel_weight_low")


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
    if recipe.eval_weight > 0.0 and table.scores is None:
        raise InputError("eval_weight: no game has evaluations, such as [%eval 0.24] in PGN")
    where = rank.device
    rows = rows_of(table, table.sides(LEARN))
    learned = positions_of(table, rows).to(where)
    if panel:
        weights = recipe.panel_weight, recipe.panel_weight_low
        learned = taught_by(panel, table, rows, learned, *weights)
    rows = rows_of(table, table.sides(CHOOSE), TESTED_FROM)
    chosen_by = positions_of(table, rows).to(where)
    course = Course(
        CHESS,
        make_network,
        replace(learned, forget=recipe.forget, score_weight=recipe.eval_weight),
        chosen_by,
        PARTS[CHOOSE],
        by_kind(table, chosen_by, rows),
    )
    return course.train(
        folder, recipe, rank=rank, seconds=seconds, teacher=teacher, begin_as=begin_as
    )

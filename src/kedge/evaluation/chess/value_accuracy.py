"""How well a model judges positions, beside an engine's evaluations in the records.

A search takes the value of a position from its model. What counts there is less the value itself
than its change by a move: whether a blunder looks like one.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.models.board.backends import Network, check_finite
from kedge.records import ChessGame, chess_positions, encode_chess_positions
from kedge.records.chess.evals import expected_score
from kedge.records.chess.filters import skip_opening
from kedge.regularize import Array

BLUNDER = 0.1  #: a move that loses more than so much of the expected score is a blunder
_BATCH = 64  # games


@dataclass(frozen=True)
class ValueAccuracy:
    """A model's expected scores (a win is 1, a draw ½) beside those of the evaluations."""

    positions: int
    correlation: float
    error: float
    """Mean absolute difference."""
    moves: int
    """Moves with a known score before and after them."""
    change_correlation: float
    """Correlation of what each move changes."""
    blunders: int
    blunders_seen: float
    """Share of the blunders after which the model too expects less of the mover."""
    others_seen: float
    """The same share of all other moves. A good judge sees blunders more often."""
    ranked: float
    """Share of the pairs of a blunder and another move in which the model finds the blunder worse;
    ½ by chance. A bias for or against the side to move, which no search minds, leaves it alone."""


def value_accuracy(games: Iterable[ChessGame], network: Network) -> ValueAccuracy:
    """Compare a model's values with the evaluations of games, after the opening.

    Figures are NaN where there is nothing to compare.
    """
    scored = (game for game in games if game.evals is not None)
    parts = [_scores(batch, network) for batch in _batches(scored)]
    scores = np.concatenate([positions for positions, _ in parts] or [np.empty((0, 2))])
    changes = np.concatenate([moves for _, moves in parts] or [np.empty((0, 2))])
    lost, seen = changes[:, 0] < -BLUNDER, changes[:, 1] < 0.0
    return ValueAccuracy(
        len(scores),
        _correlation(scores),
        _mean(np.abs(scores[:, 0] - scores[:, 1])),
        len(changes),
        _correlation(changes),
        int(lost.sum()),
        _mean(seen[lost]),
        _mean(seen[~lost]),
        _ranked(changes[lost, 1], changes[~lost, 1]),
    )


def _batches(games: Iterable[ChessGame]) -> Iterator[list[ChessGame]]:
    remaining = iter(games)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _scores(games: list[ChessGame], network: Network) -> tuple[Array, Array]:
    """White's expected scores (n, 2), by evaluation and by model, and the movers' changes of them.

    Positions without an evaluation are left out, and so are moves before and after them.
    """
    chosen = list(chess_positions(games, [skip_opening()]))
    rows = encode_chess_positions(chosen)
    evaluation = check_finite(network, network.evaluate_packed(rows.planes, rows.rule50))
    mine = 0.5 + 0.5 * evaluation.value
    evals = [game.evals_before()[ChessGame.opening :] for game in games]
    game = np.repeat(np.arange(len(games)), [len(part) for part in evals])
    black = np.array([position.mover == 1 for position in chosen], bool)
    by_eval = expected_score(np.concatenate(evals))
    scores = np.stack([by_eval, np.where(black, 1.0 - mine, mine)], axis=1)
    known = ~np.isnan(by_eval)
    moves = known[:-1] & known[1:] & (game[:-1] == game[1:])
    changes = np.where(black[:-1, None], -1.0, 1.0) * np.diff(scores, axis=0)
    return scores[known], changes[moves]


def _correlation(pairs: Array) -> float:
    if len(pairs) < 2 or not pairs.std(axis=0).all():
        return math.nan
    return float(np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1])


def _ranked(lower: Array, higher: Array) -> float:
    """Return the share of the pairs in which `lower` is not above `higher`."""
    if not len(higher):
        return math.nan
    return _mean(1.0 - np.searchsorted(np.sort(higher), lower) / len(higher))


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


__all__ = ["BLUNDER", "ValueAccuracy", "value_accuracy"]

"""How well an agent predicts people's moves in Hanabi."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import numpy.typing as npt

from kedge.agents.hanabi.players import HanabiAgent, HanabiAnalysis
from kedge.evaluation.prediction import (
    ANCHOR_SHARE,
    LEAST,
    SUMS,
    GameScore,
    Prediction,
    move_scores,
)
from kedge.records.hanabi.games import HanabiGame
from kedge.regularize import Array
from kedge.search.sparta import improved

#: Kinds by which the moves of a game are split.
KINDS = ("move",)
#: The paper's subsets: games that score at least this.
LEAST_SCORES = (10, 20)
_AT_ONCE = 64  # games per batch

#: A game, and the half-moves to predict.
Chosen = tuple[HanabiGame, Sequence[int]]


@dataclass(frozen=True)
class AnalysedTurn:
    """One half-move of several games."""

    games: npt.NDArray[np.int64]
    """Numbers of the games."""
    played: npt.NDArray[np.int64]
    """The action that was played in each game."""
    analysis: HanabiAnalysis
    """The agent's analysis, with a row for each game."""


@dataclass(frozen=True)
class AnalysedGames:
    """Recorded games, and an agent's analyses of some of their moves."""

    records: Sequence[HanabiGame]
    turns: Sequence[AnalysedTurn]

    @property
    def unsearched(self) -> int:
        """Number of moves without values."""
        return sum(int((~is_searched(turn.analysis)).sum()) for turn in self.turns)


def predict_at(lam: float, games: AnalysedGames) -> Prediction:
    """Score a search at any λ on games that it has analysed: its values do not depend on λ."""
    turns = [replace(turn, analysis=at_lambda(turn.analysis, lam)) for turn in games.turns]
    return predict_analysed(replace(games, turns=turns))


def analysed_games(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> AnalysedGames:
    """Return the games with analyses.

    Games with the same rules run side by side, so that batches are large.
    """
    games = [game for game, _ in chosen]
    turns: list[AnalysedTurn] = []
    for _, run in groupby(range(len(games)), key=lambda number: games[number].rules):
        alike = np.array(list(run))
        for first in range(0, len(alike), _AT_ONCE):
            numbers = alike[first : first + _AT_ONCE]
            together = [games[number] for number in numbers]
            plies = [chosen[number][1] for number in numbers]
            for ply, due, analysis in agent.analyse_games(together, plies, rng):
                played = np.array([together[number].actions[ply] for number in due])
                turns.append(AnalysedTurn(numbers[due], played, analysis))
    return AnalysedGames(games, turns)


def at_lambda(analysis: HanabiAnalysis, lam: float) -> HanabiAnalysis:
    """Return the analysis at another λ; without values it is the anchor.

    P(a) ∝ τ(a)·exp(Q(a)/λ), the paper's equation of piKL-SPARTA. ∞ gives the anchor, and 0 the
    best move, whatever its anchor probability.
    """
    policy, searched = analysis.anchor.copy(), is_searched(analysis)
    for row in np.ndindex(searched.shape):
        real = slice(None) if analysis.mask is None else analysis.mask[row]
        if searched[row]:
            policy[row][real] = improved(policy[row][real], analysis.q[row][real], lam)
    return replace(analysis, policy=policy, smooth=None, best=None)


def is_searched(analysis: HanabiAnalysis) -> npt.NDArray[np.bool_]:
    """Whether search found values; it finds none if the belief about the cards is empty."""
    real = True if analysis.mask is None else analysis.mask
    return np.asarray(np.isfinite(analysis.q).all(axis=-1, where=real))


def predict_analysed(games: AnalysedGames) -> Prediction:
    """Score the agent on the played moves; one participant's games are one cluster.

    Cross-entropy scores the agent's policy with `ANCHOR_SHARE` of the anchor's, so that it is
    finite where a search rules out people's move. No probability is below `LEAST`.
    """
    cells: list[dict[str, Array]] = [{} for _ in games.records]
    for turn in games.turns:
        rows = move_scores(_smoothed(turn.analysis), turn.played)
        for number, action, sums in zip(turn.games, turn.played, rows, strict=True):
            kind = games.records[number].rules.moves[action].kind
            cell, own = kind if kind in ("play", "discard") else "hint", cells[number]
            own[cell] = own.get(cell, np.zeros(len(SUMS))) + sums
    return Prediction(list(map(_game_score, games.records, cells)), KINDS)


def _smoothed(analysis: HanabiAnalysis) -> HanabiAnalysis:
    """Return the analysis with the policy that cross-entropy scores."""
    smooth = analysis.policy if analysis.smooth is None else analysis.smooth
    mixed = (1.0 - ANCHOR_SHARE) * smooth + ANCHOR_SHARE * analysis.anchor
    return replace(analysis, smooth=np.maximum(mixed, LEAST))


def _game_score(game: HanabiGame, cells: dict[str, Array]) -> GameScore:
    """Return a game's sums by kind of move; its score is the record's, or that of its stacks."""
    points = game.replayed().fireworks()[-1].sum() if game.score is None else game.score
    least = [f"≥ {bound}" for bound in LEAST_SCORES if points >= bound]
    groups: dict[str, str | list[str]] = {"score": least or f"< {LEAST_SCORES[0]}"}
    if game.participant is not None:
        groups["participant"] = game.participant
    return GameScore(groups, cells, game.participant)

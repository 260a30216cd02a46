"""How well an agent predicts people's moves in Hanabi."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.hanabi.players import HanabiAgent, HanabiAnalysis
from kedge.evaluation.prediction import (
    ANCHOR_SHARE,
    LEAST,
    SUMS,
    GameScore,
    Prediction,
    move_scores,
)
from kedge.games.hanabi import HanabiState
from kedge.records import HanabiGame
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
class AnalysedGame:
    """A recorded game, and an agent's analyses before some of its moves."""

    record: HanabiGame
    plies: Sequence[int]
    """Half-moves to predict, in order."""
    end: HanabiState
    analyses: Sequence[HanabiAnalysis]
    """One per half-move to predict."""

    @property
    def played(self) -> list[int]:
        """The actions that were played after the analyses."""
        return [self.record.actions[ply] for ply in self.plies]


def predict_moves(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> Prediction:
    """Score `agent` on the played moves; one participant's games are one cluster.

    Cross-entropy scores the agent's policy with `ANCHOR_SHARE` of the anchor's, so that it is
    finite where a search rules out people's move. No probability is below `LEAST`.
    """
    return scored(analysed_games(chosen, agent, rng))


def predict_at(lam: float, games: Sequence[AnalysedGame]) -> Prediction:
    """Score a search at any λ on games that it has analysed: its values do not depend on λ."""
    return scored(
        [
            replace(game, analyses=[at_lambda(analysis, lam) for analysis in game.analyses])
            for game in games
        ]
    )


def analysed_games(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> list[AnalysedGame]:
    """Return the games in order, with analyses.

    Games with the same rules run side by side, so that batches are large.
    """
    games: list[AnalysedGame] = []
    for _, run in groupby(chosen, key=lambda pair: str(pair[0].rules)):
        alike = list(run)
        for first in range(0, len(alike), _AT_ONCE):
            games += _side_by_side(alike[first : first + _AT_ONCE], agent, rng)
    return games


def _side_by_side(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> list[AnalysedGame]:
    replays = [game.replay() for game, _ in chosen]
    states = [next(replay) for replay in replays]
    analyses: list[list[HanabiAnalysis]] = [[] for _ in chosen]
    for ply in range(max(len(game) for game, _ in chosen)):
        due = [number for number, (_, plies) in enumerate(chosen) if ply in plies]
        if due:
            answers = agent.analyse_many([states[number] for number in due], rng)
            for number, analysis in zip(due, answers, strict=True):
                analyses[number].append(analysis)
        for replay in replays:
            next(replay, None)
    return [
        AnalysedGame(game, plies, state, own)
        for (game, plies), state, own in zip(chosen, states, analyses, strict=True)
    ]


def at_lambda(analysis: HanabiAnalysis, lam: float) -> HanabiAnalysis:
    """Return the analysis at another λ; without values it is the anchor.

    P(a) ∝ τ(a)·exp(Q(a)/λ), the paper's equation of piKL-SPARTA. ∞ gives the anchor, and 0 the
    best move, whatever its anchor probability.
    """
    anchor = analysis.anchor
    policy = improved(anchor, analysis.q, lam) if is_searched(analysis) else anchor
    return replace(analysis, policy=policy, smooth=None, best=None)


def is_searched(analysis: HanabiAnalysis) -> bool:
    """Whether search found values; it finds none if the belief about the cards is empty."""
    return bool(np.isfinite(analysis.q).all())


def scored(games: Sequence[AnalysedGame]) -> Prediction:
    """Score the analyses of games, all in one batch."""
    played = np.array([action for game in games for action in game.played], np.int64)
    rows = move_scores(_joined([each for game in games for each in game.analyses]), played)
    ends = np.cumsum([len(game.analyses) for game in games])
    scores = [
        _game_score(game, rows[end - len(game.analyses) : end])
        for game, end in zip(games, ends, strict=True)
    ]
    return Prediction(scores, KINDS)


def _joined(analyses: Sequence[HanabiAnalysis]) -> Analysis:
    """Return analyses of single decisions as one with a row each, smoothed for cross-entropy."""
    sizes = np.array([len(analysis.policy) for analysis in analyses], np.int64)
    mask = np.arange(sizes.max(initial=1)) < sizes[:, np.newaxis]

    def padded(columns: Iterable[Any], filler: float) -> Any:
        rows = np.full(mask.shape, filler)
        rows[mask] = [value for column in columns for value in column]
        return rows

    anchor = padded((analysis.anchor for analysis in analyses), 0.0)
    smooth = padded((each.policy if each.smooth is None else each.smooth for each in analyses), 0.0)
    return Analysis(
        anchor=anchor,
        policy=padded((analysis.policy for analysis in analyses), -np.inf),  # the last in order
        q=padded((analysis.q for analysis in analyses), np.nan),
        value=None,
        smooth=np.maximum((1.0 - ANCHOR_SHARE) * smooth + ANCHOR_SHARE * anchor, LEAST),
        best=np.array([analysis.top1 for analysis in analyses], np.int64),
        actions=padded((analysis.moves for analysis in analyses), -1).astype(np.int64),
        mask=mask,
    )


def _game_score(game: AnalysedGame, rows: Array) -> GameScore:
    """Return a game's sums by kind of move; its score is the record's, or that of its stacks."""
    record, cells = game.record, dict[str, Array]()
    for action, sums in zip(game.played, rows, strict=True):
        kind = game.end.game.moves[action].kind
        cell = kind if kind in ("play", "discard") else "hint"
        cells[cell] = cells.get(cell, np.zeros(len(SUMS))) + sums
    points = sum(game.end.fireworks) if record.score is None else record.score
    least = [f"≥ {bound}" for bound in LEAST_SCORES if points >= bound]
    groups: dict[str, str | list[str]] = {"score": least or f"< {LEAST_SCORES[0]}"}
    if record.participant is not None:
        groups["participant"] = record.participant
    return GameScore(groups, cells, record.participant)

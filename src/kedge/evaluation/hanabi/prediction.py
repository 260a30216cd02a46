"""How well an agent predicts people's moves in Hanabi."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

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
#: The played action, and an agent's analysis before it.
Analysed = tuple[int, HanabiAnalysis]


@dataclass
class Watched:
    """A recorded game, and an agent's analyses before some of its moves."""

    game: HanabiGame
    plies: frozenset[int]
    """Half-moves to predict."""
    state: HanabiState
    """The same object along the whole game, so that an agent's memory of it stays valid."""
    analyses: list[Analysed] = field(default_factory=list)


def predict_moves(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> Prediction:
    """Score `agent` on the played moves; one participant's games are one cluster.

    Cross-entropy scores the agent's policy with `ANCHOR_SHARE` of the anchor's, so that it is
    finite where a search rules out people's move. No probability is below `LEAST`.
    """
    games = [score(game, game.analyses) for game in watched(chosen, agent, rng)]
    return Prediction(games, KINDS)


def predict_at(lam: float, games: Sequence[Watched]) -> Prediction:
    """Score a search at any λ on games that it has analysed: its values do not depend on λ."""
    scores = []
    for game in games:
        analyses = [(action, at_lambda(analysis, lam)) for action, analysis in game.analyses]
        scores.append(score(game, analyses))
    return Prediction(scores, KINDS)


def watched(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> Iterator[Watched]:
    """Yield the games in order, with analyses.

    Games with the same rules run side by side, so that batches are large.
    """
    for _, run in groupby(chosen, key=lambda pair: str(pair[0].rules)):
        alike = list(run)
        for first in range(0, len(alike), _AT_ONCE):
            yield from _side_by_side(alike[first : first + _AT_ONCE], agent, rng)


def _side_by_side(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> list[Watched]:
    games = [
        Watched(game, frozenset(plies), game.rules.initial_state(game.deck))
        for game, plies in chosen
    ]
    for ply in range(max(len(each.game) for each in games)):
        going = [each for each in games if ply < len(each.game)]
        due = [each for each in going if ply in each.plies]
        analyses = agent.analyse_many([each.state for each in due], rng) if due else []
        for each, analysis in zip(due, analyses, strict=True):
            each.analyses.append((each.game.actions[ply], analysis))
        for each in going:
            each.state.apply_action(each.game.actions[ply])
    return games


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


def score(watched: Watched, analyses: Sequence[Analysed]) -> GameScore:
    """Return a game's sums by kind of move; its score is the record's, or that of its stacks."""
    game, moves = watched.game, watched.state.game.moves
    cells: dict[str, Array] = {}
    for action, analysis in analyses:
        kind = moves[action].kind
        cell = kind if kind in ("play", "discard") else "hint"
        cells[cell] = cells.get(cell, np.zeros(len(SUMS))) + _sums(analysis, action)
    points = sum(watched.state.fireworks) if game.score is None else game.score
    least = [f"≥ {bound}" for bound in LEAST_SCORES if points >= bound]
    groups: dict[str, str | list[str]] = {"score": least or f"< {LEAST_SCORES[0]}"}
    if game.participant is not None:
        groups["participant"] = game.participant
    return GameScore(groups, cells, game.participant)


def _sums(analysis: Analysis, action: int) -> Array:
    assert analysis.actions is not None
    smooth = analysis.policy if analysis.smooth is None else analysis.smooth
    smooth = np.maximum((1.0 - ANCHOR_SHARE) * smooth + ANCHOR_SHARE * analysis.anchor, LEAST)
    row = Analysis(
        anchor=analysis.anchor[np.newaxis],
        policy=analysis.policy[np.newaxis],
        q=analysis.q[np.newaxis],
        value=None,
        smooth=smooth[np.newaxis],
        best=np.array([analysis.top1]),
        actions=analysis.actions[np.newaxis],
    )
    sums: Array = move_scores(row, np.array([action]))[0]
    return sums

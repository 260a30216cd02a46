"""How well an agent predicts what people do in Hanabi."""

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

#: What the moves of a game are split by.
KINDS = ("move",)
#: The paper's subsets: games that score at least this.
LEAST_SCORES = (10, 20)
_AT_ONCE = 64  # games

#: A game, and which of its half-moves to predict.
Chosen = tuple[HanabiGame, Sequence[int]]
#: The action that was made, and what an agent thought before it.
Judged = tuple[int, HanabiAnalysis]


@dataclass
class Watched:
    """A recorded game, and what an agent thought before some of its moves."""

    game: HanabiGame
    plies: frozenset[int]
    state: HanabiState
    """One object along the whole game, so that who remembers it need not begin anew."""
    found: list[Judged] = field(default_factory=list)


def predict_moves(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> Prediction:
    """Score `agent` on what was played, one participant's games being one cluster.

    Cross-entropy is that of the agent's policy with `ANCHOR_SHARE` of the anchor's, so that it is
    finite where people do what a search would never do; no move counts for less than `LEAST`.
    """
    games = [score(game, game.found) for game in watched(chosen, agent, rng)]
    return Prediction(games, KINDS)


def predict_at(lam: float, games: Sequence[Watched]) -> Prediction:
    """The same of a search at any λ, once it has watched: values do not depend on λ."""
    dialled = [[(action, at_lambda(found, lam)) for action, found in one.found] for one in games]
    return Prediction([score(one, found) for one, found in zip(games, dialled, strict=True)], KINDS)


def watched(
    chosen: Sequence[Chosen], agent: HanabiAgent, rng: np.random.Generator
) -> Iterator[Watched]:
    """Games in their order, those by the same rules side by side, so that batches are large."""
    for _, run in groupby(chosen, key=lambda one: str(one[0].rules)):
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
    for ply in range(max(len(one.game) for one in games)):
        going = [one for one in games if ply < len(one.game)]
        asked = [one for one in going if ply in one.plies]
        analyses = agent.analyse_many([one.state for one in asked], rng) if asked else []
        for one, found in zip(asked, analyses, strict=True):
            one.found.append((one.game.actions[ply], found))
        for one in going:
            one.state.apply_action(one.game.actions[ply])
    return games


def at_lambda(found: HanabiAnalysis, lam: float) -> HanabiAnalysis:
    """What a search would have played at another λ; the anchor where it found no values.

    P(a) ∝ τ(a)·exp(Q(a)/λ), the paper's equation of piKL-SPARTA; ∞ is the anchor, and 0 the best
    move, be it the anchor's or not.
    """
    policy = improved(found.anchor, found.q, lam) if is_searched(found) else found.anchor
    return replace(found, policy=policy, smooth=None, best=None)


def is_searched(found: HanabiAnalysis) -> bool:
    """Whether there are values: not where nothing was known of one's cards."""
    return bool(np.isfinite(found.q).all())


def score(watched: Watched, analyses: Sequence[Judged]) -> GameScore:
    """A game's sums by kind of move; its score is what the record says, or what was built."""
    game, moves = watched.game, watched.state.game.moves
    cells: dict[str, Array] = {}
    for action, found in analyses:
        kind = moves[action].kind
        cell = kind if kind in ("play", "discard") else "hint"
        cells[cell] = cells.get(cell, np.zeros(len(SUMS))) + _sums(found, action)
    points = sum(watched.state.fireworks) if game.score is None else game.score
    least = [f"≥ {bound}" for bound in LEAST_SCORES if points >= bound]
    groups: dict[str, str | list[str]] = {"score": least or f"< {LEAST_SCORES[0]}"}
    if game.participant is not None:
        groups["participant"] = game.participant
    return GameScore(groups, cells, game.participant)


def _sums(found: Analysis, action: int) -> Array:
    assert found.actions is not None
    smooth = found.policy if found.smooth is None else found.smooth
    smooth = np.maximum((1.0 - ANCHOR_SHARE) * smooth + ANCHOR_SHARE * found.anchor, LEAST)
    row = Analysis(
        anchor=found.anchor[np.newaxis],
        policy=found.policy[np.newaxis],
        q=found.q[np.newaxis],
        value=None,
        smooth=smooth[np.newaxis],
        best=np.array([found.top1]),
        actions=found.actions[np.newaxis],
    )
    sums: Array = move_scores(row, np.array([action]))[0]
    return sums

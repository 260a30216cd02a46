"""Solving one normal-form game and measuring the solution."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.games.normal_form import NormalFormGame, exploitability, residual
from kedge.regularize import Array, forward_kl, kl_divergence
from kedge.search.regret import MMD, Algorithm, DiLPiKL, Hedge, RegretMatching, iterates, qre
from kedge.search.regret.algorithms import LAMBDA
from kedge.search.regret.learner import Average
from kedge.search.regret.parameters import Anchors, check_anchors, check_lambdas
from kedge.search.regret.solver import Feedback

ITERATIONS = 10_000  # the default


@dataclass(frozen=True)
class Solution:
    """A profile of policies and its measures, which ``kedge solve --help`` explains."""

    policies: list[Array]
    values: list[Array]
    """Value u_i(a, π_−i) of every action."""
    exploitability: float
    kl_to_anchor: list[float]
    residual: float | None
    iterations: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "policies": [policy.tolist() for policy in self.policies],
            "exploitability": self.exploitability,
            "kl_to_anchor": self.kl_to_anchor,
            "residual": self.residual,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }


def solve_exactly(game: NormalFormGame, lam: Any = None, anchors: Anchors = None) -> Solution:
    """Return the regularised equilibrium by Newton's method."""
    start = time.perf_counter()
    solved = qre(game, LAMBDA if lam is None else lam, anchors=anchors)
    return _solution(game, solved.policies, anchors, solved.residual, solved.steps, start)


def solve_by_learning(
    game: NormalFormGame,
    algorithm: Algorithm,
    iterations: int,
    *,
    anchors: Anchors = None,
    feedback: Feedback = "full",
    average: Average | None = None,
    seed: int = 0,
    reports: int = 1,
) -> Iterator[Solution]:
    """Minimise regret in self-play; yield `reports` solutions, the last one final.

    `average` defaults to the one that converges: the last iterate for MMD, else the uniform
    average.
    """
    if iterations < 1:
        raise InputError(f"iterations: at least 1, not {iterations}")
    start = time.perf_counter()
    if average is None:
        average = "last" if isinstance(algorithm, MMD) else "uniform"
    checkpoints = sorted({-(-iterations * k // reports) for k in range(1, reports + 1)})
    for step in iterates(
        game,
        algorithm,
        anchors=anchors,
        feedback=feedback,
        average=average,
        checkpoints=checkpoints,
        seed=seed,
    ):
        error = None
        if isinstance(algorithm, DiLPiKL):
            mixture = step.current if average == "last" else step.average
            error = _typed_residual(game, algorithm, step.type_policies, mixture, anchors)
        elif not isinstance(algorithm, RegretMatching | Hedge):
            lams = check_lambdas(algorithm.lam, game.num_players)
            taus = check_anchors(anchors, game.num_actions)
            error = residual(game, step.policies, taus, lams) if (lams > 0.0).all() else None
        yield _solution(game, step.policies, anchors, error, step.iteration, start)


def _solution(
    game: NormalFormGame,
    policies: list[Array],
    anchors: Anchors,
    error: float | None,
    iterations: int,
    start: float,
) -> Solution:
    taus = check_anchors(anchors, game.num_actions)
    return Solution(
        policies=policies,
        values=game.action_values(policies),
        exploitability=exploitability(game, policies),
        kl_to_anchor=[float(kl_divergence(p, tau)) for p, tau in zip(policies, taus, strict=True)],
        residual=error,
        iterations=iterations,
        seconds=time.perf_counter() - start,
    )


def _typed_residual(
    game: NormalFormGame,
    algorithm: DiLPiKL,
    policies: Sequence[Sequence[Array]],
    mixture: Sequence[Array],
    anchors: Anchors,
) -> float | None:
    """Return max |π − F(π)| over all types, each against the others' mixtures."""
    if min(algorithm.lambdas) <= 0.0:
        return None
    taus = check_anchors(anchors, game.num_actions)
    worst = 0.0
    for tau, values, kinds in zip(taus, game.action_values(mixture), policies, strict=True):
        for lam, policy in zip(algorithm.lambdas, kinds, strict=True):
            worst = max(worst, float(np.abs(policy - forward_kl(tau, values, lam)).max()))
    return worst

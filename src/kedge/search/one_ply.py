"""One-ply search: regret minimisation over a few candidate actions of every player.

Each iteration draws one joint action from the players' current policies, and every candidate of
every player is valued against it (Algorithm 1). Many roots run in lockstep, so that one call of the
value function serves them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.search.regret.algorithms import (
    LAMBDA,
    Adaptive,
    Algorithm,
    DiLPiKL,
    Hedge,
    PiKLHedge,
    RegretMatching,
    Weighting,
)
from kedge.search.regret.iterate import Iterate, snapshots
from kedge.search.regret.learner import Average, Engine, Learner, make_learner
from kedge.search.regret.parameters import Anchors, Seat, check_word, is_adaptive, make_seats
from kedge.search.regret.utilities import Oracle, Source

#: Whose settings a search can have: the paper's, or those of its authors' released code.
PRESETS = ("paper", "authors")


@dataclass(frozen=True)
class OnePly:
    """Settings of the search. It returns the average policy or, with "last", the final iterate."""

    algorithm: Algorithm
    iterations: int = 512
    average: Average = "uniform"
    hopeless: float = 0.0
    """A player plays its anchor if no action has a higher average value than this."""
    patience: int = 64
    """Iterations before `hopeless` applies."""

    def __post_init__(self) -> None:
        if not isinstance(self.iterations, int) or self.iterations < 1:
            raise InputError(f"iterations: a whole number, at least 1, not {self.iterations}")

    @classmethod
    def preset(
        cls,
        name: str,
        algorithm: str,
        iterations: int = 512,
        *,
        lam: float = LAMBDA,
        lambdas: Sequence[float] = DiLPiKL.lambdas,
    ) -> "OnePly":
        """Return the settings of the "paper", or of its "authors", for one algorithm.

        Algorithms are rm, hedge, pikl-hedge and dil-pikl. The authors' released code uses linear
        weighting, optimistic RM that gives up in hopeless positions, and the final iterate.
        """
        check_word("preset", name, PRESETS)
        released = name == "authors"
        weighting: Weighting = "linear" if released else "uniform"
        step = Adaptive()  # η = c/(σ√t), c = 10/3 (appendix H)
        algorithms: dict[str, Algorithm] = {
            "rm": RegretMatching.released() if released else RegretMatching(),
            "hedge": Hedge(step, weighting),
            "pikl-hedge": PiKLHedge.released(lam) if released else PiKLHedge(lam, step),
            "dil-pikl": DiLPiKL(lambdas, eta=step, weighting=weighting),
        }
        check_word("algorithm", algorithm, tuple(algorithms))
        hopeless = 0.02 if released and algorithm == "rm" else 0.0
        return cls(algorithms[algorithm], iterations, "last" if released else "uniform", hopeless)


def search(
    roots: Oracle,
    anchors: Sequence[Anchors],
    settings: OnePly,
    seeds: Sequence[int | np.random.SeedSequence | np.random.Generator],
    engine: Engine = "native",
) -> list[Iterate]:
    """Return the final iterate of every root, each with its own seed.

    ``policies`` of an iterate are the policies to play, ``q`` the values of the candidates. A
    player without candidates takes no part.
    """
    source = Source(roots)
    algorithm, average = settings.algorithm, settings.average
    seats = make_seats(algorithm, source, anchors)
    learner = make_learner(algorithm, seats, average, is_adaptive(algorithm, source), engine)
    anchored = None
    if settings.hopeless:  # at λ = ∞ a learner always plays the anchor
        anchor = PiKLHedge(inf, 1.0)
        anchored_seats = make_seats(anchor, source, anchors)
        anchored = make_learner(anchor, anchored_seats, average, False, engine)
    generators = [np.random.default_rng(seed) for seed in seeds]
    draws = [
        rng.random((settings.iterations, len(game)))
        for rng, game in zip(generators, seats, strict=True)
    ]
    lost = np.zeros(sum(map(len, seats)), bool)
    for uniforms in np.concatenate(draws, axis=1):
        sampled = learner.sample(uniforms)
        if anchored is not None and lost.any():
            sampled = np.where(lost, anchored.sample(uniforms), sampled)
        learner.observe(source.against(sampled))
        if anchored is not None and learner.iterations >= settings.patience:
            lost = _lost(learner, seats, settings.hopeless)
    finals = snapshots(learner, seats, average, False, False, [False] * len(seats))
    given_up = iter(lost)
    return [
        replace(
            final,
            policies=[
                seat.tau if next(given_up) else policy
                for seat, policy in zip(game, final.policies, strict=True)
            ],
        )
        for final, game in zip(finals, seats, strict=True)
    ]


def _lost(learner: Learner, seats: list[list[Seat]], hopeless: float) -> npt.NDArray[np.bool_]:
    """Return which players have no action that averages `hopeless` or more."""
    counts = np.array([len(seat.tau) for game in seats for seat in game])
    best = np.zeros(len(counts))
    alive = counts > 0
    first = np.cumsum(counts) - counts
    best[alive] = np.maximum.reduceat(learner.cumulative() / learner.weight, first[alive])
    return alive & (best < hopeless)

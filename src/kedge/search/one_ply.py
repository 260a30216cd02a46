"""One-ply search: regret minimisation over a few candidate actions of every player.

Each iteration draws one joint action from the players' current policies, and every candidate of
every player is valued against it (Algorithm 1). Many roots run in lockstep, so that one call of the
value function serves them all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array
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
from kedge.search.regret.parameters import (
    Anchors,
    Counts,
    Seat,
    check_word,
    is_adaptive,
    make_seats,
)
from kedge.search.regret.utilities import Actions, Oracle, Source

#: Named settings of searches: the paper's, or those of its authors' released code.
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


class OnePlySearch:
    """A search of many roots in lockstep, each with its own seed; the caller values its draws.

    ::

        for sampled in searching.samples():
            searching.observe(utilities(sampled))
        finals = searching.finals()

    A player without candidates takes no part.

    Parameters
    ----------
    num_actions : (roots, players)
        Number of candidates of each player.
    anchors
        The anchor policies of each root.
    """

    def __init__(
        self,
        num_actions: Counts,
        anchors: Sequence[Anchors],
        settings: OnePly,
        seeds: Sequence[int | np.random.SeedSequence | np.random.Generator],
        engine: Engine = "native",
        ranges: Sequence[Array] | None = None,
    ) -> None:
        algorithm, average = settings.algorithm, settings.average
        self._settings, self._seeds = settings, seeds
        self._seats = make_seats(algorithm, num_actions, ranges, anchors)
        adaptive = is_adaptive(algorithm, ranges is not None)
        self._learner = make_learner(algorithm, self._seats, average, adaptive, engine)
        self._anchored = None
        if settings.hopeless:  # at λ = ∞ a learner always plays the anchor
            anchor = PiKLHedge(inf, 1.0)
            anchored_seats = make_seats(anchor, num_actions, ranges, anchors)
            self._anchored = make_learner(anchor, anchored_seats, average, False, engine)
        self._lost = np.zeros(sum(map(len, self._seats)), bool)

    def samples(self) -> Iterator[Actions]:
        """Yield the joint actions of each iteration, root by root, −1 for players who are out."""
        draws = [
            np.random.default_rng(seed).random((self._settings.iterations, len(root)))
            for seed, root in zip(self._seeds, self._seats, strict=True)
        ]
        for uniforms in np.concatenate(draws, axis=1):
            sampled = self._learner.sample(uniforms)
            if self._anchored is not None and self._lost.any():
                sampled = np.where(self._lost, self._anchored.sample(uniforms), sampled)
            yield sampled

    def observe(self, utilities: Array) -> None:
        """Learn from u_i(a, a*_−i), flat: root by root and player by player."""
        try:
            self._learner.observe(utilities)
        except ValueError as error:
            raise InputError(str(error)) from None
        if self._anchored is not None and self._learner.iterations >= self._settings.patience:
            self._lost = _lost(self._learner, self._seats, self._settings.hopeless)

    def finals(self) -> list[Iterate]:
        """Return the iterate of every root.

        ``policies`` of an iterate are the policies to play, ``q`` the values of the candidates.
        """
        average, seats = self._settings.average, self._seats
        finals = snapshots(self._learner, seats, average, False, False, [False] * len(seats))
        if self._anchored is None:
            return finals
        given_up = iter(self._lost)
        return [
            replace(
                final,
                policies=[
                    seat.tau if next(given_up) else policy
                    for seat, policy in zip(root, final.policies, strict=True)
                ],
            )
            for final, root in zip(finals, seats, strict=True)
        ]


def search(
    roots: Oracle,
    anchors: Sequence[Anchors],
    settings: OnePly,
    seeds: Sequence[int | np.random.SeedSequence | np.random.Generator],
    engine: Engine = "native",
) -> list[Iterate]:
    """Return the final iterate of every root of an oracle: see `OnePlySearch`."""
    source = Source(roots)
    searching = OnePlySearch(source.actions, anchors, settings, seeds, engine, source.ranges)
    for sampled in searching.samples():
        searching.observe(source.against(sampled))
    return searching.finals()


def _lost(learner: Learner, seats: list[list[Seat]], hopeless: float) -> npt.NDArray[np.bool_]:
    """Return which players have no action that averages `hopeless` or more."""
    counts = np.array([len(seat.tau) for game in seats for seat in game])
    best = np.zeros(len(counts))
    alive = counts > 0
    first = np.cumsum(counts) - counts
    best[alive] = np.maximum.reduceat(learner.cumulative() / learner.weight, first[alive])
    return alive & (best < hopeless)

"""Solvers: regret minimisers in self-play, for one game or a batch of independent games.

A solver is a generator of :class:`Iterate`: watch it converge, stop when satisfied.

>>> from kedge.games.normal_form import rock_paper_scissors
>>> game = rock_paper_scissors()
>>> for iterate in iterates(game, PiKLHedge(lam=0.1), anchors=[[0.5, 0.3, 0.2]] * 2, every=500):
...     if iterate.regret.max() / iterate.iteration < 1e-3:
...         break
>>> iterate.policies[0].round(2)
array([0.33, 0.36, 0.31])
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from math import inf, nan
from typing import Any, Literal, Protocol, get_args

import numpy as np

from kedge import _core
from kedge.errors import InputError
from kedge.regularize import Array, forward_kl, kl_divergence
from kedge.search.regret import bounds
from kedge.search.regret.algorithms import (
    MMD,
    Algorithm,
    DiLPiKL,
    PiKLHedge,
    RegretMatching,
)
from kedge.search.regret.parameters import Anchors, Seat, check_word, is_adaptive, make_seats
from kedge.search.regret.plain import PlainLearner
from kedge.search.regret.utilities import Game, Games, Oracle, Source, split

Feedback = Literal["full", "sampled"]
Average = Literal["uniform", "linear", "last"]
Engine = Literal["native", "python"]

_SLICE = 2e8  # numbers touched between two checks for Ctrl-C: about a tenth of a second


class Learner(Protocol):
    """The interface of the native learner and of its plain-Python twin."""

    def run(
        self, source: _core.Utilities, count: int, uniforms: Array | None, threads: int = 0
    ) -> None: ...
    def sample(self, uniforms: Array) -> "np.typing.NDArray[np.int64]": ...
    def observe(self, utilities: Array) -> None: ...
    @property
    def iterations(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def average_weight(self) -> float: ...
    def current(self) -> Array: ...
    def average_sum(self) -> Array: ...
    def earned(self) -> Array: ...
    def divergence(self) -> Array: ...
    def cumulative(self) -> Array: ...


@dataclass(frozen=True)
class _Totals:
    """A player's utilities, earnings and divergence, summed over the iterations."""

    values: Array  # CV
    weight: float
    earned: float
    divergence: float


@dataclass(frozen=True)
class Iterate:
    """The state of the players of one game after some iterations.

    Lists have one entry per player; players without actions have empty policies.
    """

    iteration: int
    policies: list[Array]
    """The solver's answer: the average or, with ``average="last"``, the current policies."""
    average: list[Array]
    """π̄^T (Eq. 7), with the chosen weighting; mixtures if players have types."""
    current: list[Array]
    """The next policies; mixtures if players have types."""
    type_policies: list[list[Array]]
    """The answer of each type of each player, in the order of their λs."""

    _seats: list[Seat] = field(repr=False)
    _totals: list["_Totals"] = field(repr=False)
    _proved: bool = field(repr=False)  # piKL-Hedge as in Proposition 1
    _uniform: bool = field(repr=False)  # one type each, all iterations with the same weight
    _zero_sum: bool = field(repr=False)

    @cached_property
    def q(self) -> list[Array]:
        """The average value of each action of each player against the others' play."""
        return [totals.values / max(totals.weight, 1.0) for totals in self._totals]

    @cached_property
    def regret(self) -> Array:
        """R_i^T against the regularised utilities (Proposition 1); the lowest-λ type's."""
        pairs = zip(self._seats, self._totals, strict=True)
        return np.array([_regret(seat, totals) for seat, totals in pairs])

    @cached_property
    def kl_to_anchor(self) -> Array:
        """KL(π‖τ) of each player's answer, in nats."""
        pairs = zip(self.policies, self._seats, strict=True)
        return np.array([float(kl_divergence(policy, seat.tau)) for policy, seat in pairs])

    @cached_property
    def regret_bound(self) -> Array:
        """Proposition 1's bound on ``regret``; NaN where it is not proved.

        Proved for piKL-Hedge with t − 1 indexing, uniform weighting and constant
        0 < η ≤ 1/(λβ + 2D), λ > 0.
        """
        return np.array(
            [bounds.regret(self.iteration, seat) if self._proved else nan for seat in self._seats]
        )

    @cached_property
    def kl_bound(self) -> Array:
        """Theorem 1: KL(π̄^T‖τ) ≤ (R^T/T + D)/λ, with the measured regret.

        For the uniform average of any algorithm; ∞ at λ = 0, NaN with another average,
        weighting or several types.
        """
        pairs = zip(self.regret, self._seats, strict=True)
        return np.array(
            [
                bounds.distance(self.iteration, regret, seat) if self._uniform else nan
                for regret, seat in pairs
            ]
        )

    @cached_property
    def nash_bound(self) -> float:
        """Theorem 2: in the limit max λ_i·β_i bounds each player's exploitability.

        ∞ if some τ(a) = 0; NaN unless the game is a payoff tensor of two players, zero-sum.
        """
        if not (self._zero_sum and self._uniform):
            return nan
        return bounds.exploitability_bound(self._seats)

    def xi(self, delta: float) -> float:
        """Proposition 2: with probability 1 − δ, π̄^T is a ξ^T(δ)-equilibrium (regularised).

        NaN unless the game is a payoff tensor of two players, zero-sum, and π̄^T the uniform
        average.
        """
        if not (self._zero_sum and self._uniform):
            return nan
        return bounds.xi(self.iteration, self.regret, self._seats, delta)


def iterates(
    game: Game,
    algorithm: Algorithm,
    *,
    anchors: Anchors = None,
    feedback: Feedback = "full",
    average: Average = "uniform",
    every: int = 1000,
    checkpoints: Iterable[int] | None = None,
    seed: int | np.random.SeedSequence = 0,
    threads: int = 0,
    engine: Engine = "native",
) -> Iterator[Iterate]:
    """Run `algorithm` for all players of `game` against each other, until the caller stops.

    Parameters
    ----------
    game
        A payoff tensor of shape (players, actions of player 0, …), anything with such
        ``payoffs``, or an :class:`Oracle` of one game.
    anchors
        One policy τ_i per player; uniform if not given.
    feedback
        "full": utilities in expectation over the others' policies (payoff tensors only).
        "sampled": against one joint action drawn from them, as in Algorithm 1.
    average
        The policies of the answer: Eq. 7's "uniform" average, a "linear" one in which iteration
        t counts t times, or the "last" iterate.
    every, checkpoints
        Yield after every `every` iterations, without end; or at these iterations, then stop.
    seed
        All randomness comes from it; it does not depend on `threads`.
    threads
        0 uses every core.
    engine
        "python" runs the plain twin that specifies the native core.
    """
    games: Games = game if isinstance(game, Oracle | _core.Utilities) else [game]
    for batch in batch_iterates(
        games,
        algorithm,
        anchors=[anchors],
        feedback=feedback,
        average=average,
        every=every,
        checkpoints=checkpoints,
        seeds=[seed],
        threads=threads,
        engine=engine,
    ):
        yield batch[0]


def solve(game: Game, algorithm: Algorithm, iterations: int = 10_000, **options: Any) -> Iterate:
    """Return the iterate after `iterations`; the options are those of :func:`iterates`."""
    return next(iterates(game, algorithm, checkpoints=[iterations], **options))


def batch_iterates(
    games: Games,
    algorithm: Algorithm,
    *,
    anchors: Sequence[Anchors] | None = None,
    feedback: Feedback = "full",
    average: Average = "uniform",
    every: int = 1000,
    checkpoints: Iterable[int] | None = None,
    seeds: Sequence[int | np.random.SeedSequence] | None = None,
    threads: int = 0,
    engine: Engine = "native",
) -> Iterator[list[Iterate]]:
    """:func:`iterates` for a batch of independent games, ragged in actions and players.

    `games` is a sequence of payoff tensors, or one :class:`Oracle` that is asked for all games in
    one call. λ may have the shape (games, players). Each game has its own seed, so that its
    answer does not depend on what else is in the batch.
    """
    for name, value, known in (
        ("feedback", feedback, Feedback),
        ("average", average, Average),
        ("engine", engine, Engine),
    ):
        check_word(name, value, get_args(known))
    if checkpoints is None and not (isinstance(every, int) and every >= 1):
        raise InputError(f"every: a whole number, at least 1, not {every}")
    if not (isinstance(threads, int) and threads >= 0):
        raise InputError(f"threads: a whole number, 0 for every core, not {threads}")
    source = Source(games)
    seats = make_seats(algorithm, source, anchors)
    if feedback == "full" and not source.has_expected:
        raise InputError("feedback: full feedback needs payoff tensors; use sampled")
    zero_sum = [source.is_zero_sum(game) for game in range(len(seats))]
    weighting = getattr(algorithm, "weighting", "uniform")
    uniform = (average, weighting) == ("uniform", "uniform") and not isinstance(algorithm, DiLPiKL)
    adaptive = is_adaptive(algorithm, source)
    proved = (
        uniform
        and isinstance(algorithm, PiKLHedge)
        and algorithm.indexing == "t-1"
        and not adaptive
    )
    learner = make_learner(algorithm, seats, average, adaptive, engine)
    if seeds is None:
        seeds = list(np.random.SeedSequence(0).spawn(len(seats)))
    if len(seeds) != len(seats):
        raise InputError(f"seeds: {len(seeds)} for {len(seats)} games")
    try:
        generators = [np.random.default_rng(seed) for seed in seeds]
    except (TypeError, ValueError):
        raise InputError("seed: a whole number that is at least 0") from None
    if feedback == "full":
        generators = []
    for target in checkpoints if checkpoints is not None else count(every, every):
        if not isinstance(target, int | np.integer) or not learner.iterations <= target < 2**62:
            raise InputError(f"checkpoints: must ascend; {target} comes after {learner.iterations}")
        _advance(learner, source, target - learner.iterations, generators, threads)
        yield snapshots(learner, seats, average, proved, uniform, zero_sum)


def make_learner(
    algorithm: Algorithm,
    seats: list[list[Seat]],
    average: Average,
    adaptive: bool,
    engine: Engine = "native",
) -> Learner:
    """Return the learner of all seats; `adaptive` comes from :func:`is_adaptive`."""
    make: Callable[..., Learner] = _core.Learner if engine == "native" else PlainLearner
    return make(**_settings(algorithm, seats, average, adaptive))


def _settings(
    algorithm: Algorithm, seats: list[list[Seat]], average: Average, adaptive: bool
) -> dict[str, Any]:
    everyone = [seat for game in seats for seat in game]
    types = [kind for seat in everyone for kind in seat.types]
    matching = algorithm if isinstance(algorithm, RegretMatching) else None
    return {
        "rule": "regret-matching"
        if matching
        else "mirror-descent"
        if isinstance(algorithm, MMD)
        else "hedge",
        "adaptive": adaptive,
        "anchor_first": getattr(algorithm, "indexing", "t-1") == "t",
        "linear_weighting": getattr(algorithm, "weighting", "uniform") == "linear",
        "linear_average": average == "linear",
        "plus": matching is not None and matching.plus,
        "optimistic": matching is not None and matching.optimistic,
        "largest": matching is not None and matching.fallback == "largest",
        "actions": [[len(seat.tau) for seat in game] for game in seats],
        "tau": np.concatenate([seat.tau for seat in everyone]),
        "types": [len(seat.types) for seat in everyone],
        "lam": np.array([kind.lam for kind in types]),
        "share": np.array([kind.share for kind in types]),
        "eta": np.array([kind.eta for kind in types]),
        "decay": np.array([kind.decay for kind in types]),
    }


def _advance(
    learner: Learner,
    source: Source,
    iterations: int,
    generators: list[np.random.Generator],
    threads: int,
) -> None:
    """Run `iterations` more, in slices so that Python can be interrupted."""
    players = sum(len(counts) for counts in source.actions)
    step = max(1, int(_SLICE / (source.work + 100 * players)))
    while iterations > 0:
        now = min(step, iterations)
        iterations -= now
        draws = [
            rng.random((now, len(counts)))
            for rng, counts in zip(generators, source.actions, strict=False)
        ]
        if source.native is not None:
            uniforms = np.concatenate([drawn.ravel() for drawn in draws]) if draws else None
            learner.run(source.native, now, uniforms, threads)
        else:
            for uniform in np.concatenate(draws, axis=1):
                learner.observe(source.against(learner.sample(uniform)))


def snapshots(
    learner: Learner,
    seats: list[list[Seat]],
    average: Average,
    proved: bool,
    uniform: bool,
    zero_sum: list[bool],
) -> list[Iterate]:
    """Return the current iterate of every game."""
    total = learner.iterations
    sizes = [len(seat.tau) for game in seats for seat in game for _ in seat.types]
    current = split(learner.current(), sizes)
    averages = split(learner.average_sum() / max(learner.average_weight, 1.0), sizes)
    totals = split(learner.cumulative(), [len(seat.tau) for game in seats for seat in game])
    earned, paid = iter(learner.earned()), iter(learner.divergence())
    snapshots = []
    for game, is_zero_sum in zip(seats, zero_sum, strict=True):
        now: list[list[Array]] = []
        mean: list[list[Array]] = []
        sums = []
        for seat in game:
            now.append([next(current) for _ in seat.types])
            mean.append([next(averages) for _ in seat.types])
            types = [(next(earned), next(paid)) for _ in seat.types]
            sums.append(
                _Totals(next(totals), learner.weight, *(types or [(0.0, 0.0)])[_lowest(seat)])
            )
        answer = now if average == "last" or total == 0 else mean
        mixed_now = [_mix(seat, kinds) for seat, kinds in zip(game, now, strict=True)]
        mixed_mean = [_mix(seat, kinds) for seat, kinds in zip(game, mean, strict=True)]
        snapshots.append(
            Iterate(
                iteration=total,
                policies=[
                    kinds[_lowest(seat)] if kinds else np.zeros(0)
                    for seat, kinds in zip(game, answer, strict=True)
                ],
                average=mixed_mean,
                current=mixed_now,
                type_policies=answer,
                _seats=game,
                _totals=sums,
                _proved=proved,
                _uniform=uniform,
                _zero_sum=is_zero_sum,
            )
        )
    return snapshots


def _lowest(seat: Seat) -> int:
    """Return the type with the lowest λ, as which a player acts."""
    return min(range(len(seat.types)), key=lambda kind: seat.types[kind].lam, default=0)


def _mix(seat: Seat, policies: list[Array]) -> Array:
    mixed = np.zeros(len(seat.tau))
    for kind, policy in zip(seat.types, policies, strict=True):
        mixed += kind.share * policy
    return mixed


def _regret(seat: Seat, totals: _Totals) -> float:
    """R^T = max over π* of [CV·π* − TλKL(π*‖τ)] − Σ_t [u^t·π^t − λKL(π^t‖τ)]."""
    if not seat.types or totals.weight == 0.0:
        return 0.0
    values, weight, lam = totals.values, totals.weight, seat.types[_lowest(seat)].lam
    if lam == 0.0:
        return float(values.max()) - totals.earned
    if lam == inf:
        return float(values @ seat.tau) - totals.earned
    best = forward_kl(seat.tau, values / weight, lam)
    most = float(values @ best) - weight * lam * float(kl_divergence(best, seat.tau))
    return most - (totals.earned - lam * totals.divergence)

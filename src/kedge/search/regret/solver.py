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

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Literal, get_args

import numpy as np

from kedge import _core
from kedge.errors import InputError
from kedge.search.regret.algorithms import Algorithm, DiLPiKL, PiKLHedge
from kedge.search.regret.iterate import Iterate, snapshots
from kedge.search.regret.learner import Average, Engine, Learner, make_learner
from kedge.search.regret.parameters import Anchors, check_word, is_adaptive, make_seats
from kedge.search.regret.utilities import Game, Games, Oracle, Source

Feedback = Literal["full", "sampled"]

_SLICE = 2e8  # numbers touched between two checks for Ctrl-C: about a tenth of a second


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
    seats = make_seats(algorithm, source.actions, source.ranges, anchors)
    if feedback == "full" and not source.has_expected:
        raise InputError("feedback: full feedback needs payoff tensors; use sampled")
    zero_sum = [source.is_zero_sum(game) for game in range(len(seats))]
    weighting = getattr(algorithm, "weighting", "uniform")
    uniform = (average, weighting) == ("uniform", "uniform") and not isinstance(algorithm, DiLPiKL)
    adaptive = is_adaptive(algorithm, source.ranges is not None)
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

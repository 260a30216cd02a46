"""Learners: the state of an algorithm for all players of a batch of games."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np

from kedge import _core
from kedge.regularize import Array
from kedge.search.regret.algorithms import MMD, Algorithm, RegretMatching
from kedge.search.regret.parameters import Seat
from kedge.search.regret.plain import PlainLearner

Average = Literal["uniform", "linear", "last"]
Engine = Literal["native", "python"]


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

"""The regret minimisers as data: the algorithm and its parameters.

:mod:`kedge.search.regret.plain` specifies the update of each one; the native core does the same,
faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kedge.errors import InputError
from kedge.specs import suggest

#: One number for all players, or one per player.
PerPlayer: TypeAlias = float | Sequence[float]

LAMBDA = 0.1  # default of λ

Weighting: TypeAlias = Literal["uniform", "linear"]


@dataclass(frozen=True)
class Constant:
    """The same η at every iteration; one for all players, or one per player."""

    eta: PerPlayer


@dataclass(frozen=True)
class Theory:
    """η_i = 1/(λ_i·β_i + 2·D_i), the largest constant of Proposition 1.

    Needs the range D_i of player i's utilities, so a payoff tensor; β_i = max over τ's support of
    log(1/τ). With λ = 0 nothing anchors the players and a constant η keeps them circling: there
    the classical decreasing η_t = √(8·log|A|/t)/D takes its place.
    """


@dataclass(frozen=True)
class Adaptive:
    """η_t = c/(σ√t), σ the standard deviation of the player's utilities (appendix H)."""

    c: float = 10.0 / 3.0


StepSize: TypeAlias = Constant | Theory | Adaptive
#: The values of ``eta``: a number is `Constant`; None is `Theory` if the range of utilities is
#: known (a payoff tensor) and `Adaptive` otherwise.
Eta: TypeAlias = StepSize | PerPlayer | None


@dataclass(frozen=True)
class RegretMatching:
    """π ∝ max(R, 0), the regrets R of Eq. 4 (Hart and Mas-Colell 2000); anchors are ignored.

    ``plus`` forgets negative regrets (RM+); ``optimistic`` counts the last regret twice;
    ``fallback`` is the policy when no regret is positive.
    """

    plus: bool = False
    optimistic: bool = False
    weighting: Weighting = "uniform"
    fallback: Literal["uniform", "largest"] = "uniform"

    @classmethod
    def released(cls) -> "RegretMatching":
        """Settings of the authors' released Diplomacy code."""
        return cls(optimistic=True, weighting="linear", fallback="largest")


@dataclass(frozen=True)
class PiKLHedge:
    """piKL-Hedge, Algorithm 1: π^t ∝ exp{(η·CV + tλη·log τ)/(1 + tλη)} (Eq. 6).

    ``indexing="t-1"`` weighs the anchor by t − 1 instead, as the proofs do: the first iterate is
    then uniform. ``weighting="linear"`` lets iteration t count t times in CV. λ = 0 is Hedge.
    """

    lam: PerPlayer = LAMBDA
    eta: Eta = None
    indexing: Literal["t", "t-1"] = "t"
    weighting: Weighting = "uniform"

    @classmethod
    def released(cls, lam: PerPlayer) -> "PiKLHedge":
        """Settings of the authors' released Diplomacy code, which also plays the last iterate."""
        return cls(lam, eta=Adaptive(), indexing="t-1", weighting="linear")


@dataclass(frozen=True)
class Hedge:
    """π ∝ exp(η·CV): piKL-Hedge without an anchor (Eq. 3)."""

    eta: Eta = None
    weighting: Weighting = "uniform"


@dataclass(frozen=True)
class DiLPiKL:
    """DiL-piKL: every player is one of several types, each with its own λ.

    All types of a player learn from the same utilities; the others meet type k with probability
    ``shares[k]`` (equal when not given). A player acts as its type of the lowest λ and is
    predicted as the mixture.
    """

    lambdas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1)
    shares: Sequence[float] | None = None
    eta: Eta = None
    indexing: Literal["t", "t-1"] = "t-1"
    weighting: Weighting = "uniform"


@dataclass(frozen=True)
class MMD:
    """Magnetic mirror descent: π' ∝ [π·τ^(ηλ)·exp(ηu)]^(1/(1+ηλ)), whose last iterate converges.

    Without ``eta`` the step is safe: η = min λ/L², L = (n − 1)·max D/2 the Lipschitz constant of
    the utilities. Needs λ > 0 then.
    """

    lam: PerPlayer = LAMBDA
    eta: float | None = None


Algorithm: TypeAlias = RegretMatching | Hedge | PiKLHedge | DiLPiKL | MMD


def by_name(
    name: str,
    *,
    lam: PerPlayer | None = None,
    lambdas: Sequence[float] | None = None,
    eta: StepSize | None = None,
) -> Algorithm:
    """Return the algorithm `name`; an option that it does not have is an error.

    >>> by_name("pikl-hedge", lam=0.1)
    PiKLHedge(lam=0.1, eta=None, indexing='t', weighting='uniform')
    """
    options = {"lambda": lam, "lambda types": lambdas, "eta": eta}
    takes = {
        "pikl-hedge": ("lambda", "eta"),
        "hedge": ("eta",),
        "rm": (),
        "rm+": (),
        "mmd": ("lambda", "eta"),
        "dil-pikl": ("lambda types", "eta"),
    }
    if name not in takes:
        raise InputError(f"unknown algorithm {name!r}; {suggest(name, sorted(takes))}")
    for option, value in options.items():
        if value is not None and option not in takes[name]:
            raise InputError(f"{option}: {name} has no such option")
    lam = LAMBDA if lam is None else lam
    if name == "pikl-hedge":
        return PiKLHedge(lam, eta)
    if name == "hedge":
        return Hedge(eta)
    if name == "mmd":
        if eta is not None and not (isinstance(eta, Constant) and isinstance(eta.eta, float)):
            raise InputError("eta: mmd takes one number")
        return MMD(lam, eta.eta if isinstance(eta, Constant) else None)  # type: ignore[arg-type]
    if name == "dil-pikl":
        return DiLPiKL(eta=eta) if lambdas is None else DiLPiKL(tuple(lambdas), eta=eta)
    return RegretMatching(plus=name == "rm+")

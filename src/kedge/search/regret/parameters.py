"""Compute the parameters of a learner from an algorithm and its games."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.regularize import Array, check_policy
from kedge.search.regret.algorithms import (
    MMD,
    Adaptive,
    Algorithm,
    Constant,
    DiLPiKL,
    Hedge,
    RegretMatching,
    StepSize,
    Theory,
)
from kedge.words import counted

#: One policy per player; None is uniform, for one player or for all.
Anchors = Sequence[npt.ArrayLike | None] | None
#: Number of actions of each player of each game.
Counts = Sequence[Sequence[int]] | npt.NDArray[np.int64]


@dataclass(frozen=True)
class Type:
    """One λ of one player, and its step size: η_t = eta·t^(−decay), or eta/(σ√t)."""

    lam: float
    share: float
    eta: float
    decay: float


@dataclass(frozen=True)
class Seat:
    """One player of one game."""

    tau: Array
    range: float  # D_i; NaN if unknown
    types: tuple[Type, ...]

    @property
    def support(self) -> int:
        return int((self.tau > 0.0).sum())

    @property
    def beta(self) -> float:
        """β_i = max over τ's support of log(1/τ) (Eq. 8)."""
        return -log(self.tau[self.tau > 0.0].min()) if len(self.tau) else 0.0


def make_seats(
    algorithm: Algorithm,
    actions: Counts,
    all_ranges: Sequence[Array] | None,
    anchors: Sequence[Anchors] | None,
) -> list[list[Seat]]:
    """Return the seats of every game, after checking the algorithm and the anchors.

    `actions` has the players' numbers of actions, `all_ranges` the ranges of their utilities if
    they are known.
    """
    if not isinstance(algorithm, get_args(Algorithm)):
        raise InputError(f"algorithm: expected one such as PiKLHedge(lam=0.1), not {algorithm!r}")
    check_word("indexing", getattr(algorithm, "indexing", "t"), ("t", "t-1"))
    check_word("weighting", getattr(algorithm, "weighting", "uniform"), ("uniform", "linear"))
    check_word("fallback", getattr(algorithm, "fallback", "uniform"), ("uniform", "largest"))
    if anchors is None:
        anchors = [None] * len(actions)
    if len(anchors) != len(actions):
        raise InputError(f"anchors: {len(anchors)} for {len(actions)} games")
    seats = []
    for game, counts in enumerate(actions):
        taus = check_anchors(anchors[game], counts)
        ranges = all_ranges[game] if all_ranges is not None else [np.nan] * len(counts)
        lams = _lambdas(algorithm, game, len(actions), len(counts))
        lipschitz = (len(counts) - 1) * max(ranges, default=0.0) / 2.0
        seats.append(
            [
                _make_seat(algorithm, player, tau, float(ranges[player]), lams, lipschitz)
                for player, tau in enumerate(taus)
            ]
        )
    return seats


def check_anchors(anchors: Anchors, counts: Sequence[int]) -> list[Array]:
    """Return one policy per player over its actions; uniform if not given."""
    if anchors is None:
        anchors = [None] * len(counts)
    if len(anchors) != len(counts):
        given = counted(len(anchors), "policy", "policies")
        raise InputError(f"anchor: {given} for {counted(len(counts), 'player')}")
    taus = []
    for player, (anchor, count) in enumerate(zip(anchors, counts, strict=True)):
        if anchor is None or count == 0:
            tau = np.full(count, 1.0 / max(count, 1))
        else:
            tau = check_policy(anchor, f"anchor of player {player}")
        if tau.shape != (count,):
            raise InputError(
                f"anchor of player {player}: shape {tau.shape}, but the player has {count} actions"
            )
        taus.append(tau / tau.sum() if count else tau)
    return taus


def check_lambdas(value: npt.ArrayLike, players: int, what: str = "lambda") -> Array:
    """Return one λ per player, from one for all or one each."""
    array = per_player(value, players, what)
    if np.isnan(array).any() or (array < 0.0).any():
        raise InputError(f"{what}: must be at least 0, not {array.min():g}")
    return array


def per_player(value: npt.ArrayLike, players: int, what: str) -> Array:
    """Return one number per player, from one for all or one each."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected a number, or one number per player") from None
    if array.ndim > 1 or array.size not in (1, players):
        raise InputError(f"{what}: {array.size} values for {players} players")
    return np.broadcast_to(array, (players,))


def _lambdas(algorithm: Algorithm, game: int, games: int, players: int) -> list[list[float]]:
    """The λs of each player's types."""
    if isinstance(algorithm, RegretMatching | Hedge):
        return [[0.0]] * players
    if isinstance(algorithm, DiLPiKL):
        if not algorithm.lambdas:
            raise InputError("lambda types: none given")
        return [check_lambdas(algorithm.lambdas, len(algorithm.lambdas)).tolist()] * players
    lam: Any = algorithm.lam
    if isinstance(lam, Sequence | np.ndarray) and not isinstance(lam, str):
        rows = list(lam)
        if len(rows) == games and all(np.ndim(row) == 1 for row in rows):  # one row per game
            lam = rows[game]
    return [[float(number)] for number in check_lambdas(lam, players)]


def _make_seat(
    algorithm: Algorithm,
    player: int,
    tau: Array,
    range_: float,
    lams: list[list[float]],
    lipschitz: float,
) -> Seat:
    bare = Seat(tau, range_, ())
    if not len(tau):
        return bare
    shares = _shares(algorithm, len(lams[player]))
    types = []
    for lam, share in zip(lams[player], shares, strict=True):
        eta, decay = 0.0, 0.0
        if isinstance(algorithm, MMD):
            slowest = min(min(types_lams) for types_lams in lams)
            eta = _safe_step(slowest, lipschitz) if algorithm.eta is None else algorithm.eta
        elif (chosen := chosen_step_size(algorithm, not np.isnan(range_))) is not None:
            eta, decay = _eta_and_decay(chosen, bare, lam, player, len(lams))
        if not 0.0 < eta < inf and not isinstance(algorithm, RegretMatching):
            raise InputError(f"eta: must be a positive number, not {eta:g}")
        types.append(Type(lam, share, eta, decay))
    return Seat(tau, range_, tuple(types))


def _shares(algorithm: Algorithm, types: int) -> list[float]:
    if not isinstance(algorithm, DiLPiKL) or algorithm.shares is None:
        return [1.0 / types] * types
    shares = check_policy(algorithm.shares, "shares of the lambda types")
    if shares.shape != (types,):
        raise InputError(f"shares of the lambda types: {shares.size} for {types} lambdas")
    return [float(share) for share in shares]


def chosen_step_size(algorithm: Algorithm, range_known: bool) -> StepSize | None:
    """Return the step size of `algorithm`, or the best default for its utilities.

    None for algorithms without a step size.
    """
    if isinstance(algorithm, RegretMatching | MMD):
        return None
    eta = algorithm.eta
    if eta is None:
        return Theory() if range_known else Adaptive()
    if isinstance(eta, Constant | Theory | Adaptive):
        return eta
    if isinstance(eta, str):
        raise InputError(f"eta: a number, Theory(), Adaptive() or Constant(…), not {eta!r}")
    return Constant(eta)


def is_adaptive(algorithm: Algorithm, range_known: bool) -> bool:
    """Whether η depends on the players' utilities so far."""
    return isinstance(chosen_step_size(algorithm, range_known), Adaptive)


def check_word(name: str, word: str, known: Sequence[str]) -> None:
    """Raise an `InputError` unless `word` is one of the `known` values of the option `name`."""
    if word not in known:
        raise InputError(f"{name}: one of {', '.join(known)}, not {word!r}")


def _eta_and_decay(
    chosen: StepSize, seat: Seat, lam: float, player: int, players: int
) -> tuple[float, float]:
    """(eta, decay) of one type."""
    if isinstance(chosen, Adaptive):
        return chosen.c, 0.0
    if isinstance(chosen, Constant):
        eta = float(per_player(chosen.eta, players, "eta")[player])
        if not eta > 0.0:
            raise InputError(f"eta: must be a positive number, not {eta:g}")
        return eta, 0.0
    if np.isnan(seat.range):
        raise InputError("eta: the theory's step size needs the range of the utilities")
    if lam == 0.0:
        steepness = sqrt(8.0 * log(len(seat.tau)))
        return (steepness / seat.range if steepness and seat.range else 1.0), 0.5
    slowest = lam * seat.beta + 2.0 * seat.range
    # λ = ∞ plays τ for any η, and a player with nothing to learn may use any η.
    return (1.0 / slowest if 0.0 < slowest < inf else 1.0), 0.0


def _safe_step(lam: float, lipschitz: float) -> float:
    """MMD's η ≤ λ/L², under which its last iterate converges in zero-sum games."""
    if np.isnan(lipschitz):
        raise InputError("eta: MMD's safe step size needs the range of the utilities")
    if lam == 0.0:
        raise InputError("eta: MMD has no safe step size for lambda 0; set eta")
    if lam == inf or lipschitz == 0.0:
        return 1.0
    return min(lam / lipschitz**2, 1e12 / lam)  # a larger step is already a best response

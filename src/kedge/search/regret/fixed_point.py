"""The regularised equilibrium: π_i ∝ τ_i·exp(u_i(·, π_−i)/λ_i) for every player at once.

With uniform anchors this is the quantal response equilibrium (McKelvey and Palfrey 1995). It is
found exactly, for small games, by following the principal branch: it starts at a λ so large that
everyone plays the anchor, and goes down to the requested λ.
The branch may fold back on its way (λ rises again for a while), so steps are taken along the arc,
not along λ. In two-player zero-sum games the equilibrium is unique; in others there may be more
than the one on the branch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.normal_form.game import payoff_ranges
from kedge.regularize import Array, forward_kl
from kedge.search.regret.parameters import Anchors, check_anchors, check_lambdas
from kedge.search.regret.utilities import HasPayoffs, payoffs_of

_MAX_STEPS = 5000
_CORRECTIONS = 12
_LARGEST = 2000  # actions of all players; a dense matrix of this size is solved


@dataclass(frozen=True)
class Equilibrium:
    """A solution of the fixed point. ``steps`` is the number of points on the branch."""

    policies: list[Array]
    residual: float
    steps: int


def qre(
    game: HasPayoffs | npt.ArrayLike, lam: npt.ArrayLike, *, anchors: Anchors = None
) -> Equilibrium:
    """Solve the regularised fixed point of a payoff tensor by Newton's method along the branch.

    Parameters
    ----------
    game
        A payoff tensor, or anything with ``payoffs``.
    lam
        λ > 0, one for all players or one each.
    anchors
        One policy per player; uniform if not given.

    >>> from kedge.games.normal_form import matching_pennies
    >>> qre(matching_pennies(), 0.5, anchors=[[0.6, 0.4], [0.5, 0.5]]).policies[0].round(4)
    array([0.5203, 0.4797])
    """
    payoffs = payoffs_of(game)
    counts = payoffs.shape[1:]
    lams = check_lambdas(lam, len(counts))
    taus = check_anchors(anchors, counts)
    if not (lams > 0.0).all():
        raise InputError("lambda: qre needs lambda > 0; at 0 there is no unique fixed point")
    if sum(counts) > _LARGEST:
        raise InputError(f"qre: {sum(counts)} actions, at most {_LARGEST}; use mmd or pikl-hedge")
    ranges = payoff_ranges(payoffs)
    # In units of the largest range, so that steps mean the same in every game.
    unit = float(ranges.max()) or 1.0
    branch = _Branch(payoffs / unit, taus, lams / unit)
    solution, steps = branch.follow()
    policies = branch.policies(solution[:-1], 0.0)
    answers = branch.answers(branch.action_values(policies), 0.0)
    residual = max(float(np.abs(p - a).max()) for p, a in zip(policies, answers, strict=True))
    return Equilibrium(policies, residual, steps)


class _Branch:
    """The curve H(y, s) = y − u(π(y, s)) = 0, where π_i ∝ τ_i·exp(y_i/(λ_i·e^s)).

    y holds the players' action values, which stay bounded however small λ gets; s falls from where
    everyone plays the anchor to 0, where λ is the requested one.
    """

    def __init__(self, payoffs: Array, taus: list[Array], lams: Array) -> None:
        self.payoffs = np.asarray(payoffs, np.float64)
        self.taus, self.lams = taus, lams
        self.cuts = np.cumsum([len(tau) for tau in taus])[:-1]

    def answers(self, values: Sequence[Array], s: float) -> list[Array]:
        scale = np.exp(s)
        triples = zip(self.taus, values, self.lams, strict=True)
        return [forward_kl(tau, value, lam * scale) for tau, value, lam in triples]

    def policies(self, y: Array, s: float) -> list[Array]:
        return self.answers(np.split(y, self.cuts), s)

    def action_values(self, policies: list[Array]) -> list[Array]:
        return [self._contract(i, policies, keep=(i,)) for i in range(len(policies))]

    def _contract(self, i: int, policies: list[Array], keep: tuple[int, ...]) -> Array:
        """Player i's payoffs, players not in `keep` averaged out; axes in the order of `keep`."""
        tensor: Array = self.payoffs[i]
        for j in reversed(range(len(policies))):
            if j not in keep:
                tensor = np.tensordot(tensor, policies[j], axes=(j, 0))
        return tensor if list(keep) == sorted(keep) else tensor.T

    def system(self, point: Array) -> tuple[Array, Array]:
        """H and its derivative (d rows, d + 1 columns) at `point` = (y, s)."""
        y, s = point[:-1], float(point[-1])
        policies = self.policies(y, s)
        values = np.split(y, self.cuts)
        temperatures = self.lams * np.exp(s)
        spreads = [  # dπ_j/dy_j
            np.zeros((len(p), len(p))) if t == inf else (np.diag(p) - np.outer(p, p)) / t
            for p, t in zip(policies, temperatures, strict=True)
        ]
        players = range(len(policies))
        rows = []
        for i in players:
            row = []
            for j in players:
                if i == j:
                    row.append(np.eye(len(policies[i])))
                else:
                    row.append(-self._contract(i, policies, keep=(i, j)) @ spreads[j])
            rows.append(np.hstack(row))
        jacobian = np.vstack(rows)
        # dπ_j/ds = −dπ_j/dy_j · y_j, so dH/ds follows from the blocks off the diagonal.
        along = -(jacobian - np.eye(len(y))) @ np.concatenate(values)
        residual = y - np.concatenate(self.action_values(policies))
        return residual, np.column_stack([jacobian, along])

    def follow(self) -> tuple[Array, int]:
        """Follow the branch from the anchor down to s = 0; return the point and the steps."""
        finite = self.lams[np.isfinite(self.lams)]
        start = max(0.0, float(np.log(20.0 / finite.min()))) if len(finite) else 0.0
        y = np.concatenate(self.action_values(self.taus))
        point = self._correct(np.append(y, start), fixed=True)
        if point is None:
            raise InputError("qre: no solution found near the anchor")
        tangent = self._tangent(point, np.append(np.zeros(len(y)), -1.0))
        stride = 0.1
        for step in range(_MAX_STEPS):
            if point[-1] <= 0.0:
                break
            # Never far past s = 0: aim at it once it is within reach.
            reach = -point[-1] / tangent[-1] if tangent[-1] < 0.0 else inf
            if reach <= stride:
                landing = self._correct(_with_last(point + reach * tangent, 0.0), fixed=True)
                if landing is not None:
                    return landing, step + 1
                stride /= 2.0
                continue
            ahead = self._correct(point + stride * tangent, tangent=tangent)
            turned = None if ahead is None else self._tangent(ahead, tangent)
            if ahead is None or turned is None or turned @ tangent < 0.9:
                stride /= 2.0
                if stride < 1e-9:
                    break
                continue
            point, tangent = ahead, turned
            stride = min(stride * 1.5, 2.0)
        else:
            step = _MAX_STEPS
        landing = self._correct(_with_last(point, 0.0), fixed=True) if point[-1] <= 0.0 else None
        if landing is None:
            raise InputError("qre: cannot follow the branch to this lambda; use mmd")
        return landing, step

    def _tangent(self, point: Array, before: Array) -> Array:
        """The unit direction of the curve, pointing on from `before`."""
        _, derivative = self.system(point)
        bordered = np.vstack([derivative, before])
        direction = np.linalg.solve(bordered, np.append(np.zeros(len(derivative)), 1.0))
        return np.asarray(direction / np.linalg.norm(direction))

    def _correct(
        self, guess: Array, *, fixed: bool = False, tangent: Array | None = None
    ) -> Array | None:
        """Return to the curve by Newton's method, at fixed s or across the tangent, or None."""
        across = np.append(np.zeros(len(guess) - 1), 1.0) if fixed else tangent
        assert across is not None
        point = guess.copy()
        last = inf
        for _ in range(_CORRECTIONS):
            residual, derivative = self.system(point)
            border = across @ (point - guess)
            try:
                step = np.linalg.solve(
                    np.vstack([derivative, across]), -np.append(residual, border)
                )
            except np.linalg.LinAlgError:
                return None
            point = point + step
            size = float(np.abs(step).max())
            if size < 1e-14 or (size < 1e-10 and size >= last):
                return point
            if not np.isfinite(size) or size > 1e3:
                return None
            last = size
        return point if last < 1e-10 else None


def _with_last(point: Array, last: float) -> Array:
    changed = point.copy()
    changed[-1] = last
    return changed

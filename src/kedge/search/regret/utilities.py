"""Sources of the solvers' utilities: payoff tensors, functions, or batched oracles."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.normal_form.game import check_payoffs, payoff_ranges
from kedge.regularize import Array

Actions = npt.NDArray[np.int64]


class HasPayoffs(Protocol):
    """A game given by its payoff tensor, of shape (players, actions of player 0, …)."""

    @property
    def payoffs(self) -> npt.NDArray[Any]: ...


@dataclass(frozen=True)
class Oracle:
    """Utilities of a batch of games too large to tabulate, computed for all games in one call.

    Parameters
    ----------
    num_actions : (games, players)
        Number of actions of each player; 0 for a player who is out of the game.
    utilities : function
        Takes sampled actions, shape (games, players), −1 for players who are out; returns
        u_i(a, a*_−i) for every action a of every player i: flat, game by game and player by
        player, or of shape (games, players, most actions). Entries beyond a player's own actions
        are ignored.
    ranges : (games, players), optional
        D_i, the range of each player's utilities, for step sizes and bounds that need it.
    """

    num_actions: npt.ArrayLike
    utilities: Callable[[Actions], npt.ArrayLike]
    ranges: npt.ArrayLike | None = None


#: One game, as input of a solver.
Game: TypeAlias = HasPayoffs | npt.ArrayLike | Oracle
#: A batch of games: tensors, one oracle for all, or native utilities.
Games: TypeAlias = Sequence[HasPayoffs | npt.ArrayLike] | Oracle | _core.Utilities


def oracle_from_function(
    function: Callable[[tuple[int, ...]], Sequence[float]], num_actions: Sequence[int]
) -> Oracle:
    """Return an oracle for one game; `function` maps a joint action to a utility per player."""

    def utilities(sampled: Actions) -> Array:
        joint = sampled[0].tolist()
        return np.array(
            [
                function((*joint[:player], action, *joint[player + 1 :]))[player]
                for player, count in enumerate(num_actions)
                for action in range(count)
            ]
        )

    return Oracle([list(num_actions)], utilities)


def tabulate(
    function: Callable[[tuple[int, ...]], Sequence[float]], num_actions: Sequence[int]
) -> Array:
    """Return the payoff tensor of a function of a joint action, for full feedback."""
    payoffs = np.empty((len(num_actions), *num_actions))
    for joint in np.ndindex(*num_actions):
        payoffs[(slice(None), *joint)] = function(joint)
    return payoffs


def payoffs_of(game: Any) -> npt.NDArray[Any]:
    """Return the checked payoff tensor of a game, which may be the tensor itself."""
    if callable(game):
        raise InputError(
            "a function is not a game: use tabulate(function, num_actions) for full "
            "feedback, oracle_from_function(function, num_actions) for sampled"
        )
    return check_payoffs(getattr(game, "payoffs", game))


class Source:
    """A batch of games in the one form that the solver uses."""

    def __init__(self, games: Games) -> None:
        self.oracle: Oracle | None = None
        self.native: _core.Utilities | None = None
        self.ranges: list[Array] | None = None
        self.payoffs: list[npt.NDArray[Any]] | None = None
        if isinstance(games, _core.Utilities):
            self.native = games
            self.actions = [games.actions(game) for game in range(games.games)]
        elif isinstance(games, Oracle):
            self.oracle = games
            counts = np.asarray(games.num_actions)
            whole = np.issubdtype(counts.dtype, np.integer)
            if counts.ndim != 2 or not whole or counts.size == 0 or (counts < 0).any():
                raise InputError("num_actions: not a (games, players) array of counts")
            self.actions = counts.tolist()
            if games.ranges is not None:
                ranges = np.broadcast_to(np.asarray(games.ranges, float), counts.shape)
                if not (np.isfinite(ranges) & (ranges >= 0.0))[counts > 0].all():
                    raise InputError("ranges: not a finite number at least 0 for every player")
                self.ranges = list(ranges)
        else:
            self.payoffs = [payoffs_of(game) for game in games]
            if not self.payoffs:
                raise InputError("games: none given")
            self.native = _core.TensorUtilities(self.payoffs)
            self.ranges = [payoff_ranges(payoffs) for payoffs in self.payoffs]
            self.actions = [list(payoffs.shape[1:]) for payoffs in self.payoffs]
        self.has_expected = self.native is not None and self.native.has_expected

    @property
    def work(self) -> int:
        """Approximate count of numbers that one iteration touches."""
        tensors = sum(payoffs.size for payoffs in self.payoffs or [])
        return 1 + tensors + 20 * sum(sum(counts) for counts in self.actions)

    def against(self, sampled: Actions) -> Array:
        """Return flat utilities, game by game and player by player, against `sampled` (flat)."""
        if self.oracle is None:
            assert self.native is not None
            parts = np.split(sampled, np.cumsum([len(counts) for counts in self.actions])[:-1])
            return np.concatenate(
                [self.native.against(game, part.tolist()) for game, part in enumerate(parts)]
            )
        games, players = len(self.actions), len(self.actions[0])
        try:
            answer = self.oracle.utilities(sampled.reshape(games, players))
            flat = np.ascontiguousarray(answer, np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the oracle's answer is not an array of numbers: {error}") from error
        total = sum(map(sum, self.actions))
        if flat.shape != (total,):
            widest = max(map(max, self.actions))
            if flat.shape != (games, players, widest):
                raise InputError(
                    f"the oracle returned shape {flat.shape}, not {(total,)} or "
                    f"{(games, players, widest)}"
                )
            flat = flat[np.arange(widest) < np.asarray(self.actions)[:, :, None]]
        if not np.isfinite(flat).all():
            raise InputError("the oracle returned a utility that is not a finite number")
        return flat

    def is_zero_sum(self, game: int) -> bool:
        """Whether `game` is two-player zero-sum, as Theorem 2 and Proposition 2 require."""
        if self.payoffs is None or len(self.actions[game]) != 2:
            return False
        rows = zip(*self.payoffs[game], strict=True)
        return all(np.array_equal(first, -second) for first, second in rows)


def split(flat: Array, sizes: Sequence[int]) -> Iterator[Array]:
    """Yield consecutive pieces of `flat`."""
    at = 0
    for size in sizes:
        yield flat[at : at + size]
        at += size

"""Games in normal form: all players act at once, and a tensor holds their payoffs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError
from kedge.games.normal_form.drawing import payoff_svg
from kedge.regularize import Array, check_policy
from kedge.words import counted

_LARGEST = 1e100  # bound of payoffs and of 1/range, so that their products stay finite
#: Results of `current_player`, as in OpenSpiel.
SIMULTANEOUS, TERMINAL = -2, -4


class NormalFormGame:
    """A payoff tensor of shape (players, actions of player 0, actions of player 1, …).

    A float64 or float32 tensor in C order is not copied.

    >>> game = NormalFormGame([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], name="prisoner's dilemma")
    >>> game.num_players, game.num_actions
    (2, (2, 2))
    """

    def __init__(
        self,
        payoffs: npt.ArrayLike,
        *,
        name: str = "normal-form game",
        players: Sequence[str] | None = None,
        actions: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.payoffs = check_payoffs(payoffs)
        self.name = name
        self.players = list(players or (f"player {i}" for i in range(self.num_players)))
        self.actions = [list(names) for names in actions] if actions is not None else None
        names = [self.name, *self.players, *(n for row in self.actions or [] for n in row)]
        if not all(isinstance(text, str) for text in names):
            raise InputError("names of games, players and actions must be strings")
        if len(self.players) != self.num_players:
            given = counted(len(self.players), "name")
            raise InputError(f"{name}: {given} for {counted(self.num_players, 'player')}")
        if self.actions and [len(names) for names in self.actions] != list(self.num_actions):
            raise InputError(f"{name}: the names of actions do not match the payoffs")
        self._utilities = _core.TensorUtilities([self.payoffs])

    @property
    def num_players(self) -> int:
        return len(self.payoffs)

    @property
    def num_actions(self) -> tuple[int, ...]:
        return self.payoffs.shape[1:]

    def action_name(self, player: int, action: int) -> str:
        return self.actions[player][action] if self.actions else str(action)

    def action_values(self, policies: Sequence[npt.ArrayLike]) -> list[Array]:
        """Return u_i(a, π_−i) for every player i and action a."""
        flat = np.concatenate(self.check_policies(policies))
        values = self._utilities.expected(0, flat)
        return np.split(values, np.cumsum(self.num_actions)[:-1])

    def check_policies(self, policies: Sequence[npt.ArrayLike]) -> list[Array]:
        """Return one distribution per player, or raise an `InputError` that names the wrong one."""
        if len(policies) != self.num_players:
            given = counted(len(policies), "policy", "policies")
            raise InputError(f"{given} for {counted(self.num_players, 'player')}")
        checked = []
        for player, (policy, count) in enumerate(zip(policies, self.num_actions, strict=True)):
            array = check_policy(policy, f"policy of player {player}")
            if array.shape != (count,):
                raise InputError(f"policy of player {player}: shape {array.shape}, not ({count},)")
            checked.append(array)
        return checked

    def initial_state(self) -> "NormalFormState":
        return NormalFormState(self)

    def __str__(self) -> str:
        return f"{self.name}: {' × '.join(map(str, self.num_actions))} actions"


class NormalFormState:
    """The only decision of a normal-form game, with the methods of OpenSpiel."""

    def __init__(self, game: NormalFormGame) -> None:
        self.game = game
        self.joint_action: tuple[int, ...] | None = None

    def current_player(self) -> int:
        return TERMINAL if self.is_terminal() else SIMULTANEOUS

    def legal_actions(self, player: int) -> list[int]:
        return [] if self.is_terminal() else list(range(self.game.num_actions[player]))

    def action_values(self, policies: Sequence[npt.ArrayLike]) -> list[Any]:
        """Expected payoff of each player's actions when all play by `policies`."""
        return list(self.game.action_values(policies))

    def apply_actions(self, actions: Sequence[int]) -> None:
        """Apply one action per player."""
        counts = self.game.num_actions
        if self.is_terminal():
            raise InputError("the game is over")
        if len(actions) != len(counts):
            raise InputError(
                f"{counted(len(actions), 'action')} for {counted(len(counts), 'player')}"
            )
        for player, (action, count) in enumerate(zip(actions, counts, strict=True)):
            if not 0 <= action < count:
                raise InputError(
                    f"player {player}: no action {action}; actions are 0 to {count - 1}"
                )
        self.joint_action = tuple(int(action) for action in actions)

    def is_terminal(self) -> bool:
        return self.joint_action is not None

    def returns(self) -> list[float]:
        if self.joint_action is None:
            return [0.0] * self.game.num_players
        return [float(table[self.joint_action]) for table in self.game.payoffs]

    def clone(self) -> "NormalFormState":
        copy = NormalFormState(self.game)
        copy.joint_action = self.joint_action
        return copy

    def to_svg(self) -> str:
        return payoff_svg(self.game, self.joint_action)

    def __str__(self) -> str:
        if self.joint_action is None:
            return f"{self.game}, to move: everyone"
        moves = (self.game.action_name(i, a) for i, a in enumerate(self.joint_action))
        scores = ", ".join(f"{score:g}" for score in self.returns())
        return f"{self.game.name}: {' / '.join(moves)} → {scores}"


def check_payoffs(payoffs: npt.ArrayLike, what: str = "payoffs") -> npt.NDArray[Any]:
    """Return `payoffs` as a C-contiguous float array of the right shape, copied only if needed."""
    try:
        array = np.asarray(payoffs)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
        array = np.ascontiguousarray(array)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: not a rectangular array of numbers") from None
    if array.ndim < 2 or array.shape[0] != array.ndim - 1:
        raise InputError(
            f"{what}: shape {array.shape} is not (players, actions of player 0, actions of "
            f"player 1, …)"
        )
    if 0 in array.shape:
        raise InputError(f"{what}: a player has no actions, shape {array.shape}")
    for player, table in enumerate(array):
        low, high = float(table.min()), float(table.max())
        if not np.isfinite(high - low):
            raise InputError(f"{what}: player {player} has a payoff that is not a finite number")
        if max(-low, high) > _LARGEST or 0.0 < high - low < 1.0 / _LARGEST:
            too_large = max(-low, high) > _LARGEST
            extreme = max(low, high, key=abs) if too_large else high - low
            fault = "a payoff is too large" if too_large else "the range is too small"
            raise InputError(f"{what}: player {player}: {fault} ({extreme:g})")
    return array


def payoff_ranges(payoffs: npt.NDArray[Any]) -> Array:
    """Return D_i, the range of each player's payoffs; not finite if a payoff is not."""
    with np.errstate(invalid="ignore"):
        return np.array([float(table.max()) - float(table.min()) for table in payoffs])

"""A blueprint that a network plays: see `kedge.models.hanabi.network`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.hanabi import Bomb, Hanabi, View
from kedge.models.hanabi.backends import PlaysOut, PolicyNetwork, TableNetwork
from kedge.models.hanabi.model import Games, Memory, Stepwise, bomb_of, legal_moves, no_value
from kedge.models.hanabi.network import PolicyValue
from kedge.regularize import Array


class NetworkBlueprint(Stepwise):
    """Remembers the state of an LSTM, one a game, over the public views of who was to move."""

    def __init__(
        self, network: PolicyNetwork, game: Hanabi, value: PolicyValue | None = None
    ) -> None:
        self._network, self._game, self._value = network, game, value
        self._hands = game.num_features("private") - game.num_features("public")

    def begin(self, count: int) -> Memory:
        return self._network.begin(count)

    def observe(self, games: Games, memory: Memory) -> Memory:
        return self._network.observe(seen_by(self._network, self._game, games, "public"), memory)

    def policy(self, games: Games, memory: Memory) -> Array:
        seen = seen_by(self._network, self._game, games, "private")
        return self._network.policy(seen, self._legal(games), memory)

    def product(self, games: Games, memory: Memory) -> npt.NDArray[np.float32]:
        """(games, width): the layer that says what is played, and what games come to."""
        return self._network.product(seen_by(self._network, self._game, games, "private"), memory)

    def check_value(self, games: Games, *, greedy: bool) -> None:
        if self._value is None:
            raise no_value()
        fitted, asked = (self._value.bomb, self._value.greedy), (bomb_of(games), greedy)
        if fitted != asked:
            raise InputError(
                f"depth: the anchor's value is of {_way(*fitted)}, and not of {_way(*asked)}; fit "
                "one to that with `kedge train hanabi-value`, or leave depth out"
            )

    def value(self, games: Games, memory: Memory) -> Array:
        if self._value is None:
            raise no_value()
        return self._value.of(self.product(games, memory))

    def play_out(
        self,
        games: Games,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None = None,
    ) -> Array:
        if not isinstance(self._network, PlaysOut):
            return super().play_out(games, memory, rng, greedy=greedy, depth=depth)
        if depth is not None:
            self.check_value(games, greedy=greedy)
        return self._network.play_out(games, memory, rng, greedy=greedy, depth=depth)

    def move(
        self, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> tuple[npt.NDArray[np.int64], Memory]:
        """Looks at the table once, where observing and choosing would look twice."""
        seen = seen_by(self._network, self._game, games, "private")
        return self._network.move(seen, self._hands, self._legal(games), memory, rng, greedy=greedy)

    def _legal(self, games: Games) -> npt.NDArray[np.bool_]:
        return legal_moves(games, len(self._game.moves))


def _way(bomb: Bomb, greedy: bool) -> str:
    return f"{'greedy' if greedy else 'drawn'} play with bomb={bomb}"


def seen_by(
    network: TableNetwork,
    game: Hanabi,
    games: Games,
    view: View,
    seats: npt.NDArray[np.int64] | None = None,
) -> Any:
    """What who is to move, or `seats`, see of games, where the network reads it."""
    rows = network.rows(len(games), game.num_features(view))
    try:
        games.encode(rows, view, seats, True)
    except ValueError:
        raise InputError(
            f"a model for {game.num_players} players is asked about another game than {game}"
        ) from None
    return rows

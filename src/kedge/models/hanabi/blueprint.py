"""A blueprint played by a network: see `kedge.models.hanabi.network`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.hanabi import Bomb, Hanabi, View
from kedge.models.hanabi.backends import PlaysOut, PolicyNetwork, TableNetwork
from kedge.models.hanabi.model import (
    Games,
    Legal,
    Memory,
    Stepwise,
    bomb_of,
    legal_moves,
    no_value,
)
from kedge.models.hanabi.network import PolicyValue
from kedge.regularize import Array


class NetworkBlueprint(Stepwise):
    """Plays by a network; its memory is the state of the LSTM over the movers' public views."""

    def __init__(
        self, network: PolicyNetwork, game: Hanabi, value: PolicyValue | None = None
    ) -> None:
        self._network, self._game, self._value = network, game, value
        self._hand_features = game.num_features("private") - game.num_features("public")
        self._actions, self.begin = len(game.moves), network.begin

    def observe(self, games: Games, memory: Memory) -> Memory:
        return self._network.observe(seen_by(self._network, self._game, games, "public"), memory)

    def policy(self, games: Games, memory: Memory) -> Array:
        return self.legal_policy(games, memory)[0]

    def legal_policy(self, games: Games, memory: Memory) -> tuple[Array, Legal]:
        seen = seen_by(self._network, self._game, games, "private")
        legal = legal_moves(games, self._actions)
        return self._network.policy(seen, legal, memory), legal

    def product(self, games: Games, memory: Memory) -> npt.NDArray[np.float32]:
        """(games, width): the layer from which the policy and the value are computed."""
        return self._network.product(seen_by(self._network, self._game, games, "private"), memory)

    def check_value(self, games: Games, *, greedy: bool) -> None:
        if self._value is None:
            raise no_value()
        fitted, needed = (self._value.bomb, self._value.greedy), (bomb_of(games), greedy)
        if fitted != needed:
            raise InputError(
                f"depth: the anchor's value is for {_way(*fitted)}, not for {_way(*needed)}; fit "
                "one with `kedge train hanabi-value`, or leave out depth"
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
        """Observe and choose with one encoding of the table instead of two."""
        seen = seen_by(self._network, self._game, games, "private")
        legal = legal_moves(games, self._actions)
        return self._network.move(seen, self._hand_features, legal, memory, rng, greedy=greedy)


def _way(bomb: Bomb, greedy: bool) -> str:
    return f"{'greedy' if greedy else 'drawn'} play with bomb={bomb}"


def seen_by(
    network: TableNetwork,
    game: Hanabi,
    games: Games,
    view: View,
    seats: npt.NDArray[np.int64] | None = None,
) -> Any:
    """The views of the movers, or of `seats`, in the network's input buffer."""
    seen = network.buffer(len(games), game.num_features(view))
    try:
        games.encode(seen, view, seats, True)
    except ValueError:
        usual = str(game) == str(Hanabi(game.num_players))
        rules = f"Hanabi for {game.num_players} players" if usual else str(game)
        raise InputError(f"the model plays {rules}, not this game") from None
    return seen

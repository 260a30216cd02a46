"""A blueprint that a network plays: see `kedge.models.hanabi_network`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, View
from kedge.models.hanabi import Games, Memory, Stepwise, legal_moves
from kedge.models.hanabi_backends import PlaysOut, PolicyNetwork, TableNetwork
from kedge.regularize import Array


class NetworkBlueprint(Stepwise):
    """Remembers the state of an LSTM, one a game, over the public views of who was to move."""

    def __init__(self, network: PolicyNetwork, game: Hanabi) -> None:
        self._network, self._game = network, game
        self._hands = game.num_features("private") - game.num_features("public")

    def begin(self, count: int) -> Memory:
        return self._network.begin(count)

    def observe(self, games: Games, memory: Memory) -> Memory:
        return self._network.observe(seen_by(self._network, self._game, games, "public"), memory)

    def policy(self, games: Games, memory: Memory) -> Array:
        seen = seen_by(self._network, self._game, games, "private")
        return self._network.policy(seen, self._legal(games), memory)

    def play_out(
        self, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> Array:
        if isinstance(self._network, PlaysOut):
            return self._network.play_out(games, memory, rng, greedy=greedy)
        return super().play_out(games, memory, rng, greedy=greedy)

    def move(
        self, games: Games, memory: Memory, rng: np.random.Generator, *, greedy: bool
    ) -> tuple[npt.NDArray[np.int64], Memory]:
        """Looks at the table once, where observing and choosing would look twice."""
        seen = seen_by(self._network, self._game, games, "private")
        return self._network.move(seen, self._hands, self._legal(games), memory, rng, greedy=greedy)

    def _legal(self, games: Games) -> npt.NDArray[np.bool_]:
        return legal_moves(games, len(self._game.moves))


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
    except ValueError as error:
        raise InputError(f"a model of {game} is asked about another game ({error})") from None
    return rows

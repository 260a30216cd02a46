"""A belief from a network trained on a blueprint's games."""

from collections.abc import Sequence

import numpy as np

from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.backends import BeliefNetwork
from kedge.models.hanabi.blueprint import seen_by
from kedge.models.hanabi.model import Followed, Games, Hands, Memory

_LEAST = 512  # fewest hands to draw: late in a game few of them are possible


class LearnedBelief:
    """Draws twice as many hands as requested, at least `_LEAST`, and keeps the possible ones
    (appendix L)."""

    def __init__(self, network: BeliefNetwork, game: Hanabi) -> None:
        self._network, self._game = network, game
        self._followed = Followed(_Seats(network, game))

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        seats = np.array([state.current_player() for state in states])
        memory = self._followed.memories(states)
        own = tuple(part[np.arange(len(states)), seats] for part in memory)
        games = Games.join([state.games for state in states])
        seen = seen_by(self._network, self._game, games, "private")
        draws = max(2 * count, _LEAST)
        hands = self._network.hands(seen, own, draws, rng)
        which, holders = (np.repeat(part, draws) for part in (np.arange(len(states)), seats))
        fit = games.possible(which, holders, hands.reshape(len(which), -1))
        kept = fit.astype(bool).reshape(len(states), -1)
        return [each[fits][:count] for each, fits in zip(hands, kept, strict=True)]


class _Seats:
    """Keeps the memory of each seat: an array with a row of seats per game."""

    def __init__(self, network: BeliefNetwork, game: Hanabi) -> None:
        self._network, self._game = network, game

    def begin(self, count: int) -> Memory:
        return self._apart(self._network.begin(count * self._game.num_players))

    def observe(self, games: Games, memory: Memory) -> Memory:
        players = self._game.num_players
        each = games.take(np.repeat(np.arange(len(games)), players))
        seats = np.tile(np.arange(players), len(games))
        seen = seen_by(self._network, self._game, each, "private", seats)
        return self._apart(
            self._network.observe(seen, tuple(part.reshape(-1, *part.shape[2:]) for part in memory))
        )

    def _apart(self, memory: Memory) -> Memory:
        players = self._game.num_players
        return tuple(part.reshape(-1, players, *part.shape[1:]) for part in memory)

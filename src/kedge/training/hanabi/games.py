"""Games of Hanabi to learn from: decks and moves, from which what was seen is made again.

The native core plays and encodes a million positions a second, so a batch of whole games is made
when it is needed, in other colours each time. Nothing else is kept, and the rules recolour it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.model import Games
from kedge.records.hanabi.games import HanabiGame, decks_and_actions

Integers = npt.NDArray[np.int64]


class Colours(NamedTuple):
    """Every way to name a game's colours anew: what becomes of each card and each action."""

    cards: npt.NDArray[np.uint8]  # (ways, cards)
    actions: Integers  # (ways, actions + 1); the last is −1, which is no action


@cache
def colours_of(game: Hanabi) -> Colours:
    ways = np.array(list(permutations(range(game.colors))))
    cards = ways[:, :, None] * game.ranks + np.arange(game.ranks)
    actions = np.tile(np.append(np.arange(len(game.moves)), -1), (len(ways), 1))
    for action, move in enumerate(game.moves):
        if move.kind == "color":
            actions[:, action] = action - move.value + ways[:, move.value]
    return Colours(cards.reshape(len(ways), -1).astype(np.uint8), actions)


@dataclass(frozen=True)
class PlayedGames:
    """Many games by the same rules."""

    game: Hanabi
    decks: npt.NDArray[np.uint8]  # (n, cards of a deck), in deal order
    actions: Integers  # (n, plies); −1 after the end

    def __len__(self) -> int:
        return len(self.decks)

    def take(self, rows: Integers) -> "PlayedGames":
        """Some of them, as many plies as the longest has."""
        actions = self.actions[rows]
        plies = int((actions >= 0).sum(1).max(initial=1))
        return PlayedGames(self.game, self.decks[rows], actions[:, :plies])

    def recoloured(self, turns: npt.NDArray[np.float64]) -> "PlayedGames":
        """Each in other colours, which `turns` draws from [0, 1)."""
        cards, actions = colours_of(self.game)
        ways = (turns * len(cards)).astype(np.int64)[:, None]
        return PlayedGames(self.game, cards[ways, self.decks], actions[ways, self.actions])

    def plies(self) -> Iterator[Games]:
        """The games before each ply; those that are over, as they ended."""
        games = Games(self.game.rules, self.decks)
        for actions in self.actions.T:
            yield games
            games.step(np.ascontiguousarray(actions))


def played(games: Sequence[HanabiGame]) -> PlayedGames:
    """Recorded games, which must be by the same rules, whatever a bomb is worth in them."""
    game = Hanabi(**games[0].rules.parameters)
    for other in games:
        if other.rules.parameters != game.parameters:
            raise InputError(f"{other.id}: {other.rules}, where the first game is {game}")
    return PlayedGames(game, *decks_and_actions(games))


def room(device: torch.device, *shape: int) -> tuple[Tensor, npt.NDArray[np.float32]]:
    """A tensor that goes to the device fast, and where to write what is in it."""
    tensor = torch.empty(shape, pin_memory=device.type == "cuda")
    return tensor, tensor.numpy()

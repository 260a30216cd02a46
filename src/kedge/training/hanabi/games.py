"""Hanabi games to train on, stored as decks and moves.

The native core replays and encodes a million positions a second. So each batch of whole games is
encoded when it is needed, in other colours each time.
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
from kedge.models.hanabi.model import Blueprint, Games, chosen
from kedge.records.hanabi.games import HanabiGame, decks_and_actions

Integers = npt.NDArray[np.int64]


class Colours(NamedTuple):
    """The images of cards and actions under every permutation of a game's colours."""

    cards: npt.NDArray[np.uint8]  # (ways, cards)
    actions: Integers  # (ways, actions + 1); the last is −1, no action


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
        """Return some games, cut to the plies of the longest."""
        actions = self.actions[rows]
        plies = int((actions >= 0).sum(1).max(initial=1))
        return PlayedGames(self.game, self.decks[rows], actions[:, :plies])

    def recoloured(self, turns: npt.NDArray[np.float64]) -> "PlayedGames":
        """Return each game in other colours; `turns`, in [0, 1), selects the permutation."""
        cards, actions = colours_of(self.game)
        ways = (turns * len(cards)).astype(np.int64)[:, None]
        return PlayedGames(self.game, cards[ways, self.decks], actions[ways, self.actions])

    def joined(self, other: "PlayedGames") -> "PlayedGames":
        """Return these games and, after them, others by the same rules."""
        plies = max(self.actions.shape[1], other.actions.shape[1])
        actions = [
            np.pad(part, ((0, 0), (0, plies - part.shape[1])), constant_values=-1)
            for part in (self.actions, other.actions)
        ]
        decks = np.concatenate([self.decks, other.decks])
        return PlayedGames(self.game, decks, np.concatenate(actions))

    def plies(self) -> Iterator[Games]:
        """Yield the games before each ply; finished games stay at their end."""
        games = Games(self.game.rules, self.decks)
        for actions in self.actions.T:
            yield games
            games.step(np.ascontiguousarray(actions))


def pack_games(games: Sequence[HanabiGame]) -> PlayedGames:
    """Pack recorded games. All must have the same rules, except for the value of a bomb."""
    game = Hanabi(**games[0].rules.parameters)
    for other in games:
        if other.rules.parameters != game.parameters:
            raise InputError(
                f"{other.id}: {other.rules}, but the first game is {game}; use games of one variant"
            )
    return PlayedGames(game, *decks_and_actions(games))


def self_play(
    blueprint: Blueprint, game: Hanabi, count: int, rng: np.random.Generator, *, drawn: float
) -> PlayedGames:
    """Play games with the blueprint in every seat.

    `drawn` is the share of moves sampled from its policy; the others are its likeliest moves.
    """
    decks = rng.permuted(np.tile(game.rules.deck(), (count, 1)), axis=1)
    games = Games(game.rules, decks)
    memory = blueprint.begin(count)
    made = []
    while (going := games.legal_actions() > 0).any():
        memory = blueprint.observe(games, memory)
        policy = blueprint.policy(games, memory)
        actions = np.where(
            rng.random(count) < drawn,
            chosen(policy, rng, greedy=False),
            chosen(policy, rng, greedy=True),
        )
        made.append(np.where(going, actions, -1))
        games.step(made[-1])
    return PlayedGames(game, decks, np.stack(made, 1))


def room(device: torch.device, *shape: int) -> tuple[Tensor, npt.NDArray[np.float32]]:
    """An empty tensor that transfers fast to the device, and a NumPy view to fill it."""
    tensor = torch.empty(shape, pin_memory=device.type == "cuda")
    return tensor, tensor.numpy()

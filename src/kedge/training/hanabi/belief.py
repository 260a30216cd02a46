"""Training a seat's belief about its own hand, on self-play games of a blueprint.

The supply of games is unlimited, so the network cannot memorise them (appendix L). A belief holds
for one blueprint and one way of playing it: sampling from its policy, or greedily.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from onnx import ModelProto
from torch import Tensor, nn
from torch.nn import functional

from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.exact import SLIPS
from kedge.models.hanabi.model import Blueprint
from kedge.models.hanabi.network import to_shipped_onnx
from kedge.models.hanabi.torch_network import BeliefModule
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.hanabi.games import PlayedGames, room, self_play
from kedge.training.memory import make_checked
from kedge.training.recipe import Recipe
from kedge.training.trainer import Metrics, Positions, Trainer

_TESTED = 512  # games to test on
_SEEDS = 1 << 20  # numbers that seed deals; a permutation of them is drawn when they run out


@dataclass(frozen=True)
class BeliefRecipe(Recipe):
    """Settings for a belief network; a batch holds whole games, seen from every seat."""

    width: int = 192
    layers: int = 2
    """Layers of the LSTM over the turns."""
    greedy: bool = False
    """Whether all seats play the blueprint's likeliest move instead of sampling."""
    slips: float = SLIPS
    """Share of sampled moves in greedy games, since a searching player leaves the blueprint too."""
    played: int = 2048
    """Games played at a time; each is trained on once."""
    steps: int = 10_000
    batch: int = 64
    learning_rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.01

    shape: ClassVar[tuple[str, ...]] = ("width", "layers")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("width", "layers", "played")
        self._check_shares("slips")


class Batch(NamedTuple):
    seen: Tensor  # (plies, seats · n, features)
    going: Tensor  # (plies, seats · n) bool
    hands: Tensor  # (m, slots): hands in games that go on; −1 if there is no card


@dataclass(frozen=True)
class SeenGames:
    """Games, and the hands in them."""

    games: PlayedGames
    device: torch.device

    def __len__(self) -> int:
        return len(self.games)

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Encode some games. They are not recoloured: the blueprint might play differently."""
        games = self.games.take(rows.numpy(force=True))
        count, plies = games.actions.shape
        game = games.game
        seats = game.num_players
        seen, places = room(self.device, plies, seats, count, game.num_features())
        hands = np.empty((plies, seats, count, game.hand_size), np.int64)
        for ply, now in enumerate(games.plies()):
            hands[ply] = now.hands().swapaxes(0, 1)
            for seat in range(seats):
                now.encode(places[ply, seat], "private", np.full(count, seat), True)
        going = torch.from_numpy(np.repeat((games.actions >= 0).T[:, None], seats, 1)).flatten(1)
        known = torch.from_numpy(hands).flatten(1, 2)[going]
        parts = (seen.flatten(1, 2), going, known)
        return Batch(*(part.to(self.device, non_blocking=True) for part in parts))


class SelfPlayGames:
    """Plays games on demand; each is trained on once."""

    def __init__(
        self, blueprint: Blueprint, game: Hanabi, recipe: BeliefRecipe, device: torch.device
    ) -> None:
        self._blueprint, self._game, self._recipe = blueprint, game, recipe
        self._device = device
        self._next = 0
        self._played: SeenGames | None = None

    def __len__(self) -> int:
        return min(self._recipe.steps * self._recipe.batch, max(_SEEDS, self._recipe.batch))

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Return the next games; the numbers in `rows` only seed the deals."""
        if self._played is None or self._next + len(rows) > len(self._played):
            rng = np.random.default_rng([self._recipe.seed, *rows.tolist()])
            count = max(self._recipe.played, len(rows))
            self._played = self.play(count, rng)
            self._next = 0
        which = torch.arange(self._next, self._next + len(rows))
        self._next += len(rows)
        return self._played.batch(which, turns)

    def play(self, count: int, rng: np.random.Generator) -> SeenGames:
        drawn = self._recipe.slips if self._recipe.greedy else 1.0
        played = self_play(self._blueprint, self._game, count, rng, drawn=drawn)
        return SeenGames(played, self._device)


class BeliefTrainer(Trainer[Batch]):
    """Accuracy counts the likeliest card, given the cards in earlier slots."""

    inner: ClassVar[tuple[str, ...]] = ("seen", "lstm", "told", "past")
    ahead: ClassVar[int] = 1  # one thread: games are played in order

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        losses, right = self._scored(self.parallel, batch)
        return losses.mean(), right.float().mean()

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        losses, right = self._scored(network, batch)
        count = torch.tensor(float(len(losses)), device=losses.device)
        return torch.stack([count, right.sum(), losses.sum(), torch.zeros_like(count)])

    def evaluate(
        self, positions: Positions[Batch], batch: int = 64, most: int | None = None
    ) -> Metrics:
        """Score held-out games. Batches hold whole games, hence the smaller batch size."""
        return super().evaluate(positions, batch, most)

    def _scored(self, network: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """The cross-entropy of each card, and whether it was the likeliest."""
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = network(batch.seen, batch.going, batch.hands.clamp(0))
        real = batch.hands >= 0
        logits, cards = logits[real].float(), batch.hands[real]
        return functional.cross_entropy(logits, cards, reduction="none"), logits.argmax(1) == cards


def train(
    blueprint: Blueprint,
    game: Hanabi,
    folder: Path,
    recipe: BeliefRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train and test on self-play games of a blueprint; see `trainer.train`."""
    torch.manual_seed(recipe.seed)
    network = make_checked(lambda: BeliefModule(game, recipe.width, recipe.layers), recipe)
    learner = BeliefTrainer(network, recipe, rank)
    learned = SelfPlayGames(blueprint, game, recipe, rank.device)
    tested = learned.play(_TESTED, np.random.default_rng(recipe.seed))
    return trainer.train(
        learner, learned, tested, folder, exported, part="new games", seconds=seconds
    )


def exported(network: nn.Module) -> ModelProto:
    """Return the network as the model that ships."""
    assert isinstance(network, BeliefModule)
    return to_shipped_onnx(network.weights())

"""Training what a seat believes of its own hand, on games that a blueprint plays with itself.

There is no end to them, so nothing is learned by heart (appendix L). A belief is a blueprint's, and
of the way in which it was played: drawn from its policy, or greedily.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.exact import SLIPS
from kedge.models.hanabi.model import Blueprint, Games, chosen
from kedge.models.hanabi.network import to_shipped_onnx
from kedge.models.hanabi.torch_network import BeliefModule
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.hanabi.games import PlayedGames, room
from kedge.training.trainer import Metrics, Positions, Recipe, Trainer

_TESTED = 512  # games that it is tested on


@dataclass(frozen=True)
class BeliefRecipe(Recipe):
    """How to train a belief; a batch is of whole games, seen from every seat."""

    width: int = 192
    layers: int = 2
    """Of the LSTM over the turns."""
    greedy: bool = False
    """Whether everyone makes the blueprint's likeliest move, or draws one."""
    slips: float = SLIPS
    """How often a move is drawn where everyone is greedy: who searches leaves the blueprint too."""
    played: int = 2048
    """Games that are played at a time; they are learned from once."""
    steps: int = 10_000
    batch: int = 64
    learning_rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("width", "layers", "played")
        self._check_shares("slips")


class Batch(NamedTuple):
    seen: Tensor  # (plies, seats · n, features)
    going: Tensor  # (plies, seats · n) bool
    hands: Tensor  # (m, slots): of seats in games that go on; −1 where there is no card


@dataclass(frozen=True)
class SeenGames:
    """Games, and who held what in them."""

    games: PlayedGames
    device: torch.device

    def __len__(self) -> int:
        return len(self.games)

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """As they were played: in other colours a blueprint might have played otherwise."""
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


class SelfPlay:
    """As many games as are asked for, each played once and learned from once."""

    def __init__(
        self, blueprint: Blueprint, game: Hanabi, recipe: BeliefRecipe, device: torch.device
    ) -> None:
        self._blueprint, self._game, self._recipe = blueprint, game, recipe
        self._device = device
        self._next = 0
        self._played: SeenGames | None = None

    def __len__(self) -> int:
        return self._recipe.steps * self._recipe.batch

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Which games these are is no matter, but it says how they are dealt."""
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


def self_play(
    blueprint: Blueprint, game: Hanabi, count: int, rng: np.random.Generator, *, drawn: float
) -> PlayedGames:
    """Games in which a blueprint has every seat, such a share of its moves drawn, the rest its
    likeliest."""
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


class BeliefTrainer(Trainer[Batch]):
    """What is right is the likeliest card, where those before it are known."""

    shape: ClassVar[tuple[str, ...]] = ("width", "layers")
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
        """Of whole games, so that fewer are looked at at a time."""
        return super().evaluate(positions, batch, most)

    def _scored(self, network: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Of each card the cross-entropy, and whether it was the likeliest."""
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = network(batch.seen, batch.going, batch.hands.clamp(0))
        real = batch.hands >= 0
        said, cards = logits[real].float(), batch.hands[real]
        return functional.cross_entropy(said, cards, reduction="none"), said.argmax(1) == cards


def train(
    blueprint: Blueprint,
    game: Hanabi,
    folder: Path,
    recipe: BeliefRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train on what a blueprint plays, and test on more of it; see `trainer.train`."""
    torch.manual_seed(recipe.seed)
    course = BeliefTrainer(BeliefModule(game, recipe.width, recipe.layers), recipe, rank)
    learned = SelfPlay(blueprint, game, recipe, rank.device)
    tested = learned.play(_TESTED, np.random.default_rng(recipe.seed))
    return trainer.train(course, learned, tested, folder, exported, seconds=seconds)


def exported(network: nn.Module) -> bytes:
    """The file that kedge ships."""
    assert isinstance(network, BeliefModule)
    content: bytes = to_shipped_onnx(network.weights()).SerializeToString()
    return content

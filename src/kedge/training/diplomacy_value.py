"""Training a network that says what Diplomacy positions are worth: each power's share at the end.

It is told nothing of the orders before, so that a search may ask about a position that many orders
lead to; and it is small, since a search asks about thousands.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kedge.games.diplomacy import POWERS
from kedge.models.diplomacy_encoding import facts_of, tells_previous
from kedge.models.diplomacy_network import DiplomacyWeights, to_shipped_onnx
from kedge.models.diplomacy_torch import Encoder, Shape, arrays_of
from kedge.records.diplomacy_games import DiplomacyGame, is_held_out
from kedge.training import trainer
from kedge.training.diplomacy import renamed_rows, share_losses
from kedge.training.distributed import Rank
from kedge.training.trainer import Recipe, Trainer


@dataclass(frozen=True)
class ValueRecipe(Recipe):
    """How to train a small transformer of values alone."""

    blocks: int = 2
    width: int = 64
    heads: int = 4
    dropout: float = 0.1
    steps: int = 3000
    batch: int = 512
    optimizer: Any = "muon"
    learning_rate: float = 2e-3
    warmup: int = 100
    average: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("width", "heads")
        self._check_shares("dropout")

    @property
    def network(self) -> Shape:
        return Shape(self.width, self.blocks, self.heads, layers=0)


class Batch(NamedTuple):
    facts: Tensor  # (n, 88, 10) int32
    shares: Tensor  # (n, 7)


@dataclass(frozen=True)
class ValuedPositions:
    """Positions and how their games ended, as tensors on one device."""

    facts: Tensor  # (n, 88, 10) int16
    shares: Tensor  # (n, 7) float32
    renamed: Tensor  # `renamed_rows`

    def __len__(self) -> int:
        return len(self.shares)

    def to(self, device: torch.device) -> "ValuedPositions":
        return replace(self, **{name: part.to(device) for name, part in vars(self).items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """With the powers in another order, where `turns` are drawn."""
        facts = self.facts[rows].int()
        if turns is not None:
            which = (turns * len(self.renamed)).long()
            facts = self.renamed.view(-1)[which[:, None, None] * self.renamed.shape[1] + facts]
        return Batch(facts, self.shares[rows])


def positions_of(games: Iterable[DiplomacyGame], threads: int = 0) -> ValuedPositions:
    """Every position of the games whose end is known."""
    states, shares = [], []
    for game in games:
        ended = game.shares()
        if ended is not None:
            own = [decision.state for decision in game.decisions()]
            states += own
            shares += [ended] * len(own)
    facts = np.where(tells_previous(), 0, facts_of(states, threads)).astype(np.int16)
    return ValuedPositions(
        torch.from_numpy(facts),
        torch.from_numpy(np.array(shares, np.float32).reshape(-1, len(POWERS))),
        renamed_rows(),
    )


class ValueModule(nn.Module):
    """The encoder by itself."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads = shape.heads
        self.encoder = Encoder(shape, dropout)

    def forward(self, facts: Tensor) -> Tensor:
        return self.encoder(facts)[1]


class ValueTrainer(Trainer[Batch]):
    """What is right is who will have the most."""

    shape: ClassVar[tuple[str, ...]] = ("width", "blocks", "heads")

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = self.parallel(batch.facts).float()
        right = logits.argmax(1) == batch.shares.argmax(1)
        return share_losses(batch.shares, logits).mean(), right.float().mean()

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        logits = network(batch.facts).float()
        losses = share_losses(batch.shares, logits)
        right = logits.argmax(1) == batch.shares.argmax(1)
        error = (logits.softmax(1) - batch.shares).square().sum(1)
        count = torch.tensor(float(len(losses)), device=losses.device)
        return torch.stack([count, right.sum(), losses.sum(), error.sum()])


def train(
    games: Iterable[DiplomacyGame],
    folder: Path,
    recipe: ValueRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train on the games that are not held out, test on the others; see
    `kedge.training.trainer.train`."""
    parts: tuple[list[DiplomacyGame], list[DiplomacyGame]] = ([], [])
    for game in games:
        parts[is_held_out(game)].append(game)
    learned, tested = (positions_of(part).to(rank.device) for part in parts)
    torch.manual_seed(recipe.seed)
    course = ValueTrainer(ValueModule(recipe.network, recipe.dropout), recipe, rank)
    return trainer.train(course, learned, tested, folder, exported, seconds=seconds)


def exported(network: nn.Module) -> bytes:
    """The file that kedge ships."""
    assert isinstance(network, ValueModule)
    weights = DiplomacyWeights(arrays_of(network), network.heads, "trained")
    content: bytes = to_shipped_onnx(weights).SerializeToString()
    return content

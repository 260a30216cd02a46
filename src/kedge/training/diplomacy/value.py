"""Training the small value network of Diplomacy, which predicts each power's final share.

It first trains on the ends of people's games. These are few and say little about each position, so
it then trains on its own values some phases later, after rollouts of the human model from people's
positions (appendix J).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from onnx import ModelProto
from torch import Tensor, nn

from kedge import _core
from kedge.errors import InputError
from kedge.models.diplomacy.values import SEEN_ROWS, ValueWeights, alive, to_shipped_onnx
from kedge.records.diplomacy.games import DiplomacyGame
from kedge.records.splits import CHOOSE, PARTS
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.memory import make_checked
from kedge.training.recipe import Recipe
from kedge.training.trainer import Trainer


@dataclass(frozen=True)
class ValueRecipe(Recipe):
    """Settings for a value network."""

    width: int = 128
    hidden: int = 32
    dropout: float = 0.4
    steps: int = 600
    batch: int = 512
    learning_rate: float = 1e-3
    warmup: int = 50
    weight_decay: float = 0.1
    average: float = 0.99

    shape: ClassVar[tuple[str, ...]] = ("width", "hidden")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("width", "hidden")
        self._check_shares("dropout")


class Batch(NamedTuple):
    seen: Tensor  # (n, 7, 176) int32
    alive: Tensor  # (n, 7) bool
    shares: Tensor  # (n, 7)


@dataclass(frozen=True)
class ValuedPositions:
    """The powers' inputs and final shares, as tensors on one device."""

    seen: Tensor  # (n, 7, 176) int16
    alive: Tensor  # (n, 7) bool
    shares: Tensor  # (n, 7) float32

    def __len__(self) -> int:
        return len(self.shares)

    def to(self, device: torch.device) -> "ValuedPositions":
        return replace(self, **{name: part.to(device) for name, part in vars(self).items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Return some rows. The network treats all powers alike, so `turns` has no effect."""
        return Batch(self.seen[rows].int(), self.alive[rows], self.shares[rows])


def pack_positions(seen: npt.NDArray[np.uint16], shares: npt.ArrayLike) -> ValuedPositions:
    """Pack the powers' inputs, from the native core, with their final shares."""
    return ValuedPositions(
        torch.from_numpy(seen.view(np.int16)),
        torch.from_numpy(alive(seen)),
        torch.from_numpy(np.asarray(shares, np.float32)),
    )


def positions_of(games: Iterable[DiplomacyGame]) -> ValuedPositions:
    """Pack every position of the games whose end is known."""
    boards: list[_core.DiplomacyBoard] = []
    shares = []
    for game in games:
        ended = game.shares()
        if ended is not None:
            own = [decision.state.board for decision in game.decisions()]
            boards += own
            shares += [ended] * len(own)
    if not boards:
        raise InputError("too few games: none records how it ended")
    return pack_positions(_core.diplomacy_seen(_core.DiplomacyBatch(boards)), shares)


class ValueModule(nn.Module):
    def __init__(self, width: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.rows = nn.EmbeddingBag(SEEN_ROWS, width, mode="sum", padding_idx=0)
        with torch.no_grad():
            self.rows.weight.mul_(0.03)  # about a hundred rows are added up
        self.bias = nn.Parameter(torch.zeros(width))
        self.layer = nn.Linear(width, hidden)
        self.out = nn.Linear(hidden, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Logits of the shares; −∞ for eliminated powers."""
        x = (self.rows(batch.seen.flatten(0, 1)) + self.bias).relu()
        x = self.out(self.layer(self.dropout(x)).relu())
        return x.view(len(batch.seen), -1).masked_fill(~batch.alive, -torch.inf)

    def arrays(self) -> dict[str, Any]:
        arrays = {name: part.float().cpu().numpy() for name, part in self.state_dict().items()}
        arrays["rows.bias"] = arrays.pop("bias")
        return arrays


class ValueTrainer(Trainer[Batch]):
    """Accuracy counts the power with the largest final share."""

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        losses, right, _ = _scored(batch, self.parallel(batch))
        return losses.mean(), right.float().mean()

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        with torch.autocast(self.device.type, enabled=False):
            losses, right, errors = _scored(batch, network(batch))
        count = torch.tensor(float(len(losses)), device=losses.device)
        return torch.stack([count, right.sum(), losses.sum(), errors.sum()])


def _scored(batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropies, correct leaders, and squared errors of the shares."""
    known = logits.log_softmax(1).masked_fill(~batch.alive, 0.0)
    losses = -(batch.shares * known).sum(1)
    right = logits.argmax(1) == batch.shares.argmax(1)
    return losses, right, (logits.softmax(1) - batch.shares).square().sum(1)


def initial_network(recipe: ValueRecipe, before: ValueWeights | None = None) -> ValueModule:
    """The network to train: a new one, or a copy of `before`, which must have the same shape."""
    torch.manual_seed(recipe.seed)
    network = make_checked(lambda: ValueModule(recipe.width, recipe.hidden, recipe.dropout), recipe)
    if before is None:
        return network
    recipe.check_shape(before)
    arrays = {name: torch.from_numpy(np.array(part)) for name, part in before.arrays.items()}
    arrays["bias"] = arrays.pop("rows.bias")
    network.load_state_dict(arrays)
    return network


def train(
    network: ValueModule,
    learned: ValuedPositions,
    chosen_by: ValuedPositions,
    folder: Path,
    recipe: ValueRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train a network from `initial_network`; see `kedge.training.trainer.train`."""
    learner = ValueTrainer(network, recipe, rank)
    learned, chosen_by = learned.to(rank.device), chosen_by.to(rank.device)
    return trainer.train(
        learner, learned, chosen_by, folder, exported, seconds=seconds, part=PARTS[CHOOSE]
    )


def exported(network: nn.Module) -> ModelProto:
    """Return the network as the model that ships."""
    assert isinstance(network, ValueModule)
    return to_shipped_onnx(ValueWeights(network.arrays(), "trained"))

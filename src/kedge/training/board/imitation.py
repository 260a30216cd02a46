"""Imitation: a network that predicts people's moves and the result of the game.

Positions are stored packed on the device (bit masks, 64 points a word) and unpacked there, so that
the transfer to the device does not limit the speed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import torch
from onnx import ModelProto
from torch import Tensor, nn
from torch.nn import functional

from kedge.errors import InputError
from kedge.games.symmetries import COUNT, symmetries
from kedge.models.board.encoding import Encoding
from kedge.models.board.network import to_shipped_onnx
from kedge.models.board.weights import Weights, make_weights
from kedge.models.named import load_as
from kedge.training.board.growth import grow
from kedge.training.board.network import SEResNet
from kedge.training.distributed import Rank
from kedge.training.memory import make_checked
from kedge.training.recipe import Recipe
from kedge.training.trainer import Finish, Positions, Trainer, fill, read_checkpoint, train

NO_MOVE = -100  # ignored by torch's cross-entropy
_SETTLED_ON = 2048  # positions


@dataclass(frozen=True)
class TowerRecipe(Recipe):
    """Settings for a tower of convolutions. Games add their own."""

    filters: int = 64
    blocks: int = 6
    se_ratio: int = 8
    drop: float = 0.1
    """Stochastic depth of the last block; earlier blocks are dropped less often."""
    value_weight: float = 0.1
    teacher_weight: float = 0.0
    """Share of the policy loss that imitates the teacher, if there is one."""
    forget: float = 0.05
    """Share of training positions that hide who plays."""

    shape: ClassVar[tuple[str, ...]] = ("filters", "blocks", "se_ratio")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("filters", "blocks", "se_ratio")
        if self.filters < self.se_ratio:
            raise InputError(f"filters: at least se_ratio ({self.se_ratio}), not {self.filters}")
        self._check_shares("drop", "teacher_weight", "forget")

    @classmethod
    def for_weights(cls, weights: Weights) -> Self:
        """Return the recipe of a network with the shape of `weights`."""
        return cls(filters=weights.filters, blocks=weights.blocks, se_ratio=weights.se_ratio or 1)


class Batch(NamedTuple):
    """Network inputs, and what people did."""

    planes: Tensor  # (n, planes, side, side) bfloat16
    legal: Tensor | None  # (n, moves) bool; None if every move counts
    moves: Tensor  # (n,) int64, what was played
    results: Tensor  # (n,) float32, the mover's: 1 won, 0 drawn, −1 lost; NaN if unknown
    later: tuple[Tensor, ...] = ()  # each (n,) int64, the moves after that; NO_MOVE after the last
    later_weight: float = 0.0  # loss weight of each later move; the next move has 1
    who: Tensor | None = None  # (n, numbers) bfloat16, who plays
    taught: Tensor | None = None  # (n, k) int64, likely moves by a model of such players
    shares: Tensor | None = None  # (n, k) float32, what each counts; all 0 without a model
    scores: Tensor | None = None  # (n,) float32, the mover's expected score by an engine, or NaN
    score_weight: float = 0.0  # share of the value loss that learns known scores

    def masked(self, logits: Tensor) -> Tensor:
        """The logits in float32; illegal moves get −10⁴."""
        logits = logits.float()
        return logits if self.legal is None else logits.masked_fill(~self.legal, -1e4)


class TurnedTeacher(nn.Module):
    """A network that sees each batch in a random symmetry of the board.

    The loss is linear in a teacher's policy, so what it teaches in the end is the mean over all
    symmetries, at the cost of one.
    """

    turned: Tensor
    back: Tensor

    def __init__(self, network: SEResNet, encoding: Encoding) -> None:
        super().__init__()
        self.network = network
        turned = torch.from_numpy(symmetries(encoding.side))
        # Move q of a turned board is point turned[q]; what follows the points (the pass) stays.
        back = torch.arange(encoding.moves).repeat(COUNT, 1)
        back[:, : encoding.side**2] = turned.argsort(dim=1)
        self.register_buffer("turned", turned, persistent=False)
        self.register_buffer("back", back, persistent=False)

    def forward(self, planes: Tensor, who: Tensor | None = None) -> tuple[Tensor, Tensor]:
        turn = torch.randint(COUNT, (1,), device=planes.device)
        points = planes.flatten(2).index_select(2, self.turned[turn].flatten())
        boards = points.view(planes.shape).contiguous(memory_format=torch.channels_last)
        logits, value, _ = self.network(boards, who)
        return logits.index_select(1, self.back[turn].flatten()), value


class TowerTrainer(Trainer[Batch]):
    """Trains on people's moves, game results and, if given, a teacher's policy."""

    inner: ClassVar[tuple[str, ...]] = ("input", "blocks")
    network: SEResNet
    recipe: TowerRecipe

    def __init__(
        self,
        network: SEResNet,
        recipe: TowerRecipe,
        rank: Rank,
        teacher: nn.Module | None = None,
        compiled: bool = True,
    ) -> None:
        super().__init__(network, recipe, rank)
        # All batches have one shape, so the search for its fastest convolutions pays off.
        torch.backends.cudnn.benchmark = True
        self.teacher = teacher
        if teacher is not None:
            teacher.to(self.device, memory_format=torch.channels_last).eval()
        self._loss = torch.compile(self._plain_loss) if compiled else self._plain_loss

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        loss: tuple[Tensor, Tensor] = self._loss(batch)
        return loss

    def _plain_loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            logits, value, later = self.parallel(batch.planes, batch.who)
        logits = batch.masked(logits)
        policy_loss = self._human_loss(batch, logits)
        right = (logits.argmax(1) == batch.moves).float().mean()
        if self.teacher is not None and self.recipe.teacher_weight > 0.0:
            with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16):
                target, *_ = self.teacher(batch.planes, batch.who)
            teacher_loss = -(batch.masked(target).softmax(1) * logits.log_softmax(1)).sum(1).mean()
            share = self.recipe.teacher_weight
            policy_loss = (1.0 - share) * policy_loss + share * teacher_loss
        for later_logits, moves in zip(later, batch.later, strict=True):
            later_loss = functional.cross_entropy(later_logits.float(), moves, ignore_index=NO_MOVE)
            policy_loss = policy_loss + batch.later_weight * later_loss
        value_loss = self._value_losses(batch, value).mean()
        return policy_loss + self.recipe.value_weight * value_loss, right

    def _human_loss(self, batch: Batch, logits: Tensor) -> Tensor:
        """The cross-entropy of what people played, and in part of what a model says they would.

        The shares of the model's moves add up to its part of the loss.
        """
        if batch.taught is None or batch.shares is None:
            return functional.cross_entropy(logits, batch.moves)
        losses = functional.cross_entropy(logits, batch.moves, reduction="none")
        likely = logits.log_softmax(1).gather(1, batch.taught)
        # A model may find illegal moves likely where it knows fewer than k legal ones.
        taught = -(batch.shares * likely.clamp(min=-20.0)).sum(1)
        return ((1.0 - batch.shares.sum(1)) * losses + taught).mean()

    def _value_losses(self, batch: Batch, value: Tensor) -> Tensor:
        """The losses of the game's result, and in part of an engine's score where it is known."""
        losses = self.network.value.losses(value, batch.results)
        if batch.scores is None:
            return losses
        known = torch.isfinite(batch.scores)
        by_score = self.network.value.score_losses(value, torch.where(known, batch.scores, 0.5))
        return torch.lerp(losses, by_score, batch.score_weight * known)

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(network, SEResNet)
        logits, value, _ = network(batch.planes, batch.who)
        logits = batch.masked(logits)
        return torch.stack(
            [
                torch.tensor(float(len(logits)), device=logits.device),
                (logits.argmax(1) == batch.moves).sum(),
                functional.cross_entropy(logits, batch.moves, reduction="sum"),
                network.value.losses(value, batch.results).sum(),
            ]
        )


@dataclass(frozen=True)
class Course:
    """A game's network, the positions that it learns from, and those that score it."""

    encoding: Encoding
    make_network: Callable[[Any], SEResNet]
    """Makes a network from the game's recipe."""
    learned: Positions[Batch]
    scored_on: Positions[Batch]
    part: str
    """What `scored_on` are for, for metrics.json."""
    others: Mapping[str, Positions[Batch]] = field(default_factory=dict)
    """More positions to score at the end, by name."""
    finish: Finish[Batch] | None = None

    def train(
        self,
        folder: Path,
        recipe: TowerRecipe,
        *,
        rank: Rank,
        seconds: float = float("inf"),
        teacher: str | None = None,
        begin_as: str | None = None,
    ) -> Iterator[dict[str, float]]:
        """Train a network; see `kedge.training.trainer.train`.

        ``teacher`` and ``begin_as`` are models, by name or file, or checkpoints of other runs.
        """
        torch.manual_seed(recipe.seed)
        teacher_network: nn.Module | None = None
        if teacher is not None:
            teacher_network = loaded = self._load(teacher, type(recipe))[0]
            if self.encoding.is_symmetric:
                teacher_network = TurnedTeacher(loaded, self.encoding)
        network = make_checked(lambda: self.make_network(recipe), recipe)
        before: list[dict[str, Any]] = []
        if begin_as is not None:
            other, before = self._load(begin_as, type(recipe))
            grow(other, network)
            self._settle(network, rank.device)
        trainer = TowerTrainer(network, recipe, rank, teacher_network, rank.device.type == "cuda")
        trainer.stages = [*before, *trainer.stages]
        return train(
            trainer,
            self.learned,
            self.scored_on,
            folder,
            self._exported,
            part=self.part,
            seconds=seconds,
            others=self.others,
            finish=self.finish,
        )

    def _exported(self, network: nn.Module) -> ModelProto:
        assert isinstance(network, SEResNet)
        weights = make_weights(self._scaled(network.folded(), 1.0), "trained", self.encoding)
        return to_shipped_onnx(weights)

    def _settle(self, network: SEResNet, device: torch.device) -> None:
        """Adjust batch normalisation so that training starts from the network's inference."""
        count = min(len(self.learned), _SETTLED_ON)
        rows = torch.arange(count, device=device) * len(self.learned) // max(count, 1)
        if not count:
            return  # `train` reports it
        network.to(device)
        with torch.autocast(device.type, torch.bfloat16):
            batch = self.learned.batch(rows)
            network.settle(batch.planes, batch.who)

    def _load(self, name: str, kind: type[TowerRecipe]) -> tuple[SEResNet, list[dict[str, Any]]]:
        """Load a model, or the averaged network of a checkpoint; also return its stages."""
        path = Path(name)
        if path.suffix != ".pt":
            return self._load_model(name, kind), [{"from_step": 0, "begun_as": name}]
        state = read_checkpoint(path, torch.device("cpu"))
        stages = state["stages"]
        # Checkpoints of earlier versions also have fields of another game's recipe.
        known = {each.name for each in fields(kind)}
        recipe = {key: value for key, value in stages[-1].items() if key in known}
        network = self.make_network(kind(**recipe))
        module = "module."
        averaged = {
            key.removeprefix(module): value
            for key, value in state["averaged"].items()
            if key.startswith(module)
        }
        fill(network, averaged, path)
        return network, stages

    def _load_model(self, name: str, kind: type[TowerRecipe]) -> SEResNet:
        weights = load_as(Weights, name)
        if weights.encoding.game != self.encoding.game:
            raise InputError(f"{name}: not a model for {self.encoding.game}")
        network = self.make_network(kind.for_weights(weights))
        ours = {key: array.shape for key, array in network.folded().items()}
        if ours != {key: array.shape for key, array in weights.arrays.items()}:
            raise InputError(f"{name}: not a network shape that kedge can train")
        network.unfold(self._scaled(weights.arrays, -1.0))
        return network

    def _scaled(self, arrays: Mapping[str, Any], power: float) -> dict[str, Any]:
        """Exchange the plane of the number as training scales it for the one that is evaluated."""
        kernels = arrays["input.weight"].copy()
        kernels[:, self.encoding.number_plane] /= self.encoding.number_scale**power
        return {**arrays, "input.weight": kernels}

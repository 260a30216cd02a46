"""Imitation: a network that says what people would play, and how the game ended for them.

Positions lie packed on the device (bit masks, 64 points a word) and are unpacked there, so that the
device is the limit and not the road to it.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kedge.errors import InputError
from kedge.files import write_atomic
from kedge.models.encoding import Encoding
from kedge.models.network import to_shipped_onnx
from kedge.models.weights import weights_of
from kedge.training.distributed import Rank
from kedge.training.growth import grow
from kedge.training.muon import Muon
from kedge.training.network import SEResNet

_SAMPLE = 65_536  # held-out positions that are looked at while training
NO_MOVE = -100  # which torch's cross-entropy leaves out
_SHAPE = ("filters", "blocks", "se_ratio")  # of what is played
_MOVED = ("optimizer", "later")  # what moves the weights, and which there are besides


@dataclass(frozen=True)
class Recipe:
    """How to train; the whole of it goes into the model's card."""

    filters: int = 64
    blocks: int = 6
    se_ratio: int = 8
    drop: float = 0.1
    """Stochastic depth of the last block; earlier ones less."""
    steps: int = 20_000
    batch: int = 4096
    optimizer: Literal["adamw", "muon", "sgd"] = "adamw"
    """Muon moves the matrices of the tower, at AdamW's scale, and AdamW the rest; SGD has
    Nesterov's momentum, 0.9."""
    learning_rate: float = 2e-3
    warmup: int = 500
    schedule: Literal["cosine", "steps", "trapezoid"] = "cosine"
    """After the warmup: down in half a cosine, or to a tenth after every quarter of the steps, or
    level, and down in a line over the last quarter; of that one more steps can be had later."""
    weight_decay: float = 0.05
    value_weight: float = 0.1
    later: int = 0
    """So many moves after the next are predicted as well while training; only in Go."""
    later_weight: float = 0.25
    """Of each of them, beside 1 for the next."""
    teacher_weight: float = 0.0
    """How much of the policy loss is the teacher's policy, where one is given."""
    average: float = 0.999
    """The weights that are kept are this running mean of those trained."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("filters", "blocks", "se_ratio", "steps", "batch", "warmup"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: at least 1, not {getattr(self, name)}")
        if self.filters < self.se_ratio:
            raise InputError(f"filters: at least se_ratio ({self.se_ratio}), not {self.filters}")
        for name in ("drop", "teacher_weight", "average"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}: from 0 to 1, not {getattr(self, name):g}")
        kinds = {
            "optimizer": ("adamw", "muon", "sgd"),
            "schedule": ("cosine", "steps", "trapezoid"),
        }
        for name, known in kinds.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name}: {', '.join(known)}, not {getattr(self, name)}")
        if not self.learning_rate > 0.0:
            raise InputError(f"learning_rate: above 0, not {self.learning_rate:g}")


class Batch(NamedTuple):
    """Positions as a network takes them, and what people did."""

    planes: Tensor  # (n, planes, side, side) bfloat16
    legal: Tensor | None  # (n, moves) bool; None if every move counts
    moves: Tensor  # (n,) int64, what was played
    results: Tensor  # (n,) float32: 1 won, 0 drawn, −1 lost, for who moves; NaN where unknown
    later: tuple[Tensor, ...] = ()  # each (n,) int64, the moves after that; NO_MOVE after the last

    def masked(self, logits: Tensor) -> Tensor:
        """The logits in float32, those of illegal moves out of the way."""
        logits = logits.float()
        return logits if self.legal is None else logits.masked_fill(~self.legal, -1e4)


class Positions(Protocol):
    """Many positions, packed on a device."""

    def __len__(self) -> int: ...

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Some of them unpacked; `turns` draws each one's symmetry of the board, from [0, 1)."""


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    """What `Trainer.save` wrote; nothing in it is executed."""
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        if {"stages", "network", "averaged", "optimizers", "step"} <= set(state) and state[
            "stages"
        ]:
            return state
        reason = "parts are missing"
    except OSError as error:
        reason = error.strerror or "cannot be read"
    except Exception as error:  # torch's own kinds are many
        reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
    raise InputError(f"{path}: not a checkpoint of a training ({reason})")


def _fill(
    module: nn.Module, weights: dict[str, Tensor], path: Path, *, strict: bool = True
) -> None:
    """Load weights that may be another network's."""
    try:
        module.load_state_dict(weights, strict=strict)
    except RuntimeError:
        raise InputError(
            f"{path}: a checkpoint of another network, perhaps another game's"
        ) from None


def _running_mean(kept: float) -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """How the averaged weights follow: numbers slowly, whole numbers (indices, counts) at once.

    torch's own averages whole numbers too, and rounds indices down by one.
    """

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def follow(averaged: list[Tensor], current: list[Tensor], _count: Any) -> None:
        if averaged[0].is_floating_point():
            torch._foreach_lerp_(averaged, current, 1.0 - kept)
        else:
            for mean, now in zip(averaged, current, strict=True):
                mean.copy_(now)

    return follow


def optimizers_of(
    network: SEResNet, recipe: Recipe, *, fused: bool = False
) -> list[torch.optim.Optimizer]:
    """Which together move every weight; only what multiplies decays."""
    by_muon: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, weights in network.named_parameters():
        in_tower = weights.ndim == 2 and name.startswith(("input.", "blocks."))
        (by_muon if in_tower and recipe.optimizer == "muon" else rest).append(weights)
    groups: Any = [
        {"params": [p for p in rest if p.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in rest if p.ndim <= 1], "weight_decay": 0.0},
    ]
    rate, decay = recipe.learning_rate, recipe.weight_decay
    if recipe.optimizer == "sgd":
        return [torch.optim.SGD(groups, rate, momentum=0.9, nesterov=True, fused=fused)]
    adamw = torch.optim.AdamW(groups, rate, betas=(0.9, 0.98), fused=fused)
    if recipe.optimizer == "adamw":
        return [adamw]
    return [Muon(by_muon, rate, decay), adamw]


@dataclass(frozen=True)
class Metrics:
    """On held-out positions, among the legal moves."""

    positions: int
    top1: float
    cross_entropy: float
    value_loss: float


class Trainer:
    """Trains in pieces: `run` goes on from where it was, `save` and `load` keep everything."""

    def __init__(
        self,
        network: SEResNet,
        recipe: Recipe,
        rank: Rank,
        teacher: SEResNet | None = None,
        compiled: bool = True,
    ) -> None:
        if recipe.batch % rank.count:
            raise InputError(f"batch: {rank.count} processes cannot share {recipe.batch} evenly")
        device = rank.device
        self.recipe, self.rank, self.device = recipe, rank, device
        self.network = network.to(device, memory_format=torch.channels_last)
        self.averaged = torch.optim.swa_utils.AveragedModel(
            self.network,
            multi_avg_fn=_running_mean(recipe.average),
            use_buffers=True,
        )
        self.optimizers = optimizers_of(self.network, recipe, fused=device.type == "cuda")
        self.step = 0
        #: The recipes that it went by so far, and from which step on.
        self.stages: list[dict[str, Any]] = [{"from_step": 0, **asdict(recipe)}]
        self.teacher = teacher
        if teacher is not None:
            teacher.to(device, memory_format=torch.channels_last).eval()
        self._parallel = rank.wrapped(self.network)
        self._loss = torch.compile(self._plain_loss) if compiled else self._plain_loss

    def _rate(self, step: int) -> float:
        """Up in a line, then as the schedule says."""
        if step < self.recipe.warmup:
            return (step + 1) / self.recipe.warmup
        if self.recipe.schedule == "steps":
            return float(0.1 ** min(3, 4 * step // self.recipe.steps))
        if self.recipe.schedule == "trapezoid":
            return min(1.0, 4.0 * (self.recipe.steps - step) / self.recipe.steps)
        done = (step - self.recipe.warmup) / max(1, self.recipe.steps - self.recipe.warmup)
        return 0.5 * (1.0 + float(np.cos(np.pi * min(done, 1.0))))

    def _plain_loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            logits, value, later = self._parallel(batch.planes)
        logits = batch.masked(logits)
        policy_loss = functional.cross_entropy(logits, batch.moves)
        right = (logits.argmax(1) == batch.moves).float().mean()
        if self.teacher is not None and self.recipe.teacher_weight > 0.0:
            with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16):
                taught, *_ = self.teacher(batch.planes)
            lesson = -(batch.masked(taught).softmax(1) * logits.log_softmax(1)).sum(1).mean()
            share = self.recipe.teacher_weight
            policy_loss = (1.0 - share) * policy_loss + share * lesson
        for found, moves in zip(later, batch.later, strict=True):
            later_loss = functional.cross_entropy(found.float(), moves, ignore_index=NO_MOVE)
            policy_loss = policy_loss + self.recipe.later_weight * later_loss
        value_loss = self.network.value.losses(value, batch.results).mean()
        return policy_loss + self.recipe.value_weight * value_loss, right

    def run(
        self, positions: Positions, seconds: float = float("inf"), report_every: int = 200
    ) -> Iterator[dict[str, float]]:
        """Train until the steps are done or the time is up; yields how it goes."""
        start = time.monotonic()
        seed, rank = self.recipe.seed + self.step, self.rank
        generator = torch.Generator(device=self.device).manual_seed(seed)
        torch.manual_seed(seed * rank.count + rank.index)  # of stochastic depth, each its own
        order = torch.empty(0, dtype=torch.int64, device=self.device)
        losses, hits = torch.zeros(2, device=self.device), 0
        self.network.train()
        while self.step < self.recipe.steps and rank.agreed(time.monotonic() - start < seconds):
            if len(order) < self.recipe.batch:
                order = torch.randperm(len(positions), device=self.device, generator=generator)
            rows, order = order[: self.recipe.batch], order[self.recipe.batch :]
            # Drawn for the whole batch: it is the same one in any number of processes.
            turns = torch.rand(len(rows), device=self.device, generator=generator)
            loss, right = self._loss(positions.batch(rank.share(rows), rank.share(turns)))
            self.network.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            rate = self.recipe.learning_rate * self._rate(self.step)
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate
                optimizer.step()
            self.averaged.update_parameters(self.network)
            self.step += 1
            losses += torch.stack([loss.detach(), right])
            hits += 1
            if self.step % report_every == 0 or self.step == self.recipe.steps:
                mean = (rank.total(losses) / (hits * rank.count)).tolist()
                yield {
                    "step": self.step,
                    "loss": mean[0],
                    "top1": mean[1],
                    "seconds": time.monotonic() - start,
                }
                losses, hits = torch.zeros(2, device=self.device), 0

    def evaluate(self, positions: Positions, batch: int = 8192, most: int | None = None) -> Metrics:
        """The averaged network on held-out positions, or on so many of them, evenly spaced."""
        network = self.averaged.module.eval()
        count = len(positions) if most is None else min(most, len(positions))
        chosen = torch.arange(count, device=self.device) * len(positions) // max(count, 1)
        sums = torch.zeros(3, device=self.device, dtype=torch.float64)
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16):
            for first in range(self.rank.index * batch, count, self.rank.count * batch):
                batched = positions.batch(chosen[first : first + batch])
                logits, value, _ = network(batched.planes)
                logits = batched.masked(logits)
                sums += torch.stack(
                    [
                        (logits.argmax(1) == batched.moves).sum(),
                        functional.cross_entropy(logits, batched.moves, reduction="sum"),
                        network.value.losses(value, batched.results).sum(),
                    ]
                )
        top1, entropy, value = (self.rank.total(sums) / max(count, 1)).tolist()
        return Metrics(count, top1, entropy, value)

    def save(self, path: Path) -> None:
        """Everything that going on needs, in any number of processes, written by rename."""
        partial = path.with_suffix(".partial")
        torch.save(
            {
                "stages": self.stages,
                "network": self.network.state_dict(),
                "averaged": self.averaged.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                "step": self.step,
            },
            partial,
        )
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint, by this recipe from here on; the network must have its shape."""
        state = read_checkpoint(path, self.device)
        kept, ours = state["stages"][-1], asdict(self.recipe)
        for name in _SHAPE:
            there = kept.get(name)
            if ours[name] != there:
                raise InputError(
                    f"{path}: of another recipe ({name} is {there} there, {ours[name]} here)"
                )
        self.stages = state["stages"]
        if any(ours[name] != kept.get(name) for name in ours):
            self.stages = [*self.stages, {"from_step": state["step"], **ours}]
        same = all(ours[name] == kept.get(name) for name in _MOVED)
        _fill(self.network, state["network"], path, strict=same)
        _fill(self.averaged, state["averaged"], path, strict=same)
        if same:
            for optimizer, momenta in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(momenta)
        self.step = state["step"]


@dataclass(frozen=True)
class Course:
    """What a network of a game is taught on, and tested on."""

    encoding: Encoding
    make_network: Callable[[Recipe], SEResNet]
    learned: Positions
    tested: Positions

    def train(
        self,
        folder: Path,
        recipe: Recipe,
        *,
        rank: Rank,
        seconds: float = float("inf"),
        teacher: Path | None = None,
        seedling: Path | None = None,
    ) -> Iterator[dict[str, float]]:
        """Train; yields how it goes, with the accuracy on a sample of what is tested on.

        ``folder`` gets checkpoint.pt, from which the same call goes on, and model.onnx (what kedge
        ships) at every report, metrics.json (of all that is tested on) at the end. ``teacher`` and
        ``seedling``, a smaller network that this one grows from, are other runs' checkpoints. Every
        process of a `kedge.training.distributed.joined` call makes the same call; the first one
        writes.
        """
        if not len(self.learned) or not len(self.tested):
            raise InputError("too few games: none to train on, or none held out to test on")
        torch.manual_seed(recipe.seed)
        taught = None if teacher is None else self._load(teacher)[0]
        network = self.make_network(recipe)
        before: list[dict[str, Any]] = []
        if seedling is not None:
            small, before = self._load(seedling)
            grow(small, network)
        compiled = rank.device.type == "cuda"
        trainer = Trainer(network, recipe, rank, taught, compiled)
        trainer.stages = [*before, *trainer.stages]
        checkpoint = folder / "checkpoint.pt"
        if checkpoint.exists():
            trainer.load(checkpoint)
        every = max(10, min(500, recipe.steps // 20))
        for report in trainer.run(self.learned, seconds, every):
            metrics = trainer.evaluate(self.tested, most=_SAMPLE)
            if rank.is_first:
                trainer.save(checkpoint)
                write_atomic(folder / "model.onnx", self._exported(trainer.averaged.module))
            yield {**report, "held_out_top1": metrics.top1, "held_out_loss": metrics.cross_entropy}
        metrics = trainer.evaluate(self.tested)
        if rank.is_first:
            trainer.save(checkpoint)
            write_atomic(folder / "model.onnx", self._exported(trainer.averaged.module))
            told = {"stages": trainer.stages, "step": trainer.step, "metrics": asdict(metrics)}
            write_atomic(folder / "metrics.json", json.dumps(told, indent=2) + "\n")

    def _exported(self, network: SEResNet) -> bytes:
        weights = weights_of(network.folded(), "trained", self.encoding)
        content: bytes = to_shipped_onnx(weights).SerializeToString()
        return content

    def _load(self, path: Path) -> tuple[SEResNet, list[dict[str, Any]]]:
        """The averaged network of a checkpoint, and its stages."""
        state = read_checkpoint(path, torch.device("cpu"))
        stages = state["stages"]
        recipe = {name: value for name, value in stages[-1].items() if name != "from_step"}
        network = self.make_network(Recipe(**recipe))
        module = "module."
        averaged = {
            key.removeprefix(module): value
            for key, value in state["averaged"].items()
            if key.startswith(module)
        }
        _fill(network, averaged, path)
        return network, stages

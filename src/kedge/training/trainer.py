"""The training loop of every network.

A `Trainer` takes the steps, keeps the running mean of the weights and writes checkpoints. A game's
subclass defines the loss and the scores on held-out positions.
"""

import json
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_args

import numpy as np
import torch
from torch import Tensor, nn

from kedge.errors import InputError
from kedge.files import write_atomic
from kedge.training.distributed import Rank
from kedge.training.muon import Muon

Optimizer = Literal["adamw", "muon", "sgd"]
Schedule = Literal["cosine", "steps", "trapezoid", "clock"]
# Held-out positions evaluated at each report: half as many as were trained on since the last
# report, at most _SAMPLE and at least _FEW.
_SAMPLE, _FEW = 65_536, 1024


@dataclass(frozen=True)
class Recipe:
    """Training settings, all stored with the model. Games add their own."""

    steps: int = 20_000
    batch: int = 4096
    optimizer: Optimizer = "adamw"
    """Muon updates the matrices of the tower, at AdamW's scale, and AdamW the rest. SGD uses
    Nesterov's momentum, 0.9."""
    learning_rate: float = 2e-3
    warmup: int = 500
    schedule: Schedule = "cosine"
    """Learning rate after the warmup. `cosine` falls in half a cosine; `steps` falls to a tenth
    after every quarter of the steps; `trapezoid` stays level and falls linearly at the end, so that
    a run can be prolonged; `clock` does the same by time, so that rented time is used to its
    end."""
    decay: float = 0.25
    """Share of the steps, or of the time, in which `trapezoid` and `clock` fall."""
    weight_decay: float = 0.05
    average: float = 0.999
    """Decay of the running mean of the weights, which is the network that is kept."""
    rounded: bool = False
    """Compute with weights rounded to bytes, as they ship, and train the unrounded weights. A last
    stage then loses little accuracy when it is packed."""
    seed: int = 0

    #: Fields that define the shape of the network that is played.
    shape: ClassVar[tuple[str, ...]] = ()
    #: Fields that define the optimizers and the weights used only in training.
    moved: ClassVar[tuple[str, ...]] = ("optimizer",)

    def __post_init__(self) -> None:
        self._check_counts("steps", "batch", "warmup")
        self._check_shares("average", "decay")
        kinds = {"optimizer": get_args(Optimizer), "schedule": get_args(Schedule)}
        for name, known in kinds.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name}: one of {', '.join(known)}, not {getattr(self, name)}")
        if not self.learning_rate > 0.0:
            raise InputError(f"learning_rate: above 0, not {self.learning_rate:g}")

    def _check_counts(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) < 1:
                raise InputError(f"{name}: at least 1, not {getattr(self, name)}")

    def _check_shares(self, *names: str) -> None:
        for name in names:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}: from 0 to 1, not {getattr(self, name):g}")


B = TypeVar("B")
B_co = TypeVar("B_co", covariant=True)


class Positions(Protocol[B_co]):
    """Many positions, packed on a device."""

    def __len__(self) -> int: ...

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> B_co:
        """Unpack some rows; `turns`, in [0, 1), selects each row's symmetry of the game."""


@dataclass(frozen=True)
class Finish(Generic[B_co]):
    """Other positions for the end of a run."""

    share: float
    """Share of the run, from 0 to 1."""
    positions: Positions[B_co]


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    """Read what `Trainer.save` wrote, without executing code from the file."""
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        if {"stages", "network", "averaged", "optimizers", "step"} <= set(state) and state[
            "stages"
        ]:
            return state
        reason = "parts are missing"
    except OSError as error:
        reason = error.strerror or "cannot read"
    except Exception as error:  # torch's own kinds are many
        reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
    raise InputError(f"{path}: not a training checkpoint ({reason})")


def fill(module: nn.Module, weights: dict[str, Tensor], path: Path, *, strict: bool = True) -> None:
    """Load `weights` into `module`; raise `InputError` if they belong to another network."""
    try:
        module.load_state_dict(weights, strict=strict)
    except RuntimeError:
        raise InputError(
            f"{path}: checkpoint of a different network, perhaps of another game"
        ) from None


def _running_mean(kept: float) -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """Return the update of the averaged weights: a running mean for floats, a copy for integers.

    torch's own function averages integers (indices, counts) too, and rounds indices down by one.
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
    network: nn.Module, recipe: Recipe, inner: Collection[str], *, fused: bool = False
) -> list[torch.optim.Optimizer]:
    """Return optimizers that together update every weight.

    Muon updates the matrices of the `inner` parts, but for the inputs of the players, which are
    embeddings. Biases and norms have no weight decay.
    """
    by_muon: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, weights in network.named_parameters():
        parts = set(name.split("."))
        is_inner = weights.ndim == 2 and not parts.isdisjoint(inner) and "who" not in parts
        (by_muon if is_inner and recipe.optimizer == "muon" else rest).append(weights)
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
    if not by_muon:
        raise InputError("optimizer: muon cannot train this network; use adamw or sgd")
    return [Muon(by_muon, rate, decay), adamw]


@contextmanager
def rounded_weights(network: nn.Module) -> Iterator[None]:
    """Round matrices and kernels to bytes for a while, as `onnx_graph.in_bytes` does."""
    matrices = [weights for weights in network.parameters() if weights.ndim > 1]
    unrounded = [weights.detach().clone() for weights in matrices]
    with torch.no_grad():
        for weights in matrices:
            rows = weights.flatten(1)
            scale = (rows.abs().amax(1, keepdim=True) / 127.0).clamp(min=1e-30)
            weights.copy_((rows / scale).round_().mul_(scale).view_as(weights))
    try:
        yield
    finally:
        with torch.no_grad():
            torch._foreach_copy_(matrices, unrounded)


@dataclass(frozen=True)
class Metrics:
    """Scores on held-out positions, among legal moves."""

    positions: int
    top1: float
    cross_entropy: float
    value_loss: float


class Trainer(ABC, Generic[B]):
    """Trains a network. `run` can stop and resume; `save` and `load` keep the whole state."""

    #: Parts of the network whose matrices Muon updates: neither embeddings nor output layers.
    inner: ClassVar[tuple[str, ...]] = ()
    #: Batches that CPU threads prepare in advance; 0 if the device unpacks them fast enough.
    ahead: ClassVar[int] = 0

    def __init__(
        self,
        network: nn.Module,
        recipe: Recipe,
        rank: Rank,
    ) -> None:
        if recipe.batch % rank.count:
            raise InputError(
                f"batch: must be a multiple of the {rank.count} processes, not {recipe.batch}"
            )
        device = rank.device
        self.recipe, self.rank, self.device = recipe, rank, device
        self.network = network.to(device, memory_format=torch.channels_last)
        self.averaged = torch.optim.swa_utils.AveragedModel(
            self.network,
            multi_avg_fn=_running_mean(recipe.average),
            use_buffers=True,
        )
        self.optimizers = optimizers_of(
            self.network, recipe, self.inner, fused=device.type == "cuda"
        )
        self.step = 0
        #: The network with the lowest cross-entropy so far, for `train` with `keep_best`: its step,
        #: cross-entropy and weights.
        self.best: dict[str, Any] = {}
        #: The recipes used so far, each with its first step.
        self.stages: list[dict[str, Any]] = [{"from_step": 0, **asdict(recipe)}]
        #: The network wrapped so that gradients are averaged over all processes.
        self.parallel = rank.wrapped(self.network)

    @abstractmethod
    def loss(self, batch: B) -> tuple[Tensor, Tensor]:
        """The loss to minimise, and the share of correct predictions."""

    @abstractmethod
    def scores(self, network: nn.Module, batch: B) -> Tensor:
        """Four sums over held-out positions: choices, correct predictions, cross-entropies and
        value losses."""

    def _rate(self, step: int, spent: float = 0.0) -> float:
        """The learning rate factor: a linear warmup, then the schedule.

        `spent` is the share of the time that is over.
        """
        if step < self.recipe.warmup:
            return (step + 1) / self.recipe.warmup
        if self.recipe.schedule == "clock":
            return min(1.0, (1.0 - spent) / max(self.recipe.decay, 1e-6))
        if self.recipe.schedule == "steps":
            return float(0.1 ** min(3, 4 * step // self.recipe.steps))
        if self.recipe.schedule == "trapezoid":
            down = max(self.recipe.decay * self.recipe.steps, 1.0)
            return min(1.0, (self.recipe.steps - step) / down)
        done = (step - self.recipe.warmup) / max(1, self.recipe.steps - self.recipe.warmup)
        return 0.5 * (1.0 + float(np.cos(np.pi * min(done, 1.0))))

    def run(
        self,
        positions: Positions[B],
        seconds: float = float("inf"),
        report_every: int = 200,
        finish: Finish[B] | None = None,
    ) -> Iterator[dict[str, float]]:
        """Train until the steps are done or the time is up; yield progress reports.

        The last share of the run takes its positions from `finish`.
        """
        if self.recipe.schedule == "clock" and math.isinf(seconds):
            raise InputError("schedule: clock needs a time to run; add --seconds")
        start = time.monotonic()
        seed, rank = self.recipe.seed + self.step, self.rank
        torch.manual_seed(seed * rank.count + rank.index)  # stochastic depth differs by process
        losses, hits = torch.zeros(2, device=self.device), 0
        self.network.train()
        with ExitStack() as running:
            batches = running.enter_context(closing(self._batches(positions, seed)))
            while (
                self.step < self.recipe.steps
                and (spent := rank.first((time.monotonic() - start) / seconds)) < 1.0
            ):
                if finish is not None and self._done(spent) >= 1.0 - finish.share:
                    batches = running.enter_context(closing(self._batches(finish.positions, seed)))
                    finish = None
                batch = next(batches)
                self.network.zero_grad(set_to_none=True)
                with rounded_weights(self.network) if self.recipe.rounded else nullcontext():
                    loss, right = self.loss(batch)
                    loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                rate = self.recipe.learning_rate * self._rate(self.step, spent)
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

    def _done(self, spent: float) -> float:
        """The share of the run that is over; `spent` is that of the time."""
        return spent if self.recipe.schedule == "clock" else self.step / self.recipe.steps

    def _batches(self, positions: Positions[B], seed: int) -> Generator[B, None, None]:
        """Yield batches without end; the order depends on the seed, not on the processes."""
        size, share = self.recipe.batch, self.rank.share
        where = torch.device("cpu") if self.ahead else self.device  # threads must not wait for it
        generator = torch.Generator(where).manual_seed(seed)

        def drawn() -> Iterator[tuple[Tensor, Tensor]]:
            order = torch.empty(0, dtype=torch.int64, device=where)
            while True:
                if len(order) < size:
                    order = torch.randperm(len(positions), device=where, generator=generator)
                rows, order = order[:size], order[size:]
                turns = torch.rand(len(rows), device=where, generator=generator)
                yield share(rows), share(turns)

        if not self.ahead:
            yield from (positions.batch(*draw) for draw in drawn())
            return
        threads = ThreadPoolExecutor(self.ahead)
        try:
            waiting: deque[Future[B]] = deque()
            for draw in drawn():
                waiting.append(threads.submit(positions.batch, *draw))
                if len(waiting) > self.ahead:
                    yield waiting.popleft().result()
        finally:
            threads.shutdown(cancel_futures=True)

    def evaluate(
        self, positions: Positions[B], batch: int = 8192, most: int | None = None
    ) -> Metrics:
        """Score the averaged network on held-out positions, or on `most` evenly spaced ones."""
        network = self.averaged.module.eval()
        count = len(positions) if most is None else min(most, len(positions))
        chosen = torch.arange(count, device=self.device) * len(positions) // max(count, 1)
        sums = torch.zeros(4, device=self.device, dtype=torch.float64)
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16):
            for first in range(self.rank.index * batch, count, self.rank.count * batch):
                sums += self.scores(network, positions.batch(chosen[first : first + batch]))
        choices, right, entropy, value = self.rank.total(sums).tolist()
        total = max(choices, 1.0)
        return Metrics(int(choices), right / total, entropy / total, value / max(count, 1))

    def is_best(self, metrics: Metrics) -> bool:
        """Note the averaged network if no earlier one had as low a cross-entropy."""
        if self.best and metrics.cross_entropy >= self.best["cross_entropy"]:
            return False
        weights = {name: array.clone() for name, array in self.averaged.state_dict().items()}
        entropy = metrics.cross_entropy
        self.best = {"step": self.step, "cross_entropy": entropy, "averaged": weights}
        return True

    def save(self, path: Path) -> None:
        """Write the whole training state atomically; any number of processes can resume it."""
        partial = path.with_suffix(".partial")
        torch.save(
            {
                "stages": self.stages,
                "network": self.network.state_dict(),
                "averaged": self.averaged.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                "step": self.step,
                "best": self.best,
            },
            partial,
        )
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Resume from a checkpoint of the same network shape, with this trainer's recipe."""
        state = read_checkpoint(path, self.device)
        kept, ours = state["stages"][-1], asdict(self.recipe)
        for name in self.recipe.shape:
            # Checkpoints older than a field have its default.
            there = kept.get(name, getattr(type(self.recipe), name))
            if ours[name] != there:
                raise InputError(
                    f"{path}: recipe differs ({name} is {there} there, {ours[name]} here); "
                    f"use the same {name} or another folder"
                )
        self.stages = state["stages"]
        if any(ours[name] != kept.get(name) for name in ours):
            self.stages = [*self.stages, {"from_step": state["step"], **ours}]
        same = all(ours[name] == kept.get(name) for name in self.recipe.moved)
        fill(self.network, state["network"], path, strict=same)
        fill(self.averaged, state["averaged"], path, strict=same)
        if same:
            for optimizer, momenta in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(momenta)
        self.step = state["step"]
        self.best = state.get("best", {})  # older checkpoints have none


def train(
    trainer: Trainer[B],
    learned: Positions[B],
    tested: Positions[B],
    folder: Path,
    export: Callable[[nn.Module], bytes],
    *,
    seconds: float = float("inf"),
    others: Mapping[str, Positions[B]] | None = None,
    finish: Finish[B] | None = None,
    keep_best: bool = False,
    part: str | None = None,
) -> Iterator[dict[str, float]]:
    """Train; yield progress reports with the accuracy on a sample of the held-out positions.

    Every report writes checkpoint.pt, from which the same call resumes, and model.onnx to
    ``folder``. The end writes metrics.json, measured on all held-out positions, and on `others` by
    name; it says which `part` of the games the held-out positions are. With `keep_best` the model
    is the one with the lowest cross-entropy on all of them at a report, which is early stopping;
    else the last. All processes of
    `kedge.training.distributed.training_rank` make the same call; the first one writes.
    """
    if not len(learned) or not len(tested):
        raise InputError("too few games: none to train on, or none held out to test on")
    rank = trainer.rank
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint)

    def keep(metrics: Metrics) -> None:
        is_kept = not keep_best or trainer.is_best(metrics)
        if rank.is_first:
            trainer.save(checkpoint)
            if is_kept:
                write_atomic(folder / "model.onnx", export(trainer.averaged.module))

    every = max(10, min(500, trainer.recipe.steps // 20))
    sample = max(_FEW, min(_SAMPLE, every * trainer.recipe.batch // 2))
    for report in trainer.run(learned, seconds, every, finish):
        metrics = trainer.evaluate(tested, most=None if keep_best else sample)
        keep(metrics)
        yield {**report, "held_out_top1": metrics.top1, "held_out_loss": metrics.cross_entropy}
    metrics = trainer.evaluate(tested)
    keep(metrics)
    if keep_best:
        trainer.averaged.load_state_dict(trainer.best["averaged"])
        metrics = trainer.evaluate(tested)
    more = {name: asdict(trainer.evaluate(part)) for name, part in (others or {}).items()}
    if rank.is_first:
        summary = {
            "stages": trainer.stages,
            "step": trainer.step,
            **({"kept_step": trainer.best["step"]} if keep_best else {}),
            "learned": len(learned),
            "metrics": {**({"part": part} if part else {}), **asdict(metrics)},
            **({"others": more} if more else {}),
        }
        write_atomic(folder / "metrics.json", json.dumps(summary, indent=2) + "\n")

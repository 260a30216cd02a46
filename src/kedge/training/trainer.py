"""The training loop of every network.

A `Trainer` takes the steps, keeps the running mean of the weights and writes checkpoints. A game's
subclass defines the loss and the scores on held-out positions.
"""

import json
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import torch
from onnx import ModelProto
from torch import Tensor, nn

from kedge.errors import InputError
from kedge.files import write_atomic
from kedge.training.distributed import Rank
from kedge.training.optimizers import optimizers_of, rounded_weights, running_mean
from kedge.training.recipe import Recipe

# Held-out positions evaluated at each report: half as many as were trained on since the last
# report, at most `Trainer.sample` and at least _FEW.
_FEW = 1024

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
    #: Most held-out positions evaluated at a report; games, where a batch holds whole games.
    sample: ClassVar[int] = 65_536

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
            multi_avg_fn=running_mean(recipe.average),
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
                    if not math.isfinite(mean[0]):
                        raise InputError(
                            f"step {self.step}: the loss is {mean[0]:g}; "
                            "use a smaller learning_rate"
                        )
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

    def keep_if_best(self, metrics: Metrics) -> bool:
        """Keep the averaged network if none had as low a cross-entropy; return whether so."""
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
    scored_on: Positions[B],
    folder: Path,
    export: Callable[[nn.Module], ModelProto],
    *,
    part: str,
    seconds: float = float("inf"),
    others: Mapping[str, Positions[B]] | None = None,
    finish: Finish[B] | None = None,
    keep_best: bool = False,
) -> Iterator[dict[str, float]]:
    """Train; yield progress reports with the accuracy on a sample of `scored_on`, a held-out part.

    Every report writes checkpoint.pt, from which the same call resumes, and model.onnx to
    ``folder``. The end writes metrics.json, measured on all of `scored_on`, and on `others` by
    name. With `keep_best` the model is the one with the lowest cross-entropy at a report, which is
    early stopping; else the last. It compares reports on the same positions: all of them, or as
    many as `Trainer.sample`. All processes of `kedge.training.distributed.training_rank` make the
    same call; the first one writes.
    """
    if not len(learned) or not len(scored_on):
        raise InputError("too few games: none to train on, or none held out to test on")
    rank = trainer.rank
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint)

    def keep(metrics: Metrics) -> None:
        is_kept = not keep_best or trainer.keep_if_best(metrics)
        if rank.is_first:
            trainer.save(checkpoint)
            if is_kept:
                model = export(trainer.averaged.module)
                write_atomic(folder / "model.onnx", model.SerializeToString())

    every = max(10, min(500, trainer.recipe.steps // 20))
    sample = trainer.sample
    if not keep_best:
        sample = max(_FEW, min(sample, every * trainer.recipe.batch // 2))
    for report in trainer.run(learned, seconds, every, finish):
        metrics = trainer.evaluate(scored_on, most=sample)
        keep(metrics)
        yield {**report, "held_out_top1": metrics.top1, "held_out_loss": metrics.cross_entropy}
    metrics = trainer.evaluate(scored_on, most=sample if keep_best else None)
    keep(metrics)
    if keep_best:
        trainer.averaged.load_state_dict(trainer.best["averaged"])
        metrics = trainer.evaluate(scored_on)
    more = {name: asdict(trainer.evaluate(other)) for name, other in (others or {}).items()}
    if rank.is_first:
        summary = {
            "stages": trainer.stages,
            "step": trainer.step,
            **({"kept_step": trainer.best["step"]} if keep_best else {}),
            "learned": len(learned),
            "metrics": {"part": part, **asdict(metrics)},
            **({"others": more} if more else {}),
        }
        write_atomic(folder / "metrics.json", json.dumps(summary, indent=2) + "\n")

"""Training in several processes, started by torchrun: each computes a share of every batch.

All processes hold the same weights, take the same steps and normalise by the same statistics. So
their number is not part of the recipe.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn

from kedge.errors import InputError


@dataclass(frozen=True)
class Rank:
    """This process's index among the training processes, and its device."""

    device: torch.device
    index: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes and prints."""
        return self.index == 0

    def share(self, rows: Tensor) -> Tensor:
        """This process's rows of a batch. Shares are equal; a remainder is dropped."""
        return rows[: len(rows) // self.count * self.count][self.index :: self.count]

    def wrapped(self, network: nn.Module) -> nn.Module:
        """Wrap the network so that gradients are averaged over all processes."""
        if self.count == 1:
            return network
        return nn.parallel.DistributedDataParallel(network)

    def total(self, numbers: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.count > 1:
            distributed.all_reduce(numbers)
        return numbers

    def first(self, number: float) -> float:
        """The first process's number: clocks differ, but all must take the same steps."""
        if self.count == 1:
            return number
        # On the CPU, to avoid waiting for a GPU.
        shared = torch.tensor([number], dtype=torch.float64)
        distributed.broadcast(shared, src=0)
        return float(shared)


@contextmanager
def training_rank(device: str) -> Iterator[Rank]:
    """Join the processes that torchrun started, if any; each gets its own GPU."""
    count = int(os.environ["WORLD_SIZE"]) if distributed.is_torchelastic_launched() else 1
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"device {device!r}: torch finds no GPU; use cpu")
    if count == 1:
        try:
            where = torch.device(device)
        except RuntimeError:
            raise InputError(f"device {device!r}: use cpu, cuda, cuda:1, …") from None
        yield Rank(where)
        return
    if device not in ("cpu", "cuda"):
        raise InputError(f"device {device!r}: torchrun assigns the GPUs; use cuda")
    where = torch.device(device)
    if device == "cuda":
        where = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        if where.index >= torch.cuda.device_count():
            gpus = torch.cuda.device_count()
            raise InputError(f"more processes than GPUs; start at most {gpus} on this machine")
        torch.cuda.set_device(where)
    distributed.init_process_group("gloo" if device == "cpu" else "cpu:gloo,cuda:nccl")
    try:
        yield Rank(where, distributed.get_rank(), count)
        distributed.barrier()  # the first may still write; a process that leaves early looks dead
    finally:
        distributed.destroy_process_group()


class BatchNorm(nn.BatchNorm2d):
    """Batch normalisation over the whole batch, of which each process has an equal share.

    torch's own ``SyncBatchNorm`` needs a GPU.
    """

    def forward(self, x: Tensor) -> Tensor:
        if not (self.training and distributed.is_initialized()):
            return super().forward(x)
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        y = x.float()
        moments = torch.stack([y.mean((0, 2, 3)), y.square().mean((0, 2, 3))])
        mean, square = _Sum.apply(moments) / distributed.get_world_size()
        variance = (square - mean.square()).clamp(min=0.0)
        with torch.no_grad():
            count = distributed.get_world_size() * x.numel() / x.shape[1]
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * (count / (count - 1.0)), self.momentum)
        scale = self.weight * torch.rsqrt(variance + self.eps)
        shift = self.bias - mean * scale
        return (y * scale[:, None, None] + shift[:, None, None]).to(x.dtype)


class _Sum(torch.autograd.Function):
    """Sum over all processes; the gradients are summed likewise."""

    @staticmethod
    def forward(_context: Any, numbers: Tensor) -> Tensor:
        total = numbers.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(_context: Any, gradient: Tensor) -> Tensor:
        total = gradient.contiguous().clone()
        distributed.all_reduce(total)
        return total

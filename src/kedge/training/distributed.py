"""Training in several processes, which torchrun starts: each computes a share of every batch.

They hold the same weights, take the same steps and normalise by the same numbers, so that how many
there are is no part of the recipe.
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
    """Which of the processes that train together this one is, and where it computes."""

    device: torch.device
    index: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """The one that writes and prints."""
        return self.index == 0

    def share(self, rows: Tensor) -> Tensor:
        """This process's rows of a batch. Shares are equal: a rest that cannot be is left out."""
        return rows[: len(rows) // self.count * self.count][self.index :: self.count]

    def wrapped(self, network: nn.Module) -> nn.Module:
        """The network such that gradients are averaged over all processes."""
        if self.count == 1:
            return network
        return nn.parallel.DistributedDataParallel(network)

    def total(self, numbers: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.count > 1:
            distributed.all_reduce(numbers)
        return numbers

    def agreed(self, answer: bool) -> bool:
        """What the first process answers: clocks differ, and all must stop at the same step."""
        if self.count == 1:
            return answer
        told = torch.tensor([answer])  # on the CPU, so that no GPU is waited for
        distributed.broadcast(told, src=0)
        return bool(told)


@contextmanager
def joined(device: str) -> Iterator[Rank]:
    """The others that torchrun has started, if it did; each gets a GPU of its own."""
    count = int(os.environ["WORLD_SIZE"]) if distributed.is_torchelastic_launched() else 1
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"device {device!r}: torch sees no GPU here")
    if count == 1:
        try:
            where = torch.device(device)
        except RuntimeError:
            raise InputError(f"device {device!r}: torch trains on cpu, cuda, cuda:1, …") from None
        yield Rank(where)
        return
    if device not in ("cpu", "cuda"):
        raise InputError(f"device {device!r}: torchrun gives out the GPUs; say cuda")
    where = torch.device(device)
    if device == "cuda":
        where = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        if where.index >= torch.cuda.device_count():
            raise InputError(f"{torch.cuda.device_count()} GPUs here: start no more processes")
        torch.cuda.set_device(where)
    distributed.init_process_group("gloo" if device == "cpu" else "cpu:gloo,cuda:nccl")
    try:
        yield Rank(where, distributed.get_rank(), count)
        distributed.barrier()  # the first may still be writing, and who leaves early looks dead
    finally:
        distributed.destroy_process_group()


class BatchNorm(nn.BatchNorm2d):
    """Batch normalisation by the whole batch, of which each process has an equal share.

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
    """Over all processes: each one's gradient is the sum of what all of them make of it."""

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

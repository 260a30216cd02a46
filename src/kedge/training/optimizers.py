"""Optimizers, the running mean of weights, and rounding to bytes."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from kedge.errors import InputError
from kedge.training.muon import Muon
from kedge.training.recipe import Recipe


def running_mean(kept: float) -> Callable[[list[Tensor], list[Tensor], Any], None]:
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

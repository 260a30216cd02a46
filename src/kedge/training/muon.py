"""Muon: momentum in which every matrix is replaced by the nearest orthogonal one.

torch's own updates one matrix at a time. For a tower of small convolutions the kernel launches then
take longer than the gradients. Here all matrices of one shape are updated together.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

_MOMENTUM = 0.95


def orthogonalised(matrices: Tensor) -> Tensor:
    """Bring the singular values of the matrices near 1, by five quintic steps in bfloat16."""
    x = matrices.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Updates matrices only. Steps are scaled like AdamW's, so both share rate and decay."""

    def __init__(self, matrices: Iterable[Tensor], rate: float, weight_decay: float) -> None:
        super().__init__(list(matrices), {"lr": rate, "weight_decay": weight_decay})

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            shapes: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
            for weights in group["params"]:
                if weights.grad is not None:
                    shapes[weights.shape].append(weights)
            for shape, alike in shapes.items():
                for weights in alike:
                    if not self.state[weights]:
                        self.state[weights]["momentum"] = torch.zeros_like(weights)
                gradients = [weights.grad for weights in alike]
                momenta = [self.state[weights]["momentum"] for weights in alike]
                torch._foreach_lerp_(momenta, gradients, 1.0 - _MOMENTUM)
                ahead = torch._foreach_lerp(gradients, momenta, _MOMENTUM)  # Nesterov's
                orthogonal = orthogonalised(torch.stack(ahead)).to(alike[0].dtype)
                torch._foreach_mul_(alike, 1.0 - group["lr"] * group["weight_decay"])
                length = 0.2 * max(shape) ** 0.5
                torch._foreach_add_(alike, list(orthogonal.unbind()), alpha=-group["lr"] * length)

"""The squeeze-and-excitation tower of lc0 and Maia, in the form in which it is trained.

Batch normalisation is a layer of its own here; :meth:`SEResNet.folded` folds it into the
convolutions and names the arrays as `kedge.models` does.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from kedge.training.distributed import BatchNorm

#: Planes of the convolutional policy head, of which 73 name moves.
POLICY_PLANES = 80


class Convolution(nn.Module):
    """A convolution and its batch normalisation."""

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm = BatchNorm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.norm(self.conv(x))
        return found

    def folded(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of one convolution that does the same at inference."""
        assert self.norm.running_var is not None
        assert self.norm.running_mean is not None
        scale = self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)
        return (
            self.conv.weight * scale[:, None, None, None],
            self.norm.bias - self.norm.running_mean * scale,
        )


class Block(nn.Module):
    """Two convolutions, squeeze-and-excitation giving scale and bias, and the way around them."""

    def __init__(self, filters: int, squeezed: int, drop: float) -> None:
        super().__init__()
        self.conv1 = Convolution(filters, filters, 3)
        self.conv2 = Convolution(filters, filters, 3)
        self.fc1 = nn.Linear(filters, squeezed)
        self.fc2 = nn.Linear(squeezed, 2 * filters)
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv2(functional.relu(self.conv1(x)))
        squeezed = self.fc2(functional.relu(self.fc1(y.mean(dim=(2, 3)))))
        scale, bias = squeezed[:, :, None, None].chunk(2, dim=1)
        y = torch.sigmoid(scale) * y + bias
        if self.training and self.drop > 0.0:  # stochastic depth, one draw a position
            kept = torch.rand(len(y), 1, 1, 1, device=y.device) >= self.drop
            y = y * (kept / (1.0 - self.drop)).to(y.dtype)
        return functional.relu(x + y)


class SEResNet(nn.Module):
    """Policy logits over 1858 moves, and win, draw, loss logits, from input planes."""

    def __init__(
        self,
        planes: int,
        gather: npt.NDArray[np.int64],
        filters: int = 64,
        blocks: int = 6,
        se_ratio: int = 8,
        drop: float = 0.0,
    ) -> None:
        super().__init__()
        self.shape = {"planes": planes, "filters": filters, "blocks": blocks, "se_ratio": se_ratio}
        self.input = Convolution(planes, filters, 3)
        # The last blocks are dropped most often.
        rates = [drop * (index + 1) / blocks for index in range(blocks)]
        self.blocks = nn.ModuleList([Block(filters, filters // se_ratio, rate) for rate in rates])
        self.policy1 = Convolution(filters, filters, 3)
        self.policy2 = nn.Conv2d(filters, POLICY_PLANES, 3, padding=1)
        self.value_conv = Convolution(filters, 32, 1)
        self.value1 = nn.Linear(32 * 64, 128)
        self.value2 = nn.Linear(128, 3)
        self.register_buffer("gather", torch.as_tensor(gather.copy()), persistent=False)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = functional.relu(self.input(planes))
        for block in self.blocks:
            x = block(x)
        policy = self.policy2(functional.relu(self.policy1(x)))
        value = functional.relu(self.value_conv(x)).flatten(1)
        wdl = self.value2(functional.relu(self.value1(value)))
        return policy.flatten(1)[:, self.gather], wdl

    def folded(self) -> dict[str, npt.NDArray[np.float32]]:
        """The arrays by the names that `kedge.models` gives them."""
        arrays: dict[str, Tensor] = {}

        def keep(name: str, weight: Tensor, bias: Tensor) -> None:
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = weight, bias

        keep("input", *self.input.folded())
        for index, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            for part in ("conv1", "conv2"):
                keep(f"blocks.{index}.{part}", *getattr(block, part).folded())
            for part in ("fc1", "fc2"):
                dense = getattr(block, part)
                keep(f"blocks.{index}.se.{part}", dense.weight, dense.bias)
        keep("policy.conv1", *self.policy1.folded())
        assert self.policy2.bias is not None
        keep("policy.conv2", self.policy2.weight, self.policy2.bias)
        keep("value.conv", *self.value_conv.folded())
        keep("value.fc1", self.value1.weight, self.value1.bias)
        keep("value.fc2", self.value2.weight, self.value2.bias)
        return {
            name: np.ascontiguousarray(tensor.detach().float().cpu().numpy())
            for name, tensor in arrays.items()
        }

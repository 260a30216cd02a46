"""The squeeze-and-excitation tower of lc0, Maia and the paper, as a network for training.

Batch normalisation is a separate layer here. :meth:`SEResNet.folded` folds it into the convolutions
and names the arrays as `kedge.models` does; :meth:`SEResNet.unfold` loads such arrays.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from kedge.models.board.encoding import Encoding
from kedge.training.distributed import BatchNorm

#: Planes of lc0's convolutional policy head; 73 of them encode moves.
POLICY_PLANES = 80


class Convolution(nn.Module):
    """A convolution and its batch normalisation."""

    def __init__(self, inputs: int, outputs: int, size: int) -> None:
        super().__init__()
        # Muon needs a matrix; in this order its kernels are channels-last.
        self.matrix = nn.Parameter(torch.empty(outputs, size * size * inputs))
        nn.init.kaiming_uniform_(self.matrix, a=5**0.5)  # torch's default for convolutions
        self.norm = BatchNorm(outputs)
        self.size = size

    @property
    def _kernels(self) -> Tensor:
        """(outputs, inputs, size, size)."""
        outputs = len(self.matrix)
        return self.matrix.view(outputs, self.size, self.size, -1).permute(0, 3, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(functional.conv2d(x, self._kernels, padding=self.size // 2))
        return y

    def fill(self, weight: Tensor, bias: Tensor) -> None:
        """Load a plain convolution. In training it computes the same only after `settle`."""
        self.matrix.copy_(weight.permute(0, 2, 3, 1).flatten(1))
        assert self.norm.running_mean is not None
        assert self.norm.running_var is not None
        self.norm.running_mean.zero_()
        self.norm.running_var.fill_(1.0 - self.norm.eps)
        self.norm.weight.fill_(1.0)
        self.norm.bias.copy_(bias)

    def settle(self, outputs: Tensor) -> None:
        """Normalise by the moments of the kernels' `outputs`; inference stays the same."""
        assert self.norm.running_mean is not None
        assert self.norm.running_var is not None
        scale, bias = self._scale, self.bias
        variance, mean = torch.var_mean(outputs.float(), dim=(0, 2, 3))
        self.norm.running_mean.copy_(mean)
        self.norm.running_var.copy_(variance)
        self.norm.weight.copy_(scale * torch.sqrt(variance + self.norm.eps))
        self.norm.bias.copy_(bias + scale * mean)

    @property
    def weight(self) -> Tensor:
        """The kernels of a plain convolution that computes the same at inference."""
        return self._kernels * self._scale[:, None, None, None]

    @property
    def bias(self) -> Tensor:
        assert self.norm.running_mean is not None
        return self.norm.bias - self.norm.running_mean * self._scale

    @property
    def _scale(self) -> Tensor:
        assert self.norm.running_var is not None
        return self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)


class Block(nn.Module):
    """A residual block: two convolutions, then squeeze-and-excitation with scale and bias.

    `who` numbers that describe the players add to that scale and bias.
    """

    def __init__(self, filters: int, squeezed: int, drop: float, who: int = 0) -> None:
        super().__init__()
        self.conv1 = Convolution(filters, filters, 3)
        self.conv2 = Convolution(filters, filters, 3)
        self.fc1 = nn.Linear(filters, squeezed)
        self.fc2 = nn.Linear(squeezed, 2 * filters)
        self.who = _players(who, 2 * filters)
        self.drop = drop

    def forward(self, x: Tensor, who: Tensor | None = None) -> Tensor:
        y = self.conv2(functional.relu(self.conv1(x)))
        squeezed = self.fc2(functional.relu(self.fc1(y.mean(dim=(2, 3)))))
        if self.who is not None and who is not None:
            squeezed = squeezed + self.who(who)
        scale, bias = squeezed[:, :, None, None].chunk(2, dim=1)
        y = torch.sigmoid(scale) * y + bias
        if self.training and self.drop > 0.0:  # stochastic depth, one draw a position
            kept = torch.rand(len(y), 1, 1, 1, device=y.device) >= self.drop
            y = y * (kept / (1.0 - self.drop)).to(y.dtype)
        return functional.relu(x + y)


def _players(numbers: int, outputs: int) -> nn.Linear | None:
    """Return a layer that adds what the players change; at first nothing."""
    if not numbers:
        return None
    layer = nn.Linear(numbers, outputs, bias=False)
    nn.init.zeros_(layer.weight)
    return layer


class ConvolutionPolicy(nn.Module):
    """lc0's policy head: planes of moves by start square, from which `gather` takes the moves."""

    gather: Tensor

    def __init__(self, filters: int, gather: npt.NDArray[np.int64]) -> None:
        super().__init__()
        self.conv1 = Convolution(filters, filters, 3)
        self.conv2 = nn.Conv2d(filters, POLICY_PLANES, 3, padding=1)
        self.register_buffer("gather", torch.as_tensor(gather.copy()), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv2(functional.relu(self.conv1(x))).flatten(1)[:, self.gather]


class DensePolicy(nn.Module):
    """AlphaGo Zero's policy head: two planes, and a dense layer from their points to the moves."""

    def __init__(self, filters: int, encoding: Encoding) -> None:
        super().__init__()
        self.conv = Convolution(filters, 2, 1)
        self.fc = nn.Linear(2 * encoding.side**2, encoding.moves)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(functional.relu(self.conv(x)).flatten(1))


class PointsPolicy(nn.Module):
    """A policy head for any board size: a plane of points, and a plane whose mean is the pass."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.conv1 = Convolution(filters, filters, 3)
        self.conv2 = nn.Conv2d(filters, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        planes = self.conv2(functional.relu(self.conv1(x))).flatten(2)
        return torch.cat([planes[:, 0], planes[:, 1].mean(1, keepdim=True)], dim=1)


class Value(nn.Module):
    """The mover's result: logits of win, draw and loss, or one number whose tanh is the mean.

    A `pooled` head reads the means of its planes, others read every point.
    """

    def __init__(
        self, filters: int, encoding: Encoding, *, draws: bool, pooled: bool = False
    ) -> None:
        super().__init__()
        planes, hidden = (32, 128) if draws or pooled else (1, 256)  # lc0's or AlphaGo Zero's
        self.conv = Convolution(filters, planes, 1)
        self.fc1 = nn.Linear(planes * (1 if pooled else encoding.side**2), hidden)
        self.fc2 = nn.Linear(hidden, 3 if draws else 1)
        self.draws, self.pooled = draws, pooled

    def forward(self, x: Tensor) -> Tensor:
        planes = functional.relu(self.conv(x))
        features = planes.mean(dim=(2, 3)) if self.pooled else planes.flatten(1)
        return self.fc2(functional.relu(self.fc1(features)))

    def losses(self, outputs: Tensor, results: Tensor) -> Tensor:
        """Cross-entropy or squared error of each position; 0 if its result is unknown."""
        known = torch.isfinite(results)
        results = torch.where(known, results, 0.0)
        if self.draws:
            kinds = (1.0 - results).long()  # won, drawn, lost
            losses = functional.cross_entropy(outputs.float(), kinds, reduction="none")
        else:
            losses = (torch.tanh(outputs.float()[:, 0]) - results).square()
        return losses * known

    def score_losses(self, outputs: Tensor, scores: Tensor) -> Tensor:
        """Cross-entropy of expected `scores` in [0, 1] at each position; of a head with draws.

        The head's own expected score is P(win) + P(draw) / 2. Only this sum is pulled towards a
        score: how likely draws are, which no evaluation tells, is learned from results. The
        cross-entropy, unlike a squared error, also has a gradient where the head is sure and wrong.
        """
        win, draw, loss = outputs.float().log_softmax(1).unbind(1)
        half = draw - math.log(2.0)
        log_score, log_rest = torch.logaddexp(win, half), torch.logaddexp(loss, half)
        return -(scores * log_score + (1.0 - scores) * log_rest)


class SEResNet(nn.Module):
    """Computes policy logits and value outputs from input planes.

    `later` are policy heads for the moves after the next. They teach the tower to look ahead and
    are not exported. With `who`, the network also takes that many numbers that describe the
    players: see `kedge.models.board.conditioning`.
    """

    def __init__(
        self,
        planes: int,
        policy: nn.Module,
        value: Value,
        filters: int = 64,
        blocks: int = 6,
        se_ratio: int = 8,
        drop: float = 0.0,
        later: Sequence[nn.Module] = (),
        who: int = 0,
    ) -> None:
        super().__init__()
        self.input = Convolution(planes, filters, 3)
        self.who = _players(who, filters)
        # The last blocks are dropped most often.
        rates = [drop * (index + 1) / blocks for index in range(blocks)]
        self.blocks = nn.ModuleList(
            [Block(filters, filters // se_ratio, rate, who) for rate in rates]
        )
        self.policy, self.value = policy, value
        self.later = nn.ModuleList(later)

    def forward(
        self, planes: Tensor, who: Tensor | None = None
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        x = self.input(planes)
        if self.who is not None and who is not None:
            x = x + self.who(who)[:, :, None, None]
        x = functional.relu(x)
        for block in self.blocks:
            x = block(x, who)
        return self.policy(x), self.value(x), [head(x) for head in self.later if self.training]

    def folded(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the arrays under their names in `kedge.models`."""
        return {
            f"{name}.{kind}": np.ascontiguousarray(
                getattr(part, kind).detach().float().cpu().numpy()
            )
            for name, part in self._parts().items()
            for kind in _kinds(part)
        }

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def unfold(self, arrays: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Load arrays of a network of the same shape; `folded` is the inverse."""
        for name, part in self._parts().items():
            loaded = {kind: torch.tensor(arrays[f"{name}.{kind}"]) for kind in _kinds(part)}
            if isinstance(part, Convolution):
                part.fill(**loaded)
            else:
                for kind, array in loaded.items():
                    getattr(part, kind).copy_(array)

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def settle(self, planes: Tensor, who: Tensor | None = None) -> None:
        """Set batch normalisation to the statistics of these planes without changing inference.

        Otherwise an unfolded or grown network would compute something else once it trains.
        """
        hooks = [
            part.norm.register_forward_pre_hook(lambda _, inputs, part=part: part.settle(inputs[0]))
            for part in self.modules()
            if isinstance(part, Convolution)
        ]
        was_training = self.training
        self.eval()
        self(planes, who)
        self.train(was_training)
        for hook in hooks:
            hook.remove()

    def _parts(self) -> dict[str, nn.Module]:
        """The exported parts by their names in `kedge.models`."""
        parts: dict[str, nn.Module] = {"input": self.input}
        for index, block in enumerate(self.blocks):
            names = {"conv1": "conv1", "conv2": "conv2", "fc1": "se.fc1", "fc2": "se.fc2"}
            parts |= {f"blocks.{index}.{name}": getattr(block, own) for own, name in names.items()}
            if block.who is not None:
                parts[f"blocks.{index}.who"] = block.who
        if self.who is not None:
            parts["who"] = self.who
        for head, module in (("policy", self.policy), ("value", self.value)):
            parts |= {f"{head}.{name}": part for name, part in module.named_children()}
        return parts


def _kinds(part: nn.Module) -> tuple[str, ...]:
    """The arrays of a part: a layer of the players has no bias."""
    return ("weight",) if part.bias is None else ("weight", "bias")

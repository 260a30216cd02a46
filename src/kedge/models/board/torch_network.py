"""The network in torch. Imported only if torch is used (the ``[train]`` extra)."""

import torch
from torch import Tensor, nn

from kedge.models.board.weights import Weights


class _SqueezeExcitation(nn.Module):
    def __init__(self, filters: int, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(filters, channels)
        self.fc2 = nn.Linear(channels, 2 * filters)

    def forward(self, y: Tensor) -> Tensor:
        both = self.fc2(torch.relu(self.fc1(y.mean(dim=(2, 3)))))
        scale, bias = both[:, :, None, None].chunk(2, dim=1)
        return y * torch.sigmoid(scale) + bias


class _Block(nn.Module):
    def __init__(self, filters: int, se_channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(filters, filters, 3, padding=1)
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1)
        self.se = _SqueezeExcitation(filters, se_channels) if se_channels else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.se(self.conv2(torch.relu(self.conv1(x)))))


class _Policy(nn.Module):
    gather: Tensor

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.kind = weights.policy
        if self.kind == "classical":
            planes = len(weights.arrays["policy.conv.bias"])
            self.conv = nn.Conv2d(weights.filters, planes, 1)
            self.fc = nn.Linear(weights.area * planes, weights.encoding.moves)
        else:
            planes = len(weights.arrays["policy.conv2.bias"])
            self.conv1 = nn.Conv2d(weights.filters, weights.filters, 3, padding=1)
            self.conv2 = nn.Conv2d(weights.filters, planes, 3, padding=1)
            if self.kind == "convolution":
                gather = torch.from_numpy(weights.gather.copy())
                self.register_buffer("gather", gather, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if self.kind == "classical":
            return self.fc(torch.relu(self.conv(x)).flatten(1))
        planes = self.conv2(torch.relu(self.conv1(x))).flatten(2)
        if self.kind == "convolution":
            return planes.flatten(1).index_select(1, self.gather)
        return torch.cat([planes[:, 0], planes[:, 1].mean(1, keepdim=True)], dim=1)


class _Value(nn.Module):
    def __init__(self, weights: Weights) -> None:
        super().__init__()
        planes = len(weights.arrays["value.conv.bias"])
        hidden = len(weights.arrays["value.fc1.bias"])
        self.pools = weights.pools_value
        self.conv = nn.Conv2d(weights.filters, planes, 1)
        self.fc1 = nn.Linear(planes if self.pools else weights.area * planes, hidden)
        self.fc2 = nn.Linear(hidden, 3 if weights.value == "wdl" else 1)

    def forward(self, x: Tensor) -> Tensor:
        planes = torch.relu(self.conv(x))
        features = planes.mean(dim=(2, 3)) if self.pools else planes.flatten(1)
        return self.fc2(torch.relu(self.fc1(features)))


class TorchModule(nn.Module):
    """The network; its parameters have the names of ``Weights.arrays``.

    It returns ``policy`` logits, ``value`` and ``wdl`` (None for a classical value), always in
    float32.
    """

    bits: Tensor

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.encoding = weights.encoding
        self.knows_draws = weights.value == "wdl"
        self.input = nn.Conv2d(weights.encoding.planes, weights.filters, 3, padding=1)
        blocks = [_Block(weights.filters, weights.se_channels) for _ in range(weights.blocks)]
        self.blocks = nn.Sequential(*blocks)
        self.policy = _Policy(weights)
        self.value = _Value(weights)
        self.register_buffer("bits", torch.arange(64), persistent=False)
        arrays = {name: torch.from_numpy(array.copy()) for name, array in weights.arrays.items()}
        self.load_state_dict(arrays)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        x = torch.relu(self.input(planes.to(self.input.weight.dtype)))
        x = self.blocks(x)
        policy, last = self.policy(x).float(), self.value(x).float()
        if not self.knows_draws:
            return policy, torch.tanh(last[:, 0]), None
        wdl = torch.softmax(last, dim=1)
        return policy, wdl[:, 0] - wdl[:, 2], wdl

    def forward_packed(
        self, masks: Tensor, numbers: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Evaluate int64 masks (n, words) and numbers (n), unpacked on the device."""
        encoding, dtype = self.encoding, self.input.weight.dtype
        # The shift keeps the sign, but only the last bit is used.
        bits = (masks[:, :, None] >> self.bits & 1).to(dtype)
        area = encoding.side * encoding.side
        planes = bits.view(len(masks), encoding.planes, -1)[:, :, :area]
        planes[:, encoding.number_plane] = numbers.to(dtype)[:, None]
        result: tuple[Tensor, Tensor, Tensor | None] = self(
            planes.unflatten(2, (encoding.side, encoding.side))
        )
        return result

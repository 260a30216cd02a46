"""Initialising a network from a trained one of another size.

A larger network computes the same as the small one: channels are copied, and the weights that read
a channel are split at random among its copies (Net2Net, Chen et al. 2016), so that the copies
diverge in training. Added blocks start as the identity. A network with fewer blocks takes evenly
spaced ones.
"""

import torch
from torch import Tensor, nn

from kedge.errors import InputError
from kedge.training.board.network import Convolution, PointsPolicy, SEResNet


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def grow(small: SEResNet, large: SEResNet) -> None:
    """Make `large` compute what `small` does, approximately if it has fewer blocks.

    Heads of another kind keep their random weights.
    """
    channels = _Copies(_width(small), _width(large))
    squeezed = _Copies(*(len(network.blocks[0].fc1.bias) for network in (small, large)))
    _grow_convolution(small.input, large.input, outputs=channels)
    if large.who is not None and small.who is not None:  # else its weights are 0
        large.who.weight.copy_(channels.copied(small.who.weight))
    for old, new in zip(_kept(small.blocks, len(large.blocks)), large.blocks, strict=False):
        _grow_convolution(old.conv1, new.conv1, channels, channels)
        _grow_convolution(old.conv2, new.conv2, channels, channels)
        new.fc1.weight.copy_(channels.shared(squeezed.copied(old.fc1.weight)))
        new.fc1.bias.copy_(squeezed.copied(old.fc1.bias))
        for part in (0, 1):  # scale, and bias
            rows = slice(part * channels.large, (part + 1) * channels.large)
            weight, bias = old.fc2.weight.chunk(2)[part], old.fc2.bias.chunk(2)[part]
            new.fc2.weight[rows] = squeezed.shared(channels.copied(weight))
            new.fc2.bias[rows] = channels.copied(bias)
            if new.who is not None and old.who is not None:
                new.who.weight[rows] = channels.copied(old.who.weight.chunk(2)[part])
    for block in large.blocks[len(small.blocks) :]:
        for weights in (block.conv2.norm.weight, block.conv2.norm.bias):
            weights.zero_()
        for weights in (block.fc2.weight, block.fc2.bias):
            weights[channels.large :].zero_()
    _grow_policy(small.policy, large.policy, channels)
    if small.value.pooled == large.value.pooled:
        _grow_head(small.value, large.value, channels)


class _Copies:
    """Maps each of `large` channels to the one of `small` channels that it copies."""

    def __init__(self, small: int, large: int) -> None:
        if large < small:
            raise InputError(f"begin_as: a network of width {small} cannot shrink to {large}")
        self.small, self.large = small, large
        self._origin = torch.arange(large) % small

    def copied(self, array: Tensor) -> Tensor:
        """Copy along the first axis: weights that write channels."""
        return array[self._origin.to(array.device)]

    def shared(self, array: Tensor) -> Tensor:
        """Split along the last axis: the weights that read the copies add up to the original."""
        origin = self._origin.to(array.device)
        weights = torch.rand(*array.shape[:-1], self.large, device=array.device) + 0.1
        total = torch.zeros_like(array).index_add_(-1, origin, weights)
        return array[..., origin] * weights / total[..., origin]


def _kept(blocks: nn.ModuleList, count: int) -> list[nn.Module]:
    """At most `count` evenly spaced blocks, with the first and the last."""
    if count >= len(blocks):
        return list(blocks)
    return [blocks[round(at)] for at in torch.linspace(0, len(blocks) - 1, count).tolist()]


def _width(network: SEResNet) -> int:
    return len(network.input.matrix)


def _grow_convolution(
    old: Convolution,
    new: Convolution,
    inputs: _Copies | None = None,
    outputs: _Copies | None = None,
) -> None:
    kernels = old.matrix.view(len(old.matrix), old.size**2, -1)
    if outputs is not None:
        kernels = outputs.copied(kernels)
    if inputs is not None:
        kernels = inputs.shared(kernels)
    new.matrix.copy_(kernels.flatten(1))
    for name, array in old.norm.state_dict().items():
        grown = array if outputs is None or not array.ndim else outputs.copied(array)
        new.norm.state_dict()[name].copy_(grown)


def _grow_policy(old: nn.Module, new: nn.Module, channels: _Copies) -> None:
    if isinstance(old, PointsPolicy) and isinstance(new, PointsPolicy):
        _grow_convolution(old.conv1, new.conv1, channels, channels)
        read = channels.shared(old.conv2.weight.movedim(1, -1))
        new.conv2.weight.copy_(read.movedim(-1, 1))
        assert old.conv2.bias is not None
        assert new.conv2.bias is not None
        new.conv2.bias.copy_(old.conv2.bias)
    elif type(old) is type(new):
        _grow_head(old, new, channels)


def _grow_head(old: nn.Module, new: nn.Module, channels: _Copies) -> None:
    """Copy a head; only its input is wider."""
    before = old.state_dict()
    for name, array in new.state_dict().items():
        if array.shape == before[name].shape:
            array.copy_(before[name])
        else:
            kernels = before[name].view(len(array), -1, channels.small)
            array.copy_(channels.shared(kernels).flatten(1))

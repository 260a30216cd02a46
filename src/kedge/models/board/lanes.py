"""Lanes carry the leaves of a search to a network and back."""

from typing import TypeAlias

import numpy as np

from kedge.models.board.backends import Array, Network
from kedge.models.board.torch_backend import TorchNetwork

_CUDA_LANES = 3  # one for growing trees, one in transfer, one on the GPU


def open_lanes(network: Network, rows: int, most: int | None = None) -> "list[NetworkLane]":
    """Open as many lanes of `rows` rows as keep the network busy, but at most `most`."""
    count = _CUDA_LANES if _is_on_gpu(network) else 1
    return [open_lane(network, rows) for _ in range(count if most is None else min(most, count))]


def open_lane(network: Network, rows: int) -> "NetworkLane":
    """Open one lane of `rows` rows."""
    if isinstance(network, TorchNetwork):
        return _TorchLane(network, rows)
    return _PlainLane(network, rows)


def batch_size(network: Network) -> int:
    """The most efficient batch size of the network."""
    return network.encoding.gpu_rows if _is_on_gpu(network) else network.encoding.rows


def _is_on_gpu(network: Network) -> bool:
    return isinstance(network, TorchNetwork) and network.device.type == "cuda"


class _PlainLane:
    def __init__(self, network: Network, rows: int) -> None:
        self._network = network
        self.name = network.name
        self.masks = np.empty((rows, network.encoding.words), np.uint64)
        self.numbers = np.empty(rows, np.float32)
        self.moves = np.empty(rows * network.encoding.most_moves, np.int32)
        self.policy_size = network.encoding.moves

    def evaluate(self, rows: int, moves: int) -> tuple[Array, Array]:
        evaluation = self._network.evaluate_packed(self.masks[:rows], self.numbers[:rows])
        return evaluation.policy.ravel()[self.moves[:moves]], evaluation.value


class _TorchLane:
    """Sends masks to the device and fetches only legal moves, while other lanes compute."""

    def __init__(self, network: TorchNetwork, rows: int) -> None:
        import torch

        self._network = network
        self.name = network.name
        cuda = network.device.type == "cuda"
        size = network.padded(rows)

        def pinned(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.empty(*shape, dtype=dtype, pin_memory=cuda)

        most_moves = rows * network.encoding.most_moves
        self._masks = pinned(size, network.encoding.words, dtype=torch.int64)
        self._numbers = pinned(size, dtype=torch.float32)
        self._moves = pinned(most_moves, dtype=torch.int32)
        self._logits = pinned(most_moves, dtype=torch.float32)
        self._values = pinned(size, dtype=torch.float32)
        self.masks = self._masks.numpy().view(np.uint64)
        self.numbers = self._numbers.numpy()
        self.moves = self._moves.numpy()
        self.policy_size = network.encoding.moves
        self._stream = self._done = None
        if cuda:
            torch.cuda.synchronize(network.device)  # wait until the weights are there
            self._stream = torch.cuda.Stream(network.device)
            self._done = torch.cuda.Event()

    def evaluate(self, rows: int, moves: int) -> tuple[Array, Array]:
        import torch

        network, size = self._network, self._network.padded(rows)
        with network.launching, torch.inference_mode(), torch.cuda.stream(self._stream):
            masks, numbers, places = (
                tensor.to(network.device, non_blocking=True)
                for tensor in (self._masks[:size], self._numbers[:size], self._moves[:moves])
            )
            policy, value, _ = network.forward_packed(masks, numbers)
            logits = policy.flatten().index_select(0, places)
            self._logits[:moves].copy_(logits, non_blocking=True)
            self._values[:size].copy_(value, non_blocking=True)
            if self._done is not None:
                self._done.record()
        if self._done is not None:
            self._done.synchronize()
        return self._logits[:moves].numpy(), self._values[:rows].numpy()


#: See `kedge.search.puct.Lane`, which says how to fill one.
NetworkLane: TypeAlias = _PlainLane | _TorchLane

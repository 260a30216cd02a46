"""Networks in torch: for a GPU, and many positions at once."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError, needs
from kedge.models.board.backends import (
    Array,
    Backend,
    Evaluation,
    Network,
    check_finite,
    concatenated,
    evaluation_of,
    no_evaluations,
)
from kedge.models.board.weights import Weights
from kedge.models.devices import Dtype, placed

if TYPE_CHECKING:
    from kedge.models.board.torch_network import TorchModule

_SIZES = (1, 16, 128, 512, 2048, 8192)  # batch sizes of a compiled network
_ROWS = _SIZES[-1]


def to_torch(weights: Weights) -> "TorchModule":
    """The network as a `torch.nn.Module`, its parameters named as in ``weights.arrays``."""
    try:
        from kedge.models.board.torch_network import TorchModule
    except ImportError as error:
        raise InputError(f"torch is not installed ({error}); {needs('train')}") from None
    return TorchModule(weights)


class TorchNetwork(Backend):
    """A network in torch: for a GPU, and many positions at once.

    Parameters
    ----------
    model
        A weight file of lc0 or kedge, or loaded weights.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, …
    dtype
        ``"float32"``, or ``"bfloat16"``: faster on a GPU and less precise. On positions that cover
        the rules, it changed Maia's move probabilities by up to 0.04 and values by up to 0.03. On a
        GPU torch computes float32 convolutions in TF32. ``benchmarks/models.py --device cuda``
        measures both errors.
    compile
        Compile with `torch.compile`. Batches are then padded to one of few sizes.
    """

    def __init__(
        self,
        model: str | Path | Weights,
        *,
        device: str = "cpu",
        dtype: Dtype = "float32",
        compile: bool = False,
    ) -> None:
        super().__init__(model)
        weights = self.weights()
        module = placed(to_torch(weights), device, dtype)
        import torch

        self.device = torch.device(device)
        if self.device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)
        self.module, self.encoding = module, weights.encoding
        self.launching = threading.Lock()  # torch does not compile in two threads at once
        self._dtype, self._pad = dtype, compile
        self._forward: Callable[..., Any] = module
        self.forward_packed: Callable[..., Any] = module.forward_packed
        if compile:
            self._forward = torch.compile(module, dynamic=False)
            self.forward_packed = torch.compile(module.forward_packed, dynamic=False)

    def _computing(self, weights: Weights) -> Network:
        where = str(self.device)
        return TorchNetwork(weights, device=where, dtype=self._dtype, compile=self._pad)

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        return check_finite(self, self._batches(self._forward, self.encoding.check_planes(planes)))

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        masks, numbers = self.encoding.check_packed(masks, numbers)
        return self._batches(self.forward_packed, masks.view(np.int64), numbers)

    def padded(self, rows: int) -> int:
        """The number of rows computed for a batch of `rows`."""
        return next(size for size in _SIZES if size >= rows) if self._pad else rows

    def _batches(self, forward: Callable[..., Any], *inputs: npt.NDArray[Any]) -> Evaluation:
        import torch

        count = len(inputs[0])
        if count == 0:
            return no_evaluations(self.encoding, self.module.knows_draws)
        parts: list[list[Array]] = []
        for start in range(0, count, _ROWS):
            rows = min(_ROWS, count - start)
            size = self.padded(rows)
            batch = (_padded(array[start : start + rows], size) for array in inputs)
            with torch.inference_mode():
                outputs = forward(*(torch.from_numpy(array).to(self.device) for array in batch))
            parts.append([out[:rows].cpu().numpy() for out in outputs if out is not None])
        return evaluation_of(*concatenated(parts))


def _padded(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    if len(array) == size:
        return array
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]), array.dtype)])

"""What computes a network: ONNX Runtime everywhere, torch on a GPU. Batches in, batches out."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.cache import onnx_of
from kedge.models.lc0 import INPUT_PLANES, Lc0Weights, read_file, read_lc0
from kedge.models.lc0_moves import MOVES
from kedge.models.network import to_onnx, to_torch
from kedge.models.planes import check_masks, check_planes, unpack_planes

Array = npt.NDArray[np.float32]

# More rows a call gain nothing and cost memory.
_ONNX_ROWS = 256
_TORCH_ROWS = 8192


class Evaluation(NamedTuple):
    """What a network says of a batch of positions, for the side to move."""

    policy: Array  # (n, 1858) logits, in the order of `lc0_moves.MOVES`
    value: Array  # (n) W − L
    draw: Array | None  # (n) probability; None where the network does not know


class Network(Protocol):
    """A network that evaluates batches; each backend is one."""

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        """Of float planes (n, 112, 8, 8)."""

    def evaluate_packed(self, masks: npt.ArrayLike, rule50: npt.ArrayLike) -> Evaluation:
        """Of uint64 masks (n, 112) and fifty-move counts (n), as in `kedge.models.planes`."""


class OnnxNetwork:
    """A network on ONNX Runtime's CPU backend.

    Parameters
    ----------
    model
        An lc0 weight file or an ``.onnx`` file with the inputs and outputs of `network.to_onnx`;
        or weights that were read already.
    threads
        Over how many threads a batch is spread: each takes a share of the positions. Fewer
        positions than threads are left to ONNX Runtime's own, which divide every layer and spin
        while they wait for each other; so ask for no more than there are free cores.
    """

    def __init__(self, model: str | Path | Lc0Weights, *, threads: int = 1) -> None:
        if threads < 1:
            raise InputError(f"threads is {threads}, expected at least 1")
        if isinstance(model, Lc0Weights):
            name, content = "weights", to_onnx(model).SerializeToString()
        elif Path(model).suffix.lower() == ".onnx":
            name, content = str(model), read_file(model)
        else:
            name, content = str(model), onnx_of(model)
        self._name = name
        self._threads = threads
        self._session = _session(name, content, 1)
        self._outputs = _check_signature(self._session, name)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._wide = _session(name, content, threads) if threads > 1 else self._session

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        planes = check_planes(planes)
        return self._spread(len(planes), lambda rows: planes[rows])

    def evaluate_packed(self, masks: npt.ArrayLike, rule50: npt.ArrayLike) -> Evaluation:
        masks, rule50 = check_masks(masks, rule50)
        return self._spread(len(masks), lambda rows: unpack_planes(masks[rows], rule50[rows]))

    def _spread(self, count: int, planes_of: Callable[[slice], Array]) -> Evaluation:
        if count == 0:
            return _empty("wdl" in self._outputs)
        session = self._session if count >= self._threads else self._wide
        size = _ONNX_ROWS if session is self._wide else min(_ONNX_ROWS, -(-count // self._threads))

        def run(start: int) -> list[Array]:
            planes = planes_of(slice(start, start + size))
            found: list[Array] = session.run(self._outputs, {"planes": planes})
            return found

        starts = range(0, count, size)
        spread = map if self._pool is None or len(starts) == 1 else self._pool.map
        return _joined(self._name, list(spread(run, starts)))


class TorchNetwork:
    """A network in torch: for a GPU, and many positions at once.

    Parameters
    ----------
    model
        An lc0 weight file, or weights that were read already.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, …
    dtype
        ``"float32"``, or ``"bfloat16"``: faster on a GPU, and coarser. On positions that cover the
        rules, it moved a move's probability of Maia's by up to 0.04 and values by up to 0.03.
    compile
        Compile with `torch.compile`. Batches are then padded to powers of two, so that few sizes
        are compiled.
    """

    def __init__(
        self,
        model: str | Path | Lc0Weights,
        *,
        device: str = "cpu",
        dtype: Literal["float32", "bfloat16"] = "float32",
        compile: bool = False,
    ) -> None:
        weights = model if isinstance(model, Lc0Weights) else read_lc0(model)
        module = to_torch(weights)
        import torch

        if dtype not in ("float32", "bfloat16"):
            raise InputError(f"dtype is {dtype!r}, expected float32 or bfloat16")
        try:
            self._device = torch.device(device)
            module = module.to(self._device, getattr(torch, dtype)).eval()
        except (RuntimeError, AssertionError) as error:  # torch raises both
            reason = str(error).splitlines()[0]
            raise InputError(f"device {device!r} cannot be used ({reason})") from None
        if self._device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)
        self.module = module
        self._name = "weights" if isinstance(model, Lc0Weights) else str(model)
        self._pad = compile
        self._forward: Callable[..., Any] = module
        self._forward_packed: Callable[..., Any] = module.forward_packed
        if compile:
            self._forward = torch.compile(module, dynamic=False)
            self._forward_packed = torch.compile(module.forward_packed, dynamic=False)

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        return self._batches(self._forward, check_planes(planes))

    def evaluate_packed(self, masks: npt.ArrayLike, rule50: npt.ArrayLike) -> Evaluation:
        masks, rule50 = check_masks(masks, rule50)
        return self._batches(self._forward_packed, masks.view(np.int64), rule50)

    def _batches(self, forward: Callable[..., Any], *inputs: npt.NDArray[Any]) -> Evaluation:
        import torch

        count = len(inputs[0])
        if count == 0:
            return _empty(self.module.knows_draws)
        parts: list[list[Array]] = []
        for start in range(0, count, _TORCH_ROWS):
            rows = min(_TORCH_ROWS, count - start)
            size = 1 << (rows - 1).bit_length() if self._pad else rows
            with torch.inference_mode():
                found = forward(
                    *(
                        torch.from_numpy(_padded(array[start : start + rows], size)).to(
                            self._device
                        )
                        for array in inputs
                    )
                )
            parts.append([out[:rows].cpu().numpy() for out in found if out is not None])
        return _joined(self._name, parts)


def cores() -> int:
    """How many cores this process may use: a number for ``threads``."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _session(name: str, content: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # what goes wrong is raised
    try:
        # From bytes, so that the model cannot name other files to be read.
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's own kinds are many
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(f"{name}: not an ONNX model ({reason})") from None


def _check_signature(session: Any, name: str) -> list[str]:
    """The outputs to ask for; `InputError` if the model is not one of chess positions."""
    inputs = {found.name: list(found.shape[1:]) for found in session.get_inputs()}
    outputs = {found.name: list(found.shape[1:]) for found in session.get_outputs()}
    if inputs != {"planes": [INPUT_PLANES, 8, 8]} or not {"policy", "value"} <= set(outputs):
        raise InputError(f"{name}: not a model of lc0's planes and moves")
    wanted = {"policy": [len(MOVES)], "value": [], "wdl": [3]}
    if any(outputs[output] != shape for output, shape in wanted.items() if output in outputs):
        raise InputError(f"{name}: not a model of lc0's planes and moves")
    return [output for output in wanted if output in outputs]


def _joined(name: str, parts: list[list[Array]]) -> Evaluation:
    policy, value, *wdl = (
        part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*parts, strict=True)
    )
    # Weights can be finite and still overflow; a search must not get to see that.
    if not (np.isfinite(value).all() and np.isfinite(policy).all()):
        raise InputError(f"{name}: the network answers with numbers that are not finite")
    return Evaluation(policy, value, wdl[0][:, 1] if wdl else None)


def _padded(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    if len(array) == size:
        return array
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]), array.dtype)])


def _empty(knows_draws: bool) -> Evaluation:
    none = np.zeros(0, np.float32)
    return Evaluation(np.zeros((0, len(MOVES)), np.float32), none, none if knows_draws else None)

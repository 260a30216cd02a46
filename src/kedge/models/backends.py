"""What computes a network: ONNX Runtime everywhere, by Winograd's convolutions for large batches,
OpenVINO on CPUs that know bfloat16, torch on a GPU. Batches in, batches out."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.cache import onnx_of
from kedge.models.encoding import ENCODINGS, Encoding
from kedge.models.lc0 import read_file
from kedge.models.network import to_onnx, to_torch
from kedge.models.weight_files import read_weights
from kedge.models.weights import Weights
from kedge.models.winograd import to_winograd_onnx

Array = npt.NDArray[np.float32]
Dtype = Literal["float32", "bfloat16"]

_WINOGRAD_ROWS = 12  # a thread, from which on it is faster
_TORCH_SIZES = (1, 16, 128, 512, 2048, 8192)  # that a compiled network is compiled for
_TORCH_ROWS = _TORCH_SIZES[-1]
_CUDA_LANES = 3  # trees grow in one, another is on its way, the GPU computes the third


class Evaluation(NamedTuple):
    """What a network says of a batch of positions, for the side to move."""

    policy: Array  # (n, moves) logits; in chess in the order of `lc0_moves.MOVES`
    value: Array  # (n) W − L
    draw: Array | None  # (n) probability; None where the network does not know


class Network(Protocol):
    """A network that evaluates batches; each backend is one."""

    @property
    def encoding(self) -> Encoding:
        """Of what game it is, and how that is put to it."""

    def on(self, side: int) -> "Network":
        """The same on boards of that side; `InputError` if it knows but its own."""

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        """Of float planes (n, planes, side, side)."""

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        """Of uint64 masks (n, words) and numbers (n): see `Encoding`."""


class Lane(Protocol):
    """A batch of positions and their legal moves, on its way to a network and back.

    Fill the first rows of ``masks`` and ``numbers`` (see `Encoding`), and ``moves`` with where the
    legal moves stand in the flat policy of the batch: policy_size · row + index. A lane is for
    one thread; on a GPU several keep it busy.
    """

    masks: npt.NDArray[np.uint64]  # (rows, words)
    numbers: Array  # (rows)
    moves: npt.NDArray[np.int32]
    policy_size: int

    def evaluate(self, rows: int, moves: int) -> tuple[Array, Array]:
        """The logits of the first `moves` and the first rows' values; valid until the next call."""


def open_lanes(network: Network, rows: int, most: int | None = None) -> list[Lane]:
    """Lanes for batches of up to so many rows: enough to keep the network busy, `most` at most."""
    if not isinstance(network, TorchNetwork):
        return [_PlainLane(network, rows)]
    count = _CUDA_LANES if network.device.type == "cuda" else 1
    return [_TorchLane(network, rows) for _ in range(count if most is None else min(most, count))]


def batch_size(network: Network) -> int:
    """How many positions at once make the best of the network."""
    on_gpu = isinstance(network, TorchNetwork) and network.device.type == "cuda"
    return network.encoding.gpu_rows if on_gpu else network.encoding.rows


class _PlainLane:
    def __init__(self, network: Network, rows: int) -> None:
        self._network = network
        self.masks = np.empty((rows, network.encoding.words), np.uint64)
        self.numbers = np.empty(rows, np.float32)
        self.moves = np.empty(rows * network.encoding.most_moves, np.int32)
        self.policy_size = network.encoding.moves

    def evaluate(self, rows: int, moves: int) -> tuple[Array, Array]:
        found = self._network.evaluate_packed(self.masks[:rows], self.numbers[:rows])
        return found.policy.ravel()[self.moves[:moves]], found.value


class _Backend(ABC):
    """What computes weights, and on boards of another size the same weights once more."""

    encoding: Encoding

    def __init__(self, model: str | Path | Weights) -> None:
        self._model = model
        self._others: dict[int, Network] = {}
        self._making = threading.Lock()

    def on(self, side: int) -> Network:
        if side == self.encoding.side:
            return self
        with self._making:
            if side not in self._others:
                self._others[side] = self._computing(self._weights().on(side))
            return self._others[side]

    def _weights(self) -> Weights:
        return self._model if isinstance(self._model, Weights) else read_weights(self._model)

    @abstractmethod
    def _computing(self, weights: Weights) -> Network:
        """These in the same way."""

    @abstractmethod
    def evaluate(self, planes: npt.ArrayLike) -> Evaluation: ...

    @abstractmethod
    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation: ...


class OnnxNetwork(_Backend):
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

    def __init__(self, model: str | Path | Weights, *, threads: int = 1) -> None:
        if threads < 1:
            raise InputError(f"threads is {threads}, expected at least 1")
        super().__init__(model)
        known: Sequence[Encoding] = ENCODINGS
        if isinstance(model, Weights):
            known = (model.encoding,)
            name, content = "weights", to_onnx(model).SerializeToString()
        elif Path(model).suffix.lower() == ".onnx":
            name, content = str(model), read_file(model)
        else:
            name, content = str(model), onnx_of(model)
        self._name = name
        self._threads = threads
        self._session = self._open(content, 1)
        self.encoding, self._outputs = _check_signature(self._session, name, known)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._wide = self._open(content, threads) if threads > 1 else self._session

    def _computing(self, weights: Weights) -> Network:
        return type(self)(weights, threads=self._threads)

    def _open(self, content: bytes, threads: int) -> "_Session":
        return onnx_session(self._name, content, threads)

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        planes = self.encoding.check_planes(planes)
        return self._spread(len(planes), lambda rows: planes[rows])

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        masks, numbers = self.encoding.check_packed(masks, numbers)
        unpack = self.encoding.unpack
        return self._spread(len(masks), lambda rows: unpack(masks[rows], numbers[rows]))

    def _spread(self, count: int, planes_of: Callable[[slice], Array]) -> Evaluation:
        if count == 0:
            return _empty(self.encoding, "wdl" in self._outputs)
        shared = count >= self._threads
        most = self.encoding.rows
        size = min(most, -(-count // self._threads)) if shared else most
        session = self._session_for(size) if shared else self._wide

        def run(start: int) -> list[Array]:
            planes = planes_of(slice(start, start + size))
            found: list[Array] = session.run(self._outputs, {"planes": planes})
            return found

        starts = range(0, count, size)
        spread = map if self._pool is None or len(starts) == 1 else self._pool.map
        return _joined(self._name, list(spread(run, starts)))

    def _session_for(self, rows: int) -> "_Session":
        """The one that computes a thread's share of a batch."""
        return self._session


class WinogradNetwork(OnnxNetwork):
    """The same, faster for many positions at once and the same for few: see `winograd`.

    Its weights take five times the memory, and a position's answer depends in its last digits on
    how many there are. ``benchmarks/models.py`` shows from when on it is faster, and how far off.
    """

    def __init__(self, model: str | Path | Weights, *, threads: int = 1) -> None:
        weights = model if isinstance(model, Weights) else read_weights(model)
        super().__init__(weights, threads=threads)
        self._for_many = self._open(to_winograd_onnx(weights).SerializeToString(), 1)

    def _session_for(self, rows: int) -> "_Session":
        return self._for_many if rows >= _WINOGRAD_ROWS else self._session


class OpenVinoNetwork(OnnxNetwork):
    """The same by OpenVINO, on the CPU.

    ``dtype`` "bfloat16" is faster where the processor knows it, and coarser; where it does not,
    OpenVINO computes in float32. ``benchmarks/models.py`` shows how much of either.
    """

    def __init__(
        self, model: str | Path | Weights, *, threads: int = 1, dtype: Dtype = "bfloat16"
    ) -> None:
        self._dtype = dtype
        super().__init__(model, threads=threads)

    def _computing(self, weights: Weights) -> Network:
        return OpenVinoNetwork(weights, threads=self._threads, dtype=self._dtype)

    def _open(self, content: bytes, threads: int) -> "_Session":
        # Either several threads take a batch's shares, or all of them one batch.
        streams = self._threads if threads == 1 else 1
        return _OpenVinoSession(self._name, content, self._threads, streams, self._dtype)


def placed(module: Any, device: str, dtype: Dtype) -> Any:
    """A module of torch where it is to compute; an `InputError` if it cannot."""
    import torch

    if dtype not in ("float32", "bfloat16"):
        raise InputError(f"dtype is {dtype!r}, expected float32 or bfloat16")
    try:
        return module.to(torch.device(device), getattr(torch, dtype)).eval()
    except (RuntimeError, AssertionError) as error:  # torch raises both
        reason = str(error).splitlines()[0]
        raise InputError(f"device {device!r} cannot be used ({reason})") from None


class TorchNetwork(_Backend):
    """A network in torch: for a GPU, and many positions at once.

    Parameters
    ----------
    model
        A weight file of lc0's or kedge's, or weights that were read already.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, …
    dtype
        ``"float32"``, or ``"bfloat16"``: faster on a GPU, and coarser. On positions that cover the
        rules, it moved a move's probability of Maia's by up to 0.04 and values by up to 0.03. On a
        GPU torch lets convolutions of float32 compute in TF32: ``benchmarks/models.py --device
        cuda`` shows how far off both are.
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
        weights = self._weights()
        module = placed(to_torch(weights), device, dtype)
        import torch

        self.device = torch.device(device)
        if self.device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)
        self.module, self.encoding = module, weights.encoding
        self.launching = threading.Lock()  # torch does not compile in two threads at once
        self._name = "weights" if isinstance(model, Weights) else str(model)
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
        return self._batches(self._forward, self.encoding.check_planes(planes))

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        masks, numbers = self.encoding.check_packed(masks, numbers)
        return self._batches(self.forward_packed, masks.view(np.int64), numbers)

    def padded(self, rows: int) -> int:
        """How many rows are computed for so many."""
        return next(size for size in _TORCH_SIZES if size >= rows) if self._pad else rows

    def _batches(self, forward: Callable[..., Any], *inputs: npt.NDArray[Any]) -> Evaluation:
        import torch

        count = len(inputs[0])
        if count == 0:
            return _empty(self.encoding, self.module.knows_draws)
        parts: list[list[Array]] = []
        for start in range(0, count, _TORCH_ROWS):
            rows = min(_TORCH_ROWS, count - start)
            size = self.padded(rows)
            batch = (_padded(array[start : start + rows], size) for array in inputs)
            with torch.inference_mode():
                found = forward(*(torch.from_numpy(array).to(self.device) for array in batch))
            parts.append([out[:rows].cpu().numpy() for out in found if out is not None])
        return _joined(self._name, parts)


class _TorchLane:
    """Only masks go to the device and only legal moves come back, while others use CPU and GPU."""

    def __init__(self, network: TorchNetwork, rows: int) -> None:
        import torch

        self._network = network
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
            torch.cuda.synchronize(network.device)  # the weights are there
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


def onnx_session(name: str, content: bytes, threads: int) -> "_Session":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # what goes wrong is raised
    try:
        # From bytes, so that the model cannot name other files to be read.
        session: _Session = onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
        return session
    except Exception as error:  # ONNX Runtime's own kinds are many
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(f"{name}: not an ONNX model ({reason})") from None


class _Port(NamedTuple):
    """An input or output of a graph."""

    name: str
    shape: tuple[int, ...]  # −1 where it is free


class _Session(Protocol):
    """As ONNX Runtime has them: a graph that can be run, by several threads at once."""

    def run(self, outputs: list[str], inputs: dict[str, Any]) -> list[Array]: ...
    def get_inputs(self) -> Sequence[Any]: ...
    def get_outputs(self) -> Sequence[Any]: ...


class _OpenVinoSession:
    def __init__(self, name: str, content: bytes, threads: int, streams: int, dtype: Dtype) -> None:
        try:
            import openvino
        except ImportError:
            raise InputError("OpenVINO is needed: pip install 'kedge[openvino]'") from None
        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[dtype],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": streams,
            "ENABLE_CPU_PINNING": False,  # or all processes of a pool sit on the same core
        }
        try:
            self._model = core.compile_model(core.read_model(content), "CPU", settings)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1][:200]
            raise InputError(f"{name}: OpenVINO cannot take it ({reason})") from None
        self._of_thread = threading.local()

    def run(self, outputs: list[str], inputs: dict[str, Array]) -> list[Array]:
        if not hasattr(self._of_thread, "request"):
            self._of_thread.request = self._model.create_infer_request()
        found = self._of_thread.request.infer(inputs)
        return [found[output].copy() for output in outputs]

    def get_inputs(self) -> list[_Port]:
        return [_port(each) for each in self._model.inputs]

    def get_outputs(self) -> list[_Port]:
        return [_port(each) for each in self._model.outputs]


def _port(found: Any) -> _Port:
    sizes = (size.get_length() if size.is_static else -1 for size in found.partial_shape)
    return _Port(found.any_name, tuple(sizes))


def _check_signature(
    session: _Session, name: str, known: Sequence[Encoding]
) -> tuple[Encoding, list[str]]:
    """Which of the `known` encodings it has, and the outputs to ask for; `InputError` if none."""
    inputs = {found.name: tuple(found.shape[1:]) for found in session.get_inputs()}
    outputs = {found.name: list(found.shape[1:]) for found in session.get_outputs()}
    for encoding in known:
        wanted = {"policy": [encoding.moves], "value": [], "wdl": [3]}
        found = {output: outputs[output] for output in wanted if output in outputs}
        is_whole = {"policy", "value"} <= set(found) and all(
            found[output] == wanted[output] for output in found
        )
        if inputs == {"planes": encoding.shape} and is_whole:
            return encoding, list(found)
    games = " or ".join(encoding.game for encoding in ENCODINGS)
    raise InputError(f"{name}: not a model of {games} with kedge's planes and moves")


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


def _empty(encoding: Encoding, knows_draws: bool) -> Evaluation:
    none = np.zeros(0, np.float32)
    return Evaluation(
        np.zeros((0, encoding.moves), np.float32), none, none if knows_draws else None
    )

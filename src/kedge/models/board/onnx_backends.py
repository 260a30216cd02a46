"""Networks as ONNX graphs on the CPU: ONNX Runtime, which takes graphs that kedge did not make, and
OpenVINO, for processors that know bfloat16."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from kedge.errors import InputError
from kedge.files import read_file
from kedge.models.board.backends import Array, Backend, Dtype, Evaluation, Network, joined, nothing
from kedge.models.board.encoding import Encoding, encodings
from kedge.models.board.network import to_onnx
from kedge.models.board.weights import Weights


class OnnxNetwork(Backend):
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
        known: Sequence[Encoding] = encodings()
        if isinstance(model, Weights):
            known = (model.encoding,)
            content = to_onnx(model).SerializeToString()
        elif Path(model).suffix.lower() == ".onnx":
            content = read_file(model)
        else:
            content = to_onnx(self.weights()).SerializeToString()
        self._threads = threads
        self._session = self._open(content, 1)
        self.encoding, self._outputs = _check_signature(self._session, self._name, known)
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
            return nothing(self.encoding, "wdl" in self._outputs)
        shared = count >= self._threads
        most = self.encoding.rows
        size = min(most, -(-count // self._threads)) if shared else most
        session = self._session if shared else self._wide

        def run(start: int) -> list[Array]:
            planes = planes_of(slice(start, start + size))
            found: list[Array] = session.run(self._outputs, {"planes": planes})
            return found

        starts = range(0, count, size)
        spread = map if self._pool is None or len(starts) == 1 else self._pool.map
        return joined(self._name, list(spread(run, starts)))


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
    games = " or ".join(encoding.game for encoding in encodings())
    raise InputError(f"{name}: not a model of {games} with kedge's planes and moves")

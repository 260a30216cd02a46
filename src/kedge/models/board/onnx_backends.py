"""Networks as ONNX graphs on the CPU: ONNX Runtime, which also runs graphs from other programs, and
OpenVINO, for processors with bfloat16."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from kedge.errors import InputError, needs
from kedge.files import read_file
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
from kedge.models.board.encoding import Encoding, encodings
from kedge.models.board.weights import Weights
from kedge.models.devices import Dtype
from kedge.models.onnx_session import OnnxSession, onnx_session


def _graph(weights: Weights) -> bytes:
    from kedge.models.board.network import to_onnx  # onnx is slow to load, and most need no graph

    content: bytes = to_onnx(weights).SerializeToString()
    return content


class OnnxNetwork(Backend):
    """A network on ONNX Runtime's CPU backend.

    Parameters
    ----------
    model
        An lc0 weight file, an ``.onnx`` file with the inputs and outputs of `network.to_onnx`, or
        loaded weights.
    threads
        Number of threads; each computes a share of the positions. If there are fewer positions
        than threads, ONNX Runtime's own threads split every layer instead. They spin while they
        wait, so use no more threads than free cores.
    """

    def __init__(self, model: str | Path | Weights, *, threads: int = 1) -> None:
        if threads < 1:
            raise InputError(f"threads: at least 1, not {threads}")
        super().__init__(model)
        known: Sequence[Encoding] = encodings()
        if isinstance(model, Weights):
            known = (model.encoding,)
            content = _graph(model)
        elif Path(model).suffix.lower() == ".onnx":
            content = read_file(model)
        else:
            content = _graph(self.weights())
        self._threads = threads
        self._session = self._open(content, 1)
        signature = _check_signature(self._session, self.name, known)
        self.encoding, self._planes, self._outputs = signature
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._wide = self._open(content, threads) if threads > 1 else self._session

    def _computing(self, weights: Weights) -> Network:
        return type(self)(weights, threads=self._threads)

    def _open(self, content: bytes, threads: int) -> "OnnxSession":
        return onnx_session(self.name, content, threads)

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        planes = self.encoding.check_planes(planes)
        return check_finite(self, self._spread(len(planes), lambda rows: planes[rows]))

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        masks, numbers = self.encoding.check_packed(masks, numbers)
        unpack = self.encoding.unpack
        return self._spread(len(masks), lambda rows: unpack(masks[rows], numbers[rows]))

    def _spread(self, count: int, planes_of: Callable[[slice], Array]) -> Evaluation:
        if count == 0:
            return no_evaluations(self.encoding, "wdl" in self._outputs)
        shared = count >= self._threads
        most = self.encoding.rows
        size = min(most, -(-count // self._threads)) if shared else most
        session = self._session if shared else self._wide

        def run(start: int) -> list[Array]:
            planes = planes_of(slice(start, start + size))[:, : self._planes]
            outputs: list[Array] = session.run(self._outputs, {"planes": planes})
            return outputs

        starts = range(0, count, size)
        spread = map if self._pool is None or len(starts) == 1 else self._pool.map
        return evaluation_of(*concatenated(list(spread(run, starts))))


class OpenVinoNetwork(OnnxNetwork):
    """A network on OpenVINO, on the CPU.

    ``dtype`` "bfloat16" is faster and less precise. On processors without it, OpenVINO computes in
    float32. ``benchmarks/models.py`` measures both effects.
    """

    def __init__(
        self, model: str | Path | Weights, *, threads: int = 1, dtype: Dtype = "bfloat16"
    ) -> None:
        self._dtype = dtype
        super().__init__(model, threads=threads)

    def _computing(self, weights: Weights) -> Network:
        return OpenVinoNetwork(weights, threads=self._threads, dtype=self._dtype)

    def _open(self, content: bytes, threads: int) -> "OnnxSession":
        # Threads either take shares of a batch or work on one batch together.
        streams = self._threads if threads == 1 else 1
        return _OpenVinoSession(self.name, content, self._threads, streams, self._dtype)


class _Port(NamedTuple):
    """An input or output of a graph."""

    name: str
    shape: tuple[int, ...]  # −1 for a free dimension


class _OpenVinoSession:
    def __init__(self, name: str, content: bytes, threads: int, streams: int, dtype: Dtype) -> None:
        try:
            import openvino
        except ImportError:
            raise InputError(f"OpenVINO is not installed; {needs('openvino')}") from None
        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[dtype],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": streams,
            "ENABLE_CPU_PINNING": False,  # otherwise all processes of a pool use the same core
        }
        try:
            self._model = core.compile_model(core.read_model(content), "CPU", settings)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1][:200]
            raise InputError(f"{name}: OpenVINO cannot load it ({reason})") from None
        self._of_thread = threading.local()

    def run(self, outputs: list[str], inputs: dict[str, Array]) -> list[Array]:
        if not hasattr(self._of_thread, "request"):
            self._of_thread.request = self._model.create_infer_request()
        results = self._of_thread.request.infer(inputs)
        return [results[output].copy() for output in outputs]

    def get_inputs(self) -> list[_Port]:
        return [_port(each) for each in self._model.inputs]

    def get_outputs(self) -> list[_Port]:
        return [_port(each) for each in self._model.outputs]


def _port(port: Any) -> _Port:
    sizes = (size.get_length() if size.is_static else -1 for size in port.partial_shape)
    return _Port(port.any_name, tuple(sizes))


class _Signature(NamedTuple):
    encoding: Encoding
    planes: int  # how many of the encoding's planes it takes, from the first
    outputs: list[str]


def _check_signature(session: OnnxSession, name: str, known: Sequence[Encoding]) -> _Signature:
    """Return what a graph takes, by one of the `known` encodings; `InputError` if none fits."""
    inputs = {port.name: tuple(port.shape[1:]) for port in session.get_inputs()}
    outputs = {port.name: list(port.shape[1:]) for port in session.get_outputs()}
    for encoding in known:
        expected = {"policy": [encoding.moves], "value": [], "wdl": [3]}
        shapes = {output: outputs[output] for output in expected if output in outputs}
        is_whole = {"policy", "value"} <= set(shapes) and all(
            shapes[output] == expected[output] for output in shapes
        )
        for planes in (encoding.planes, encoding.first_planes):
            if planes and inputs == {"planes": (planes, *encoding.shape[1:])} and is_whole:
                return _Signature(encoding, planes, list(shapes))
    games = " or ".join(encoding.game for encoding in encodings())
    raise InputError(f"{name}: not a model of {games} with kedge's planes and moves")

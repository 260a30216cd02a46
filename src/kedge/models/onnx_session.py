"""ONNX Runtime on the CPU."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError

Array = npt.NDArray[np.float32]


class OnnxSession(Protocol):
    """The part of ONNX Runtime's sessions used here: a graph that several threads can run."""

    def run(self, outputs: list[str], inputs: dict[str, Any]) -> list[Array]: ...
    def get_inputs(self) -> Sequence[Any]: ...
    def get_outputs(self) -> Sequence[Any]: ...


def onnx_session(name: str, content: bytes, threads: int) -> OnnxSession:
    """Return a session that runs the graph in `content`; `name` is for errors."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # errors are raised anyway
    try:
        # From bytes, so that the model cannot make it read other files.
        session: OnnxSession = onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
        return session
    except Exception as error:  # ONNX Runtime raises many kinds
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InputError(f"{name}: not an ONNX model ({reason})") from None

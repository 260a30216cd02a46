"""The device of the networks that agents load."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kedge.errors import InputError
from kedge.machine import cores
from kedge.models.devices import Dtype

#: Kinds of devices: kedge's own, and those of torch that compute.
_DEVICES = ("cpu", "openvino", "cuda", "mps", "xpu", "hpu", "mtia", "xla", "privateuseone")
_device: ContextVar[tuple[str, Dtype, int | None]] = ContextVar(
    "device", default=("cpu", "float32", None)
)


@contextmanager
def computing_on(
    device: str, dtype: Dtype = "float32", threads: int | None = None
) -> Iterator[None]:
    """Set the device of networks that are loaded inside the ``with`` block.

    "cpu" means kedge's own kernels, or ONNX Runtime for graphs of other programs. "openvino" means
    OpenVINO, any other device torch. Agents that are made inside use `threads` CPU threads, or all
    cores.
    """
    check_device(device)
    if device == "cpu" and dtype != "float32":
        raise InputError("--device cpu computes in float32 only; --device openvino has bfloat16")
    token = _device.set((device, dtype, threads))
    try:
        yield
    finally:
        _device.reset(token)


def check_device(name: str) -> None:
    """Raise `InputError` if no device can have this name."""
    if name.partition(":")[0] not in _DEVICES:
        raise InputError(f"device {name!r}: unknown; use cpu, openvino, cuda or cuda:1")


def device() -> tuple[str, Dtype, int]:
    """Return the device of networks, their number type, and the number of CPU threads."""
    where, dtype, threads = _device.get()
    return where, dtype, threads or cores()

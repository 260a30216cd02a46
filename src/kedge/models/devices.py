"""Where networks compute, and in which numbers."""

from typing import Any, Literal

from kedge.errors import InputError

Dtype = Literal["float32", "bfloat16"]


def is_cpu(device: str) -> bool:
    """Whether the device is the CPU."""
    return device in ("cpu", "openvino")


def placed(module: Any, device: str, dtype: Dtype) -> Any:
    """Move a torch module to its device; raise `InputError` if that is impossible."""
    import torch

    if dtype not in ("float32", "bfloat16"):
        raise InputError(f"dtype: float32 or bfloat16, not {dtype}")
    try:
        return module.to(torch.device(device), getattr(torch, dtype)).eval()
    except (RuntimeError, AssertionError) as error:  # torch raises both
        reason = str(error).splitlines()[0]
        raise InputError(f"device {device!r}: cannot be used ({reason}); use cpu") from None

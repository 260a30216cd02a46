"""The numbers of torch's modules by the names that weight files give them.

A weight file has LSTMs layer by layer, each with one bias where torch has two.
"""

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

Array = npt.NDArray[np.float32]
_THEIRS = re.compile(r"(.+)\.(weight|bias)_(ih|hh)_l(\d+)")
_OURS = re.compile(r"(.+)\.(\d+)\.(input|hidden)\.(weight|bias)")


def arrays_of(module: nn.Module) -> dict[str, Array]:
    """As weight files have them."""
    arrays: dict[str, Array] = {}
    for name, tensor in module.state_dict().items():
        array = tensor.float().cpu().numpy()
        found = _THEIRS.fullmatch(name)
        if found is None:
            arrays[name] = array
            continue
        whole, kind, part, layer = found.groups()
        if kind == "weight":
            arrays[f"{whole}.{layer}.{'input' if part == 'ih' else 'hidden'}.weight"] = array
        else:
            ours = f"{whole}.{layer}.input.bias"
            arrays[ours] = arrays.get(ours, np.float32(0.0)) + array
    return arrays


def state_of(arrays: Mapping[str, Array]) -> dict[str, Tensor]:
    """Back, as modules load them."""
    state = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(np.array(array))
        found = _OURS.fullmatch(name)
        if found is None:
            state[name] = tensor
            continue
        whole, layer, part, kind = found.groups()
        if kind == "weight":
            state[f"{whole}.weight_{'ih' if part == 'input' else 'hh'}_l{layer}"] = tensor
        else:
            state[f"{whole}.bias_ih_l{layer}"] = tensor
            state[f"{whole}.bias_hh_l{layer}"] = torch.zeros_like(tensor)
    return state

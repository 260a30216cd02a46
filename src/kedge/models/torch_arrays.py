"""Conversion between the arrays of torch modules and those of weight files.

A weight file stores an LSTM layer by layer, each with one bias; torch has two.
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
    """The arrays of a module, named as in weight files."""
    arrays: dict[str, Array] = {}
    for name, tensor in module.state_dict().items():
        array = tensor.float().cpu().numpy()
        match = _THEIRS.fullmatch(name)
        if match is None:
            arrays[name] = array
            continue
        whole, kind, part, layer = match.groups()
        if kind == "weight":
            arrays[f"{whole}.{layer}.{'input' if part == 'ih' else 'hidden'}.weight"] = array
        else:
            ours = f"{whole}.{layer}.input.bias"
            arrays[ours] = arrays.get(ours, np.float32(0.0)) + array
    return arrays


def state_of(arrays: Mapping[str, Array]) -> dict[str, Tensor]:
    """The torch state of arrays from a weight file."""
    state = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(np.array(array))
        match = _OURS.fullmatch(name)
        if match is None:
            state[name] = tensor
            continue
        whole, layer, part, kind = match.groups()
        if kind == "weight":
            state[f"{whole}.weight_{'ih' if part == 'input' else 'hh'}_l{layer}"] = tensor
        else:
            state[f"{whole}.bias_ih_l{layer}"] = tensor
            state[f"{whole}.bias_hh_l{layer}"] = torch.zeros_like(tensor)
    return state

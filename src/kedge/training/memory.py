"""Refuse networks and batches that memory cannot hold, in one line instead of a traceback."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import nn

from kedge.errors import InputError
from kedge.files import MAX_BYTES
from kedge.training.recipe import Recipe

M = TypeVar("M", bound=nn.Module)

#: A network of more weights would not fit a model file.
MOST_WEIGHTS = MAX_BYTES // 4


def make_checked(make: Callable[[], M], recipe: Recipe) -> M:
    """Return the network that `make` makes; raise `InputError` before if it is too large."""
    with torch.device("meta"):  # shapes without memory
        weights = sum(part.numel() for part in make().parameters())
    if weights > MOST_WEIGHTS:
        sizes = ", ".join(f"{name}={getattr(recipe, name)}" for name in recipe.shape)
        raise InputError(
            f"{sizes}: a network of {weights:,} weights; at most {MOST_WEIGHTS:,} fit a model file"
        )
    return make()


@contextmanager
def enough_memory() -> Iterator[None]:
    """Say what to do if the memory of the machine or of the GPU does not suffice."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError, RuntimeError) as error:
        is_cpu = "can't allocate memory" in str(error)  # torch has no class of its own for it
        if not isinstance(error, (MemoryError, torch.OutOfMemoryError)) and not is_cpu:
            raise
        raise InputError(
            "not enough memory; use a smaller batch (-s batch=…), fewer games, or a smaller network"
        ) from None

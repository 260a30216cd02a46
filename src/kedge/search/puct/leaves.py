"""Evaluate the leaves of a native forest with a network."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float32]
#: Mask of the legal moves of a root that may be tried.
Allowed: TypeAlias = npt.NDArray[np.bool_]


class Lane(Protocol):
    """Buffers for a batch of positions and their legal moves, on the way to a network.

    Fill the first rows of ``masks`` and ``numbers``, and ``moves`` with the indices of the legal
    moves in the flat policy of the batch: policy_size · row + index. A lane serves one thread;
    several keep a GPU busy.
    """

    masks: npt.NDArray[np.uint64]  # (rows, words)
    numbers: Floats  # (rows)
    moves: npt.NDArray[np.int32]
    policy_size: int
    name: str
    """The network's, for errors."""

    def evaluate(self, rows: int, moves: int) -> tuple[Floats, Floats]:
        """The logits of the first `moves` and values of the first `rows`, until the next call."""


def evaluate_leaves(
    forest: "_core.EncodingForest",
    lane: Lane,
    temperature: float,
    allowed: Mapping[int, Allowed] | None = None,
) -> None:
    """Evaluate the waiting leaves, with the anchor at `temperature`.

    `allowed` has the masks of allowed root moves, by the number of the tree.
    """
    rows, moves = forest.encode(lane.masks, lane.numbers, lane.moves, lane.policy_size)
    logits, values = lane.evaluate(rows, moves)
    if allowed:
        # An action with no prior is never tried: the best that was is no worse than the mean it
        # would be given (plain.py), and has a bonus on top.
        ends = np.cumsum(forest.action_counts())
        for tree, end in zip(forest.waiting().tolist(), ends.tolist(), strict=True):
            if tree in allowed:
                logits[end - len(allowed[tree]) : end][~allowed[tree]] = -np.inf
    try:
        forest.update_logits(logits, values, temperature)
    except ValueError:
        raise InputError(f"{lane.name}: the network's outputs are not finite") from None

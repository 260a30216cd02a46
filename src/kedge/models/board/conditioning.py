"""Players as inputs of board networks: ratings, ranks, the speed of the game.

They enter a network as numbers, the same for all points of the board: as a bias of every channel
after the input convolution (``who.weight``) and as a bias of what squeeze-and-excitation does in
every block (``blocks.I.who.weight``). For given players these biases are constants. So a network
for them needs no input but the planes, and costs no more.

In old files they are constant planes after the position's (`Encoding.players_as_planes`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError

if TYPE_CHECKING:
    from kedge.models.board.weights import Weights

Numbers = npt.NDArray[np.float32]


class PlayerInputs(ABC):
    """The inputs about its players that the networks of a game may take."""

    #: Names of the players' inputs in specs: ``chess(elo=1700, speed=blitz)``.
    options: ClassVar[tuple[str, ...]]
    #: Length of `numbers`.
    count: ClassVar[int]

    @abstractmethod
    def numbers(self, *args: Any, **options: Any) -> Numbers:
        """Return the network's inputs for some of `options`; `InputError` for impossible ones."""


def one_of(numbers: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    """Encode 1 to `count` as one-hot rows; 0 is all 0.

    >>> one_of([2, 0], 3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return np.eye(count + 1)[np.asarray(numbers, np.int64)][:, 1:]


def near(values: npt.ArrayLike, knots: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Encode values by their distance to each knot: 1 at it, 0 at its neighbours; NaN is all 0.

    >>> near([1500.0, np.nan], np.array([1200.0, 1400.0, 1600.0])).tolist()
    [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    """
    array = np.asarray(values, np.float64)
    clipped = np.clip(np.nan_to_num(array), knots[0], knots[-1])
    weights = np.stack([np.interp(clipped, knots, each) for each in np.eye(len(knots))], axis=1)
    return np.where(np.isnan(array)[:, None], 0.0, weights)


def takes_players(weights: "Weights") -> tuple[str, ...]:
    """Former name of `Weights.player_options`, for scripts that use it."""
    return weights.player_options


def for_players(weights: "Weights", name: str, **options: Any) -> "Weights":
    """Fix the players of a network, and call it `name` in errors.

    A network that does not take the players as input keeps its weights, and takes no options.
    """
    inputs, known = weights.encoding.players, weights.player_options
    unknown = [option for option in options if option not in known]
    if unknown:
        what = f"it takes {', '.join(known)}" if known else "it takes no players as input"
        raise InputError(f"{name} does not take {' or '.join(unknown)}; {what}")
    if inputs is None or not known:
        return replace(weights, name=name)
    try:
        arrays = _folded(weights, inputs.numbers(**options).astype(np.float64))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    players = "".join(f"-{key}={value}" for key, value in sorted(options.items()))
    return replace(weights, name=name, arrays=arrays, sha256=f"{weights.sha256}{players}")


def _folded(weights: "Weights", numbers: npt.NDArray[np.float64]) -> Mapping[str, Numbers]:
    """Return the arrays of a network that takes the players, for players with these numbers."""
    arrays = dict(weights.arrays)
    if weights.player_planes:
        arrays["input.weight"] = _folded_planes(weights, numbers)
    for name in [name for name in arrays if name.endswith("who.weight")]:
        columns = arrays.pop(name)
        _check_count(columns.shape[1], numbers)
        block = name.removesuffix("who.weight")
        bias = f"{block}se.fc2.bias" if block else "input.bias"
        arrays[bias] = (arrays[bias] + columns.astype(np.float64) @ numbers).astype(np.float32)
    return arrays


def _folded_planes(weights: "Weights", numbers: npt.NDArray[np.float64]) -> Numbers:
    """Fold constant planes into the plane of ones, which is exact.

    The first of them is the position's number, which has a plane of its own by now.
    """
    encoding = weights.encoding
    full = weights.arrays["input.weight"].astype(np.float64)
    kernel, number, players = np.split(full, [encoding.planes, encoding.planes + 1], axis=1)
    _check_count(players.shape[1], numbers)
    kernel[:, encoding.ones_plane] += np.tensordot(numbers, players, axes=(0, 1))
    kernel[:, encoding.number_plane] = number[:, 0] / encoding.number_scale
    return kernel.astype(np.float32)


def _check_count(count: int, numbers: npt.NDArray[np.float64]) -> None:
    if count != len(numbers):
        raise InputError(
            f"the model takes {count} inputs about the players, expected {len(numbers)}"
        )

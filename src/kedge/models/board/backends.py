"""The interface of network backends, which evaluate batches. Each backend has its own file."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.models.board.encoding import Encoding
from kedge.models.board.weights import Weights
from kedge.models.weight_files import of_class, read_model

Array = npt.NDArray[np.float32]


class Evaluation(NamedTuple):
    """A network's outputs for a batch of positions, for the side to move."""

    policy: Array  # (n, moves) logits; in chess in the order of `lc0_moves.MOVES`
    value: Array  # (n) W − L
    draw: Array | None  # (n) probability; None if the network does not predict it


class Network(Protocol):
    """A network that evaluates batches; every backend implements it."""

    @property
    def name(self) -> str:
        """The model's name, for errors."""

    @property
    def encoding(self) -> Encoding:
        """Its game and the format of its inputs."""

    def on(self, side: int) -> "Network":
        """The same network on boards of that side; `InputError` if it has a fixed size."""

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        """Evaluate float planes (n, planes, side, side); `InputError` if it is not `finite`."""

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        """Evaluate uint64 masks (n, words) and numbers (n): see `Encoding`.

        Searches check the answer; others ask whether it is `finite`.
        """


class Backend(ABC):
    """Base of the backends; caches a copy of the network for each other board size."""

    encoding: Encoding

    def __init__(self, model: str | Path | Weights) -> None:
        self._model = model
        self.name = model.name if isinstance(model, Weights) else str(model)
        self._others: dict[int, Network] = {}
        self._making = threading.Lock()

    def on(self, side: int) -> Network:
        if side == self.encoding.side:
            return self
        with self._making:
            if side not in self._others:
                self._others[side] = self._computing(self.weights().on(side))
            return self._others[side]

    def weights(self) -> Weights:
        """The weights of this network."""
        return self._model if isinstance(self._model, Weights) else read_weights(self._model)

    @abstractmethod
    def _computing(self, weights: Weights) -> Network:
        """A backend of the same kind for other weights."""

    @abstractmethod
    def evaluate(self, planes: npt.ArrayLike) -> Evaluation: ...

    @abstractmethod
    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation: ...


def read_weights(path: str | Path) -> Weights:
    """Read the network of a board game."""
    return of_class(Weights, read_model(path), str(path))


def concatenated(parts: Sequence[Sequence[Array]]) -> list[Array]:
    """Join the outputs of the parts of a batch."""
    return [
        part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*parts, strict=True)
    ]


def evaluation_of(policy: Array, value: Array, wdl: Array | None = None) -> Evaluation:
    """Return a network's outputs."""
    return Evaluation(policy, value, None if wdl is None else wdl[:, 1])


def check_finite(network: Network, evaluation: Evaluation) -> Evaluation:
    """Return an evaluation of `network`; raise an `InputError` if it is not finite."""
    # Finite weights can still overflow.
    if not (np.isfinite(evaluation.value).all() and np.isfinite(evaluation.policy).all()):
        raise InputError(f"{network.name}: the network's outputs are not finite")
    return evaluation


def no_evaluations(encoding: Encoding, knows_draws: bool) -> Evaluation:
    none = np.zeros(0, np.float32)
    return Evaluation(
        np.zeros((0, encoding.moves), np.float32), none, none if knows_draws else None
    )

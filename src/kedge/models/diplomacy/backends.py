"""Backends of the Diplomacy network: ONNX Runtime on a CPU, torch on a GPU.

ONNX Runtime runs graphs that are built from the weights, not the graph of a model's file.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError, needs
from kedge.games.diplomacy import POWERS, DiplomacyBatch
from kedge.models.devices import Dtype, placed
from kedge.models.diplomacy.encoding import PLACES, PURPOSES, Choices, Facts, Integers
from kedge.models.diplomacy.network import Array, DiplomacyWeights, to_onnx, to_step_onnx
from kedge.models.onnx_session import onnx_session

_LOOKS = 1 + PURPOSES * PLACES


class NextChoice(NamedTuple):
    """The next choice of g powers, with r partial orders each, and c orders to choose from;
    powers with fewer are padded."""

    positions: Integers  # (g,) index of the position
    powers: Integers  # (g,)
    places: Integers  # (g,) place of the unit; PLACES if there is none
    left: Integers  # (g,) remaining choices of the power, including this one
    parents: Integers  # (g, r) row of the previous step that each continues
    before: Integers  # (g, r, 3) facts of the order before
    orders: Integers  # (g, c, 5) facts


class OrderNetwork(Protocol):
    """A network that reads positions and then predicts one order at a time."""

    def read(self, facts: Facts) -> Any:
        """Read positions for `step`; the result's type depends on the backend."""

    def step(self, read: Any, state: Any, choice: NextChoice) -> tuple[Array, Any]:
        """The logits (g, r, c) of the orders, and the next state of the g · r rows. In the first
        step `state` is None and `parents` is ignored."""


class Sampler(OrderNetwork, Protocol):
    """A network that draws on its device, so that only the orders are transferred."""

    def sample(
        self, facts: Facts, choices: Choices, seed: int, temperature: float, top_p: float
    ) -> Integers:
        """Draw an order for each choice; `choices` are those of all powers on the boards of
        `facts`."""


class OnnxOrderNetwork:
    """The network on ONNX Runtime's CPU backend, each batch split over `threads`."""

    def __init__(self, weights: DiplomacyWeights, threads: int = 1) -> None:
        self._layers, self._width = weights.layers, weights.width
        self._read = _Spread(to_onnx(weights).SerializeToString(), threads)
        self._step = onnx_session("step", to_step_onnx(weights).SerializeToString(), threads)

    def read(self, facts: Facts) -> list[Array]:
        return self._read.run(["places", "powers", "looks"], facts)

    def step(
        self, read: list[Array], state: tuple[Array, Array] | None, choice: NextChoice
    ) -> tuple[Array, tuple[Array, Array]]:
        places, powers, looks = read
        shape = (self._layers, *choice.parents.shape, self._width)
        if state is None:
            hidden = cell = np.zeros(shape, np.float32)
        else:
            hidden, cell = (part[:, choice.parents] for part in state)
        at = choice.positions
        looked = looks[at[:, None, None], choice.orders[..., 3:]].sum(2)
        logits, hidden, cell = self._step.run(
            ["logits", "hidden.next", "cell.next"],
            {
                "places": places[at, choice.places],
                "powers": powers[at, choice.powers],
                "left": choice.left,
                "before": choice.before,
                "orders": choice.orders[..., :3],
                "looked": looked,
                "hidden": hidden,
                "cell": cell,
            },
        )
        rows = (shape[0], -1, shape[-1])
        return logits, (hidden.reshape(rows), cell.reshape(rows))


class TorchOrderNetwork:
    """The network on a torch device."""

    def __init__(self, weights: DiplomacyWeights, device: str, dtype: Dtype = "float32") -> None:
        try:
            import torch

            from kedge.models.diplomacy.torch_network import module_of
        except ImportError as error:
            raise InputError(f"torch is not installed ({error}); {needs('train')}") from None
        self._torch = torch
        self._module = placed(module_of(weights), device, dtype)
        self._device = torch.device(device)

    def _number(self, array: npt.NDArray[Any]) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def read(self, facts: Facts) -> Any:
        with self._torch.inference_mode():
            return self._module.read(self._number(facts.view(np.int16)).int())

    def share_logits(self, facts: Facts) -> Array:
        logits: Array = self.read(facts).shares.float().cpu().numpy()
        return logits

    def step(self, read: Any, state: Any, choice: NextChoice) -> tuple[Array, Any]:
        from kedge.models.diplomacy.torch_network import StepInputs

        with self._torch.inference_mode():
            at = self._number(choice.positions)
            orders = self._number(choice.orders)
            looked = read.looks[at[:, None, None], orders[..., 3:]].sum(2)
            inputs = StepInputs(
                read.places[at, self._number(choice.places)],
                read.powers[at, self._number(choice.powers)],
                self._number(choice.left),
                self._number(choice.before),
            )
            if state is not None:
                rows = self._number(choice.parents.ravel())
                state = tuple(part[:, rows].contiguous() for part in state)
            logits, state = self._module.step(inputs, orders[..., :3], looked, state)
            return logits.float().cpu().numpy(), state

    def sample(
        self, facts: Facts, choices: Choices, seed: int, temperature: float, top_p: float
    ) -> Integers:
        from kedge.models.diplomacy.torch_network import AllChoices, sample

        after, until = choices.openings()
        first, counts = np.zeros((2, len(facts), len(POWERS)), np.int64)
        groups = choices.boards, choices.powers
        first[groups], counts[groups] = choices.first, choices.counts
        order_facts = _core.diplomacy_order_facts(choices.orders).view(np.int16)
        with self._torch.inference_mode():
            parts = (first, counts, choices.places, choices.offsets, order_facts, after, until)
            every = AllChoices(*(self._number(part) for part in parts))
            generator = self._torch.Generator(self._device).manual_seed(seed)
            drawn = sample(self._module, self.read(facts), every, generator, temperature, top_p)
            orders: Integers = drawn.cpu().numpy()
            return orders


class NetworkValues:
    """Values positions with a network, without previous orders; `batch` boards at a time."""

    def __init__(
        self,
        weights: DiplomacyWeights,
        *,
        threads: int = 1,
        device: str = "cpu",
        dtype: Dtype = "float32",
        batch: int = 256,
    ) -> None:
        self._batch = batch
        self._network = (
            _Spread(to_onnx(weights, values_only=True).SerializeToString(), threads)
            if device == "cpu"
            else TorchOrderNetwork(weights, device, dtype)
        )

    def values(self, boards: DiplomacyBatch) -> npt.NDArray[np.float64]:
        facts = _core.diplomacy_batch_facts(boards)
        shares = np.empty((len(facts), len(POWERS)))
        for first in range(0, len(facts), self._batch):
            logits = self._network.share_logits(facts[first : first + self._batch])
            powers = np.exp(logits - logits.max(1, keepdims=True))
            shares[first : first + self._batch] = powers / powers.sum(1, keepdims=True)
        return shares


class _Spread:
    """A graph with the input ``facts`` whose batches are split over threads."""

    def __init__(self, content: bytes, threads: int) -> None:
        self._threads = threads
        self._session = onnx_session("network", content, 1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def share_logits(self, facts: Facts) -> Array:
        return self.run(["shares"], facts)[0]

    def run(self, outputs: list[str], facts: Facts) -> list[Array]:
        inputs = facts.astype(np.int32)
        if self._pool is None or len(inputs) < 2 * self._threads:
            return self._session.run(outputs, {"facts": inputs})
        parts = self._pool.map(
            lambda part: self._session.run(outputs, {"facts": part}),
            np.array_split(inputs, self._threads),
        )
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

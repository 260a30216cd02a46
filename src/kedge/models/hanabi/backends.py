"""Backends of Hanabi's networks: ONNX Runtime on a CPU, torch on a GPU.

A memory is an LSTM's hidden state and cell, (n, layers, width): arrays, or tensors on the device.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import onnx

from kedge.errors import InputError, needs
from kedge.games.hanabi import Bomb, Hanabi
from kedge.models.devices import Dtype, placed
from kedge.models.hanabi.model import Games, Hands, Legal, Memory, bomb_of, chosen, drawn
from kedge.models.hanabi.network import (
    NEVER,
    Array,
    BeliefWeights,
    PolicyWeights,
    odds_by_hints,
    to_card_onnx,
    to_observe_onnx,
    to_policy_onnx,
)
from kedge.models.onnx_session import onnx_session

_CHUNK = 256  # rows at a time on a CPU: activations between layers stay in its cache
Shares = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class TableNetwork(Protocol):
    """A network that observes tables, turn by turn."""

    def buffer(self, count: int, features: int) -> Array:
        """The buffer for views; it may be reused after the network has answered."""

    def begin(self, count: int) -> Memory: ...

    def observe(self, seen: Array, memory: Memory) -> Memory: ...


class PolicyNetwork(TableNetwork, Protocol):
    def policy(self, seen: Array, legal: Legal, memory: Memory) -> Shares:
        """The policy (n, actions) from the movers' views."""

    def product(self, seen: Array, memory: Memory) -> Array:
        """(n, width): the layer from which the policy and the value are computed."""

    def move(
        self,
        seen: Array,
        hands: int,
        legal: Legal,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
    ) -> tuple[Integers, Memory]:
        """Observe the public part of `seen`, without its first `hands` features, and move."""


@runtime_checkable
class PlaysOut(Protocol):
    """A network that plays games out on its own device, so that a GPU need not wait."""

    def play_out(
        self,
        games: Games,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None = None,
    ) -> Shares:
        """See `kedge.models.hanabi.model.Blueprint.play_out`."""


class BeliefNetwork(TableNetwork, Protocol):
    def hands(self, seen: Array, memory: Memory, count: int, rng: np.random.Generator) -> Hands:
        """Draw hands (n, count, slots) at observed tables, card by card, the oldest first."""


# --- On a CPU -----------------------------------------------------------------------------------


class _OnnxTable:
    def __init__(self, weights: PolicyWeights | BeliefWeights, threads: int) -> None:
        self._weights = weights
        self._each: Callable[..., Iterable[Any]] = (
            ThreadPoolExecutor(threads).map if threads > 1 else map
        )
        self._observe = _session(to_observe_onnx(weights))

    def buffer(self, count: int, features: int) -> Array:
        return np.empty((count, features), np.float32)

    def begin(self, count: int) -> Memory:
        shape = (count, self._weights.layers, self._weights.width)
        return np.zeros(shape, np.float32), np.zeros(shape, np.float32)

    def observe(self, seen: Array, memory: Memory) -> Memory:
        inputs = {"seen": seen, "hidden": memory[0], "cell": memory[1]}
        return tuple(self._run(self._observe, ["hidden.next", "cell.next"], inputs))

    def _run(self, session: Any, outputs: list[str], inputs: dict[str, Any]) -> list[Any]:
        """Run large batches in chunks, one per thread at a time."""
        count = len(next(iter(inputs.values())))
        if count <= _CHUNK:
            whole: list[Any] = session.run(outputs, inputs)
            return whole
        parts = [
            {name: array[first : first + _CHUNK] for name, array in inputs.items()}
            for first in range(0, count, _CHUNK)
        ]
        done = self._each(lambda part: session.run(outputs, part), parts)
        return [np.concatenate(part) for part in zip(*done, strict=True)]


class OnnxPolicy(_OnnxTable):
    """A policy on ONNX Runtime's CPU backend, with chunks of each batch on `threads`."""

    def __init__(self, weights: PolicyWeights, threads: int = 1) -> None:
        super().__init__(weights, threads)
        self._policy = _session(to_policy_onnx(weights))

    def policy(self, seen: Array, legal: Legal, memory: Memory) -> Shares:
        return _softmax(self._output("logits", seen, memory), legal)

    def product(self, seen: Array, memory: Memory) -> Array:
        return self._output("product", seen, memory)

    def _output(self, name: str, seen: Array, memory: Memory) -> Array:
        inputs = {"seen": seen, "says": memory[0][:, -1]}
        output: Array = self._run(self._policy, [name], inputs)[0]
        return output

    def move(
        self,
        seen: Array,
        hands: int,
        legal: Legal,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
    ) -> tuple[Integers, Memory]:
        memory = self.observe(seen[:, hands:], memory)
        return chosen(self.policy(seen, legal, memory), rng, greedy=greedy), memory


class OnnxBelief(_OnnxTable):
    """A belief on ONNX Runtime's CPU backend, with chunks of each batch on `threads`."""

    def __init__(self, weights: BeliefWeights, threads: int = 1) -> None:
        super().__init__(weights, threads)
        self._card = _session(to_card_onnx(weights))

    def hands(self, seen: Array, memory: Memory, count: int, rng: np.random.Generator) -> Hands:
        says = memory[0][:, -1:]
        hinted = np.log(np.maximum(odds_by_hints(self._weights.game, seen), NEVER))
        sizes = [min(_CHUNK, count - first) for first in range(0, count, _CHUNK)]
        tasks = [(*table, size) for table in zip(says, hinted, strict=True) for size in sizes]
        # One generator per task, so that the number of threads does not change the draws.
        parts = self._each(self._drawn, tasks, rng.spawn(len(tasks)))
        return np.concatenate(list(parts)).reshape(len(says), count, -1)

    def _drawn(self, task: tuple[Array, Array, int], rng: np.random.Generator) -> Hands:
        """Draw some hands at one table."""
        (says, hinted, count), game = task, self._weights.game
        cards = game.colors * game.ranks
        before = np.full((1, count), cards)
        hidden = cell = np.zeros((1, count, self._weights.width), np.float32)
        hands = np.empty((count, game.hand_size), np.uint8)
        for slot in range(game.hand_size):
            logits, hidden, cell = self._card.run(
                ["logits", "hidden.next", "cell.next"],
                {"says": says, "before": before, "hidden": hidden, "cell": cell},
            )
            before = drawn(_softmax(logits[0] + hinted[slot], np.array(True)), rng)[np.newaxis]
            hands[:, slot] = before
        return hands


def _session(model: onnx.ModelProto) -> Any:
    return onnx_session("hanabi", model.SerializeToString(), 1)


def _softmax(logits: Array, allowed: Legal) -> Shares:
    """The softmax over allowed columns; 0 for others, and in rows without any."""
    masked = np.where(allowed, logits, -np.inf)
    most = masked.max(1, keepdims=True)
    powers = np.exp(masked - np.where(np.isfinite(most), most, 0.0), dtype=np.float64)
    total = powers.sum(1, keepdims=True)
    shares: Shares = powers / np.where(total > 0.0, total, 1.0)
    return shares


# --- On a GPU -----------------------------------------------------------------------------------


class _TorchTable:
    def __init__(
        self, weights: PolicyWeights | BeliefWeights, device: str, dtype: Dtype = "float32"
    ) -> None:
        try:
            import torch

            from kedge.models.hanabi.torch_network import module_of
        except ImportError as error:
            raise InputError(f"torch is not installed ({error}); {needs('train')}") from None
        self._torch, self._weights = torch, weights
        self._device, self._dtype = torch.device(device), getattr(torch, dtype)
        self._module = placed(module_of(weights), device, dtype)
        self._module.lstm.flatten_parameters()  # contiguous again after the move
        self._room = torch.empty(0)

    def buffer(self, count: int, features: int) -> Array:
        """A buffer in pinned memory, which is reused."""
        if len(self._room) < count * features:
            on_gpu = self._device.type == "cuda"
            self._room = self._torch.empty(count * features, pin_memory=on_gpu)
        rows: Array = self._room[: count * features].view(count, features).numpy()
        return rows

    def begin(self, count: int) -> Memory:
        shape = (count, self._weights.layers, self._weights.width)
        return tuple(
            self._torch.zeros(shape, device=self._device, dtype=self._dtype) for _ in range(2)
        )

    def observe(self, seen: Array, memory: Memory) -> Memory:
        with self._torch.inference_mode():
            return self._observed(self._there(seen), memory)

    def _observed(self, seen: Any, memory: Memory) -> Memory:
        state = tuple(part.transpose(0, 1).contiguous() for part in memory)
        _, state = self._module.observe(seen[None], state)
        return tuple(part.transpose(0, 1) for part in state)

    def _there(self, array: npt.NDArray[Any]) -> Any:
        tensor = self._torch.from_numpy(array).to(self._device)
        return tensor.to(self._dtype) if tensor.is_floating_point() else tensor


class TorchPolicy(_TorchTable):
    """A policy on a torch device, where it also draws moves."""

    def __init__(self, weights: PolicyWeights, device: str, dtype: Dtype = "float32") -> None:
        super().__init__(weights, device, dtype)
        self._fitted = weights.value
        self._looked_up: dict[Bomb, Any] = {}

    def policy(self, seen: Array, legal: Legal, memory: Memory) -> Shares:
        with self._torch.inference_mode():
            shares = self._shares(self._there(seen), legal, memory)
            shares = shares.double()
            # Normalise in double precision: numpy's draws demand a sum close to 1.
            policy: Shares = (shares / shares.sum(1, keepdim=True).clamp(1e-9)).cpu().numpy()
            return policy

    def product(self, seen: Array, memory: Memory) -> Array:
        with self._torch.inference_mode():
            product = self._module.product(self._there(seen), memory[0][:, -1])
            array: Array = product.float().cpu().numpy()
            return array

    def _shares(self, seen: Any, legal: Legal, memory: Memory) -> Any:
        logits = self._module.logits(seen, memory[0][:, -1]).float()
        # Nothing is legal in a finished game, so its softmax is NaN.
        return logits.masked_fill(~self._there(legal), -self._torch.inf).softmax(1).nan_to_num()

    def move(
        self,
        seen: Array,
        hands: int,
        legal: Legal,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
    ) -> tuple[Integers, Memory]:
        with self._torch.inference_mode():
            views = self._there(seen)
            memory = self._observed(views[:, hands:], memory)
            shares = self._shares(views, legal, memory)
            if not greedy:
                shares /= _waits(self._torch, shares, rng)
            actions: Integers = shares.argmax(1).cpu().numpy()
            return actions, memory

    def play_out(
        self,
        games: Games,
        memory: Memory,
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None = None,
    ) -> Shares:
        from kedge.games.hanabi.tensors import TensorGames
        from kedge.models.hanabi.playouts import End, play_out

        tensor_games = TensorGames.of(self._rules(bomb_of(games)), games)
        seed = int(rng.integers(2**63))
        scores = play_out(
            tensor_games,
            self._evaluate,
            memory,
            self._torch.Generator(self._device).manual_seed(seed),
            greedy=greedy,
            beliefs=True,
            dtype=self._dtype,
            end=None if depth is None else End(depth, self._value),
        )
        array: Shares = scores.double().cpu().numpy()
        return array

    def _evaluate(self, private: Any, public: Any, memory: Memory) -> tuple[Any, Memory]:
        memory = self._observed(public, memory)
        return self._module.logits(private, memory[0][:, -1]), memory

    def _value(self, private: Any, public: Any, memory: Memory) -> Any:
        assert self._fitted is not None  # checked by the blueprint
        row = self._torch.from_numpy(self._fitted.weight).to(self._device)
        memory = self._observed(public, memory)
        product = self._module.product(private, memory[0][:, -1])
        return product.float() @ row + self._fitted.bias

    def _rules(self, bomb: Bomb) -> Any:
        """The device's rule tables for the model's game with this bomb rule."""
        from kedge.games.hanabi.tensors import TensorRules

        if bomb not in self._looked_up:
            rules = Hanabi(**self._weights.game.parameters, bomb=bomb)
            self._looked_up[bomb] = TensorRules(rules, self._device)
        return self._looked_up[bomb]


class TorchBelief(_TorchTable):
    """A belief on a torch device."""

    def hands(self, seen: Array, memory: Memory, count: int, rng: np.random.Generator) -> Hands:
        torch, game = self._torch, self._weights.game
        says = memory[0][:, -1]
        with torch.inference_mode():
            before = torch.full((len(says), count), game.colors * game.ranks, device=self._device)
            state = (says.new_zeros(len(says), count, says.shape[1]),) * 2
            hand = []
            for hinted in self._module.hinted(self._there(seen)).unbind(1):
                logits, state = self._module.step(says, before, state)
                shares = (logits.float() + hinted[:, None]).softmax(2)
                before = (shares / _waits(torch, shares, rng)).argmax(2)
                hand.append(before)
            cards: Hands = torch.stack(hand, 2).to(torch.uint8).cpu().numpy()
            return cards


def _waits(torch: Any, shares: Any, rng: np.random.Generator) -> Any:
    """Exponential waiting times; the largest ratio of share to time is a draw by the shares."""
    generator = torch.Generator(shares.device).manual_seed(int(rng.integers(2**63)))
    return torch.empty_like(shares).exponential_(generator=generator)


def policy_network(
    weights: PolicyWeights, device: str = "cpu", dtype: Dtype = "float32", threads: int = 1
) -> PolicyNetwork:
    return OnnxPolicy(weights, threads) if device == "cpu" else TorchPolicy(weights, device, dtype)


def belief_network(
    weights: BeliefWeights, device: str = "cpu", dtype: Dtype = "float32", threads: int = 1
) -> BeliefNetwork:
    return OnnxBelief(weights, threads) if device == "cpu" else TorchBelief(weights, device, dtype)

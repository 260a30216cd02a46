"""Hanabi's networks as numbers, and as ONNX graphs.

`kedge.models.hanabi.torch_network` has the same in torch.

The policy is a Public-LSTM: what everyone saw goes through an LSTM, what who is to move sees
through three layers, and their product says what is played. The belief is an LSTM over what one
seat saw, and a second one that goes over the cards in its hand, the oldest first; it says how the
odds by hints and counts alone are to be moved. A file runs as the graph that looks at the table;
the others are made from its weights.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from kedge.errors import InputError
from kedge.games.hanabi import BOMBS, Bomb, Hanabi
from kedge.models.onnx_graph import WeightGraph, in_bytes, told_by, weight_arrays

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class HanabiWeights:
    """A network's numbers by name, each ``.weight`` with its outputs first, and its game."""

    arrays: Mapping[str, Array]
    game: Hanabi
    sha256: str  # of the file
    training: Mapping[str, Any] = field(default_factory=dict)

    agent: ClassVar[str]
    """Makes the maker of its agent: see `kedge.models.weight_files.AnyWeights`."""

    def companions(self, name: str) -> tuple[str, ...]:
        """Models that may belong to the model `name`."""
        return ()

    @property
    def width(self) -> int:
        return int(self.arrays["lstm.0.hidden.weight"].shape[1])

    @property
    def layers(self) -> int:
        """Of the LSTM over the turns."""
        return sum(name.startswith("lstm.") and "hidden" in name for name in self.arrays)

    @property
    def parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())

    def architecture(self) -> dict[str, Any]:
        """The shape in JSON."""
        shape = {"width": self.width, "layers": self.layers, "parameters": self.parameters}
        return {"game": str(self.game), **shape}


@dataclass(frozen=True)
class PolicyValue:
    """What games come to: one more row beside those of the moves. And which games: those by a rule
    of bombs, of drawn or of greedy play."""

    weight: Array  # (width,)
    bias: float
    bomb: Bomb
    greedy: bool

    def of(self, product: Array) -> npt.NDArray[np.float64]:
        """By the product of what the LSTM and the private layers say, (n, width)."""
        return np.asarray(product @ self.weight + self.bias, np.float64)


@dataclass(frozen=True)
class PolicyWeights(HanabiWeights):
    """Of what is played: ``public``, ``lstm.I``, ``private.I`` and ``action``."""

    value: PolicyValue | None = None
    """In files ``value``, where it has been fitted."""

    agent: ClassVar[str] = "kedge.agents.hanabi.specs:blueprint"

    def companions(self, name: str) -> tuple[str, ...]:
        """The belief models that go with it: for drawn and for greedy play."""
        return tuple(belief_name(name, greedy=greedy) for greedy in (False, True))


class BeliefWeights(HanabiWeights):
    """Of what is in one's hand: ``seen.I``, ``lstm.I``, and of the LSTM over its cards what it is
    ``told`` of the table, of the card ``before``, and by its ``past``; ``card`` is what it says."""

    agent: ClassVar[str] = "kedge.agents.hanabi.specs:no_moves"


def belief_name(name: str, *, greedy: bool) -> str:
    """Name of the belief model for the blueprint `name`, for drawn or for greedy play."""
    return f"{name}-belief-greedy" if greedy else f"{name}-belief"


W = TypeVar("W", PolicyWeights, BeliefWeights)
_NETWORKS = {PolicyWeights: "hanabi-policy", BeliefWeights: "hanabi-belief"}


#: The odds of a card that cannot be: that two in a hand cannot go together is not told.
NEVER = 1e-6


def odds_by_hints(game: Hanabi, seen: Any) -> Any:
    """(…, slots, cards): what one's own cards may be, by what the end of private rows says of hints
    and of the cards left; of arrays or of tensors."""
    cards = game.colors * game.ranks
    width = cards + game.colors + game.ranks
    known = seen[..., seen.shape[-1] - game.num_players * game.hand_size * width :]
    each = known.reshape(*seen.shape[:-1], game.num_players, game.hand_size, width)
    return each[..., 0, :, :cards]


# --- Files --------------------------------------------------------------------------------------


def to_shipped_onnx(weights: PolicyWeights | BeliefWeights) -> onnx.ModelProto:
    """The file: what looks at the table, and every other weight beside it."""
    graph = _Graph(weights)
    graph.observe()
    graph.add_unused()
    value = weights.value if isinstance(weights, PolicyWeights) else None
    rules = json.dumps(weights.game.parameters)
    told = {"game": "hanabi", "network": _NETWORKS[type(weights)], "rules": rules}
    if value is not None:
        graph.constant("value.weight", value.weight[np.newaxis])
        graph.constant("value.bias", np.array([value.bias], np.float32))
        told |= {"value_bomb": value.bomb, "value_play": "greedy" if value.greedy else "drawn"}
    return in_bytes(graph.made(told["network"], told))


def parse_policy(model: onnx.ModelProto, digest: str) -> PolicyWeights:
    """Back from what `to_shipped_onnx` made; `KeyError` or `ValueError` where parts are missing."""
    weights = _parsed(PolicyWeights, model, digest)
    to_policy_onnx(weights)
    if "value.weight" not in weights.arrays:
        return weights
    arrays, told = dict(weights.arrays), told_by(model)
    row, bias = arrays.pop("value.weight"), arrays.pop("value.bias")
    if row.shape != (1, weights.width) or bias.shape != (1,):
        raise ValueError("a value is one row")
    bomb = next(known for known in BOMBS if known == told["value_bomb"])
    value = PolicyValue(row[0], float(bias[0]), bomb, told["value_play"] == "greedy")
    return replace(weights, arrays=arrays, value=value)


def parse_belief(model: onnx.ModelProto, digest: str) -> BeliefWeights:
    """The same of a belief."""
    weights = _parsed(BeliefWeights, model, digest)
    to_card_onnx(weights)
    return weights


def _parsed(kind: type[W], model: onnx.ModelProto, digest: str) -> W:
    try:
        # What a bomb is worth changes no view and no move.
        game = Hanabi(**{**json.loads(told_by(model)["rules"]), "bomb": "zero"})
    except (InputError, TypeError) as error:
        raise ValueError(str(error)) from None
    weights = kind(weight_arrays(model.graph), game, digest)
    to_observe_onnx(weights)
    return weights


# --- Graphs -------------------------------------------------------------------------------------


def to_observe_onnx(weights: PolicyWeights | BeliefWeights) -> onnx.ModelProto:
    """From one turn to the next: what is ``seen`` (n, features), and the LSTM's ``hidden`` and
    ``cell`` (n, layers, width) before and, with ``.next``, after it."""
    graph = _Graph(weights)
    graph.observe()
    return graph.made("hanabi-observe")


def to_policy_onnx(weights: PolicyWeights) -> onnx.ModelProto:
    """What is ``seen`` (n, features) and what the LSTM's last layer ``says`` (n, width) in, the
    ``logits`` (n, actions) out, and the ``product`` (n, width) that they are of."""
    graph = _Graph(weights)
    graph.policy()
    return graph.made("hanabi-policy")


def to_card_onnx(weights: BeliefWeights) -> onnx.ModelProto:
    """From one card to the next: what the LSTM's last layer ``says`` (g, width) of g tables, the
    card ``before`` (g, m), its number or that of cards there are, and the state ``hidden`` and
    ``cell`` (g, m, width) of the LSTM over cards; the ``logits`` (g, m, cards), to be added to
    those of `odds_by_hints`, and its next state out."""
    graph = _Graph(weights)
    graph.card()
    return graph.made("hanabi-card")


class _Graph(WeightGraph):
    def __init__(self, weights: PolicyWeights | BeliefWeights) -> None:
        super().__init__(weights.arrays)
        self._weights = weights
        self._public = isinstance(weights, PolicyWeights)

    def observe(self) -> None:
        width, layers = self._weights.width, self._weights.layers
        features = self._weights.game.num_features("public" if self._public else "private")
        x = self.input("seen", ["n", features])
        for name in ["public"] if self._public else ["seen.0", "seen.1"]:
            x = self._relu(name, x)
        state = [self.input(name, ["n", layers, width]) for name in ("hidden", "cell")]
        said: list[str] = []
        cells: list[str] = []
        for i in range(layers):
            number = self.numbers(f"layer.{i}", i)
            h, c = (self.add("Gather", [name, number], f"{name}.{i}", axis=1) for name in state)
            x, c = self.lstm(f"lstm.{i}", x, h, c)
            said.append(x)
            cells.append(c)
        for name, parts in (("hidden.next", said), ("cell.next", cells)):
            middle = self.numbers(f"{name}.middle", [1])
            apart = [self.add("Unsqueeze", [one, middle], f"{one}.apart") for one in parts]
            self.add("Concat", apart, name, axis=1)
            self.output(name, ["n", layers, width])

    def policy(self) -> None:
        game, width = self._weights.game, self._weights.width
        x = self.input("seen", ["n", game.num_features("private")])
        for i in range(3):
            x = self._relu(f"private.{i}", x)
        x = self.add("Mul", [x, self.input("says", ["n", width])], "product")
        self.add("Identity", [self.dense("action", x)], "logits")
        self.output("logits", ["n", len(game.moves)])
        self.output("product", ["n", width])

    def card(self) -> None:
        width, cards = self._weights.width, self._weights.game.colors * self._weights.game.ranks
        told = self.dense("told", self.input("says", ["g", width]))
        told = self.add("Unsqueeze", [told, self.numbers("middle", [1])], "table")
        before = self.input("before", ["g", "m"], TensorProto.INT64)
        before = self.add("Gather", [self.weight("before.weight"), before], "card.before", axis=0)
        hidden, cell = (self.input(name, ["g", "m", width]) for name in ("hidden", "cell"))
        past = self.dense("past", hidden, bias=False)
        gates = self.add("Add", [self.add("Add", [past, before], "known"), told], "gates")
        x, cell = self.gated("hand", gates, cell)
        for name, part in (("hidden.next", x), ("cell.next", cell)):
            self.add("Identity", [part], name)
            self.output(name, ["g", "m", width])
        self.add("Identity", [self.dense("card", x)], "logits")
        self.output("logits", ["g", "m", cards])

    def _relu(self, name: str, x: str) -> str:
        return self.add("Relu", [self.dense(name, x)], f"{name}.positive")

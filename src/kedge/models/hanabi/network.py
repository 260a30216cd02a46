"""The weights of Hanabi's networks, and their ONNX graphs.

`kedge.models.hanabi.torch_network` has the same in torch.

The policy is a Public-LSTM: an LSTM reads the public views, three layers read the mover's private
view, and the product of both predicts the move. The belief is an LSTM over one seat's views and a
second LSTM over the cards in its hand, the oldest first; the second corrects the odds given by
hints and counts.

A model's file holds all weights, packed in bytes, and a graph that observes the table, for other
programs. kedge takes only the weights from it, and builds the graphs that it runs from them.
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
from kedge.models.onnx_file import OnnxFile
from kedge.models.onnx_graph import WeightGraph, in_bytes

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class HanabiWeights:
    """A network's arrays by name, each ``.weight`` with its outputs first, and its game."""

    arrays: Mapping[str, Array]
    game: Hanabi
    sha256: str  # of the file
    training: Mapping[str, Any] = field(default_factory=dict)

    game_name: ClassVar[str] = "hanabi"
    kind: ClassVar[str]
    described: ClassVar[str]

    def companions(self, name: str) -> tuple[str, ...]:
        """Models that may belong to the model `name`."""
        return ()

    @property
    def width(self) -> int:
        return int(self.arrays["lstm.0.hidden.weight"].shape[1])

    @property
    def layers(self) -> int:
        """Layers of the LSTM over the turns."""
        return sum(name.startswith("lstm.") and "hidden" in name for name in self.arrays)

    @property
    def parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())

    def architecture(self) -> dict[str, Any]:
        """The shape as JSON data."""
        shape = {"width": self.width, "layers": self.layers, "parameters": self.parameters}
        return {"game": str(self.game), **shape}


@dataclass(frozen=True)
class PolicyValue:
    """Predicts final scores: one more output row beside those of the moves.

    It holds for one bomb rule and for either drawn or greedy play.
    """

    weight: Array  # (width,)
    bias: float
    bomb: Bomb
    greedy: bool

    def of(self, product: Array) -> npt.NDArray[np.float64]:
        """The values for `product` (n, width), from the LSTM and the private layers."""
        return np.asarray(product @ self.weight + self.bias, np.float64)


@dataclass(frozen=True)
class PolicyWeights(HanabiWeights):
    """Weights of a policy: ``public``, ``lstm.I``, ``private.I`` and ``action``."""

    value: PolicyValue | None = None
    """The fitted value, in files ``value``, or None."""

    kind: ClassVar[str] = "hanabi-policy"
    described: ClassVar[str] = "a model that plays Hanabi"

    def companions(self, name: str) -> tuple[str, ...]:
        """The belief models that go with it: for drawn and for greedy play."""
        return tuple(belief_name(name, greedy=greedy) for greedy in (False, True))


class BeliefWeights(HanabiWeights):
    """Weights of a belief: ``seen.I`` and ``lstm.I`` for the views; and for the LSTM over the cards
    its inputs ``told`` (table), ``before`` (previous card) and ``past`` (its own state), and its
    output ``card``."""

    kind: ClassVar[str] = "hanabi-belief"
    described: ClassVar[str] = "a belief model of Hanabi"


def belief_name(name: str, *, greedy: bool) -> str:
    """Name of the belief model for the blueprint `name`, for drawn or for greedy play."""
    return f"{name}-belief-greedy" if greedy else f"{name}-belief"


W = TypeVar("W", PolicyWeights, BeliefWeights)


#: Odds of an impossible card. (Cards that are impossible only together are not excluded.)
NEVER = 1e-6


def odds_by_hints(game: Hanabi, seen: Any) -> Any:
    """Odds of one's own cards, (…, slots, cards), by hints and cards left, as given at the end of
    private rows; for arrays or tensors."""
    cards = game.colors * game.ranks
    width = cards + game.colors + game.ranks
    known = seen[..., seen.shape[-1] - game.num_players * game.hand_size * width :]
    each = known.reshape(*seen.shape[:-1], game.num_players, game.hand_size, width)
    return each[..., 0, :, :cards]


# --- Files --------------------------------------------------------------------------------------


def to_shipped_onnx(weights: PolicyWeights | BeliefWeights) -> onnx.ModelProto:
    """The model file: the graph that observes the table, with all other weights."""
    graph = _Graph(weights)
    graph.observe()
    graph.add_unused()
    value = weights.value if isinstance(weights, PolicyWeights) else None
    rules = json.dumps(weights.game.parameters)
    metadata = {"game": "hanabi", "network": weights.kind, "rules": rules}
    if value is not None:
        graph.constant("value.weight", value.weight[np.newaxis])
        graph.constant("value.bias", np.array([value.bias], np.float32))
        metadata |= {"value_bomb": value.bomb, "value_play": "greedy" if value.greedy else "drawn"}
    return in_bytes(graph.made(weights.kind, metadata))


def parse_policy(file: OnnxFile) -> PolicyWeights:
    """Read a policy from `to_shipped_onnx`; `KeyError` or `ValueError` if parts are missing."""
    weights = _parsed(PolicyWeights, file)
    if "value.weight" not in weights.arrays:
        return weights
    arrays, metadata = dict(weights.arrays), file.metadata
    row, bias = arrays.pop("value.weight"), arrays.pop("value.bias")
    if row.shape != (1, weights.width) or bias.shape != (1,):
        raise ValueError("a value must be one row")
    bomb = next(known for known in BOMBS if known == metadata["value_bomb"])
    value = PolicyValue(row[0], float(bias[0]), bomb, metadata["value_play"] == "greedy")
    return replace(weights, arrays=arrays, value=value)


def parse_belief(file: OnnxFile) -> BeliefWeights:
    """Read a belief from `to_shipped_onnx`; `KeyError` or `ValueError` if parts are missing."""
    return _parsed(BeliefWeights, file)


def _parsed(kind: type[W], file: OnnxFile) -> W:
    try:
        # The bomb rule changes no view and no move.
        game = Hanabi(**{**json.loads(file.metadata["rules"]), "bomb": "zero"})
    except (InputError, TypeError) as error:
        raise ValueError(str(error)) from None
    weights = kind(file.weights(), game, file.sha256)
    if any(weights.arrays[name].shape != shape for name, shape in _shapes(weights).items()):
        raise ValueError("not the shapes of its kind of network")
    return weights


def _shapes(weights: PolicyWeights | BeliefWeights) -> dict[str, tuple[int, ...]]:
    """The shapes that the game and the width give a network's arrays, by name."""
    game, width, gates = weights.game, weights.width, 4 * weights.width
    cards, private = game.colors * game.ranks, game.num_features("private")
    dense = {f"lstm.{i}.input": (gates, width) for i in range(weights.layers)}
    unbiased = {f"lstm.{i}.hidden": (gates, width) for i in range(weights.layers)}
    if isinstance(weights, PolicyWeights):
        dense |= {"public": (width, game.num_features("public")), "private.0": (width, private)}
        dense |= {"private.1": (width, width), "private.2": (width, width)}
        dense |= {"action": (len(game.moves), width)}
    else:
        dense |= {"seen.0": (width, private), "seen.1": (width, width)}
        dense |= {"told": (gates, width), "card": (cards, width)}
        unbiased |= {"before": (cards + 1, gates), "past": (gates, width)}
    return {
        **{f"{name}.weight": shape for name, shape in (dense | unbiased).items()},
        **{f"{name}.bias": shape[:1] for name, shape in dense.items()},
    }


# --- Graphs -------------------------------------------------------------------------------------


def to_observe_onnx(weights: PolicyWeights | BeliefWeights) -> onnx.ModelProto:
    """The graph of one turn.

    Its inputs are the views ``seen`` (n, features) and the LSTM's ``hidden`` and ``cell``
    (n, layers, width); its outputs are ``hidden.next`` and ``cell.next``.
    """
    graph = _Graph(weights)
    graph.observe()
    return graph.made("hanabi-observe")


def to_policy_onnx(weights: PolicyWeights) -> onnx.ModelProto:
    """The graph of a policy.

    Its inputs are the private views ``seen`` (n, features) and the output ``says`` (n, width) of
    the LSTM's last layer; its outputs are the ``logits`` (n, actions) and the ``product``
    (n, width) from which they are computed.
    """
    graph = _Graph(weights)
    graph.policy()
    return graph.made("hanabi-policy")


def to_card_onnx(weights: BeliefWeights) -> onnx.ModelProto:
    """The graph that advances by one card of a hand.

    Its inputs are the output ``says`` (g, width) of the LSTM's last layer for g tables, the card
    ``before`` (g, m), or the number of cards for the first, and the state ``hidden`` and ``cell``
    (g, m, width) of the LSTM over cards. Its outputs are the ``logits`` (g, m, cards), to be added
    to those of `odds_by_hints`, and the next state.
    """
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
        self.stacked_lstm(x, layers, ["n", layers, width], axis=1)

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
        table = self.dense("told", self.input("says", ["g", width]))
        table = self.add("Unsqueeze", [table, self.numbers("middle", [1])], "table")
        before = self.input("before", ["g", "m"], TensorProto.INT64)
        before = self.add("Gather", [self.weight("before.weight"), before], "card.before", axis=0)
        hidden, cell = (self.input(name, ["g", "m", width]) for name in ("hidden", "cell"))
        past = self.dense("past", hidden, bias=False)
        gates = self.add("Add", [self.add("Add", [past, before], "known"), table], "gates")
        x, cell = self.gated("hand", gates, cell)
        for name, part in (("hidden.next", x), ("cell.next", cell)):
            self.add("Identity", [part], name)
            self.output(name, ["g", "m", width])
        self.add("Identity", [self.dense("card", x)], "logits")
        self.output("logits", ["g", "m", cards])

    def _relu(self, name: str, x: str) -> str:
        return self.add("Relu", [self.dense(name, x)], f"{name}.positive")

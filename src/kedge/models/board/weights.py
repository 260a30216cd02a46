"""The weights of a network, in the form from which every graph and backend is built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from kedge import catalogue
from kedge.errors import InputError
from kedge.models.board.encoding import Encoding, encodings
from kedge.models.onnx_file import OnnxFile

Array = npt.NDArray[np.float32]
PolicyKind = Literal["classical", "convolution", "points"]
ValueKind = Literal["classical", "wdl"]


@dataclass(frozen=True)
class Weights:
    """A squeeze-and-excitation network of lc0 or kedge: its arrays by name, and its shape.

    ``arrays`` has ``input``, ``blocks.I.conv1``, ``blocks.I.conv2``, ``blocks.I.se.fc1``,
    ``blocks.I.se.fc2``, ``policy.conv1``, ``policy.conv2`` (or ``policy.conv``, ``policy.fc``),
    ``value.conv``, ``value.fc1``, ``value.fc2``, each with ``.weight`` (outputs first) and
    ``.bias``; and ``who.weight`` and ``blocks.I.who.weight`` if it takes the players as input (see
    `kedge.models.board.conditioning`).

    A ``points`` policy has two planes: one of the points to play on, and one whose mean is the
    pass. Its value head reads the means of its planes, so no weight depends on the board size.
    """

    arrays: Mapping[str, Array]
    filters: int
    blocks: int
    se_channels: int  # 0: no squeeze-and-excitation
    policy: PolicyKind
    value: ValueKind
    sha256: str  # of the file
    training: Mapping[str, Any]  # what the trainer wrote: steps, accuracy, policy_loss, …
    encoding: Encoding
    name: str = field(default="weights", compare=False)
    """The model's name, for errors."""
    tower_layers: dict[str, tuple[Array, Array, Any]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Convolutions as a `TowerNetwork` computes them, by name, with the arrays that they are made
    from. `dataclasses.replace` shares them, so networks for other players need not repeat them."""

    kind: ClassVar[str] = "board"
    described: ClassVar[str] = "a model of a board game"

    def companions(self, name: str) -> tuple[str, ...]:
        """No other model belongs to the model `name`."""
        return ()

    @property
    def game_name(self) -> str:
        return self.encoding.game

    @cached_property
    def player_options(self) -> tuple[str, ...]:
        """Names of what the network takes as input about the players; mostly nothing."""
        inputs = self.encoding.players
        takes_some = "who.weight" in self.arrays or self.player_planes > 0
        return inputs.options if inputs is not None and takes_some else ()

    @property
    def player_planes(self) -> int:
        """Number of constant planes after the position's: see `Encoding.players_as_planes`."""
        planes: int = self.arrays["input.weight"].shape[1]
        return planes - self.encoding.planes

    @property
    def se_ratio(self) -> int | None:
        return self.filters // self.se_channels if self.se_channels else None

    @property
    def gather(self) -> npt.NDArray[np.int64]:
        """Place of each move in the planes of a convolutional policy head."""
        if self.encoding.gather is None:
            raise InputError(f"{self.encoding.game} has no convolutional policy head")
        return self.encoding.gather

    @property
    def pools_value(self) -> bool:
        """Whether the value head reads the means of its planes instead of all points."""
        inputs: int = self.arrays["value.fc1.weight"].shape[1]
        return inputs == len(self.arrays["value.conv.bias"])

    def on(self, side: int) -> "Weights":
        """The same network on another board; `InputError` if weights depend on the size."""
        was = self.encoding.side
        if side != was and not (self.policy == "points" and self.pools_value):
            raise InputError(f"the model plays on {was}×{was}, not on {side}×{side}")
        return replace(self, encoding=self.encoding.on(side))

    @property
    def area(self) -> int:
        """Points of the board."""
        return self.encoding.side**2

    @property
    def parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())

    def architecture(self) -> dict[str, Any]:
        """The shape as JSON data."""
        return {
            "filters": self.filters,
            "blocks": self.blocks,
            "se_ratio": self.se_ratio,
            "policy": self.policy,
            "value": self.value,
            "parameters": self.parameters,
        }


def make_weights(arrays: Mapping[str, Any], source: str, encoding: Encoding) -> Weights:
    """Build `Weights` from arrays by name; `source` stands for the file's digest."""
    dense = {}
    for key, array in arrays.items():
        # Graphs store squeeze-and-excitation in halves: see `network.to_onnx`.
        block, _, part = key.partition(".se.")
        if part.startswith("fc1.0."):
            dense[f"{block}.se.fc1.{part.removeprefix('fc1.0.')}"] = _flat(array)
        elif part.startswith("fc2.0."):
            rest = part.removeprefix("fc2.0.")
            filters = len(arrays["input.bias"])
            bias_half = arrays[f"{block}.se.fc2.{filters}.{rest}"]
            dense[f"{block}.se.fc2.{rest}"] = np.concatenate([_flat(array), _flat(bias_half)])
        elif ".who." in f".{key}":
            head, _, rest = key.rpartition("who.")
            if rest == "0.weight":  # the other half, if there is one, is of the block's bias
                filters = len(arrays["input.bias"])
                halves = [array, *([arrays[f"{head}who.{filters}.weight"]] if head else [])]
                dense[f"{head}who.weight"] = np.concatenate(halves)
            elif rest == "weight":
                dense[key] = array
        elif not part or part.startswith(("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")):
            dense[key] = array
    if dense["input.weight"].shape[1] > encoding.planes:
        encoding = replace(encoding, players=encoding.players_as_planes)
    filters = len(dense["input.bias"])
    blocks = sum(key.endswith("conv1.bias") and key.startswith("blocks.") for key in dense)
    policy: PolicyKind = "points" if encoding.has_pass else "convolution"
    return Weights(
        arrays=dense,
        filters=filters,
        blocks=blocks,
        se_channels=len(dense["blocks.0.se.fc1.bias"]),
        policy="classical" if "policy.fc.bias" in dense else policy,
        value="wdl" if len(dense["value.fc2.bias"]) == 3 else "classical",
        sha256=source,
        training={},
        encoding=encoding,
    )


def weights_of(file: OnnxFile) -> Weights:
    """Read a model from `network.to_onnx` or `network.to_shipped_onnx`.

    Some files, among them the shipped ones, do not name their game: the shape of their planes
    tells it. Planes that were added to the game's encoding since get weights of 0.
    """
    (planes, side, _), game = file.inputs["planes"][1:], file.metadata.get("game")
    known = encodings() if game is None else [catalogue.find(game, "encoding").load("encoding")]
    encoding = next(
        encoding
        for encoding in known
        if encoding.side == side and planes in (encoding.planes, encoding.first_planes)
    )
    arrays = file.weights()
    added = encoding.planes - planes
    if added:
        kernels = arrays["input.weight"]
        arrays["input.weight"] = np.pad(kernels, ((0, 0), (0, added), (0, 0), (0, 0)))
    return make_weights(arrays, file.sha256, encoding)


def mean_of(networks: Sequence[Weights]) -> Weights:
    """Average the weights of networks of one game and shape; `InputError` for others.

    If one network was trained from the other, the mean is often better than either (Wortsman et
    al. 2022). The mean of unrelated networks is useless.
    """
    first, *others = networks
    shapes = {name: array.shape for name, array in first.arrays.items()}
    for other in others:
        theirs = {name: array.shape for name, array in other.arrays.items()}
        if theirs != shapes or other.encoding != first.encoding:
            raise InputError("cannot average networks of different games or shapes")
    arrays = {
        name: np.asarray(sum(part.arrays[name] for part in networks) / len(networks), np.float32)
        for name in shapes
    }
    return replace(first, arrays=arrays, sha256="mean", training={})


def _flat(array: Any) -> Any:
    return array[:, :, 0, 0] if array.ndim == 4 else array

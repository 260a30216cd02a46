"""The settings that every training has."""

import math
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, get_args

from kedge.errors import InputError

Optimizer = Literal["adamw", "muon", "sgd"]
Schedule = Literal["cosine", "steps", "trapezoid", "clock"]

_MOST = 2**31 - 1
# Bounds under which the weights can be counted; `make_checked` then checks the whole network.
_WIDE, _DEEP = ("width", "filters", "hidden", "heads", "se_ratio"), ("blocks", "layers", "later")
_MOST_OF = {**dict.fromkeys(_WIDE, 2**16), **dict.fromkeys(_DEEP, 1000)}


@dataclass(frozen=True)
class Recipe:
    """Training settings, all stored with the model. Games add their own."""

    steps: int = 20_000
    batch: int = 4096
    optimizer: Optimizer = "adamw"
    """Muon updates the matrices of the tower, at AdamW's scale, and AdamW the rest. SGD uses
    Nesterov's momentum, 0.9."""
    learning_rate: float = 2e-3
    warmup: int = 500
    schedule: Schedule = "cosine"
    """Learning rate after the warmup. `cosine` falls in half a cosine; `steps` falls to a tenth
    after every quarter of the steps; `trapezoid` stays level and falls linearly at the end, so that
    a run can be prolonged; `clock` does the same by time, so that rented time is used to its
    end."""
    decay: float = 0.25
    """Share of the steps, or of the time, in which `trapezoid` and `clock` fall."""
    weight_decay: float = 0.05
    average: float = 0.999
    """Decay of the running mean of the weights, which is the network that is kept."""
    rounded: bool = False
    """Compute with weights rounded to bytes, as they ship, and train the unrounded weights. A last
    stage then loses little accuracy when it is packed."""
    seed: int = 0

    #: Fields that define the shape of the network that is played.
    shape: ClassVar[tuple[str, ...]] = ()
    #: Fields that define the optimizers and the weights used only in training.
    moved: ClassVar[tuple[str, ...]] = ("optimizer",)

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_counts("steps", "batch", "warmup")
        self._check_shares("average", "decay")
        kinds = {"optimizer": get_args(Optimizer), "schedule": get_args(Schedule)}
        for name, known in kinds.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name}: one of {', '.join(known)}, not {getattr(self, name)}")
        if not self.learning_rate > 0.0:
            raise InputError(f"learning_rate: above 0, not {self.learning_rate:g}")

    def check_shape(self, before: object) -> None:
        """Raise `InputError` if the weights of the initial model have another shape."""
        theirs, ours = (
            " and ".join(f"{name}={getattr(each, name)}" for name in self.shape)
            for each in (before, self)
        )
        if theirs != ours:
            raise InputError(f"the initial model has {theirs}, the recipe {ours}")

    def _check_counts(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) < 1:
                raise InputError(f"{name}: at least 1, not {getattr(self, name)}")

    def _check_numbers(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not 0.0 <= value < math.inf:
                raise InputError(f"{field.name}: a finite number from 0, not {value:g}")
            most = _MOST_OF.get(field.name, _MOST)
            if isinstance(value, int) and not 0 <= value <= most:
                raise InputError(f"{field.name}: a whole number from 0 to {most}, not {value}")

    def _check_shares(self, *names: str) -> None:
        for name in names:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}: from 0 to 1, not {getattr(self, name):g}")

"""The stops of a game's dial, from the anchor to the strongest search over it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, TypeAlias

from kedge.specs import Spec

#: Least and greatest value of the settings that games share. A setting with whole limits is a whole
#: number.
LIMITS: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 100.0),
    "c_puct": (1e-6, 1e6),
    "lambda": (1e-9, 1e9),
    "playouts": (1, 1_000_000),
    "rollouts": (1, 1_000_000),
    "iterations": (1, 1_000_000),
}
_ANY = (-float("inf"), float("inf"))
#: The value of a setting: a number, or a word such as a rank.
Value: TypeAlias = float | str


@dataclass(frozen=True)
class People:
    """The setting that says which people the anchor imitates, such as a rating or a rank."""

    name: str
    """Name of the setting, and of the model's input."""
    label: str
    """Words before the value, for users: "Like people rated"."""
    choices: tuple[Value, ...]
    """Values on offer, the weakest people first."""
    usual: Value | None = None
    """Value of the stops; None if their anchor imitates nobody in particular."""
    model: str | None = None
    """Model that takes the setting; None for the dial's own anchor."""
    anyone: str = ""
    """The people that the dial's own anchor imitates, in words, if `usual` is None."""
    hint: str = ""
    """A note for users about values other than `usual`."""


@dataclass(frozen=True)
class Stop:
    """A stop as its file describes it."""

    x: float
    """Place on the dial, from 0 to 1."""
    settings: Mapping[str, Value]
    likeness: Mapping[str, Any] | None
    strength: Mapping[str, Any] | None


@dataclass(frozen=True)
class Ladder:
    """The agents of a game's dial: the anchor, and searches over it."""

    anchor: str
    search: str
    number: str
    """Setting of the search that the dial turns. The smaller, the farther from the anchor."""
    cards: Traversable
    """JSON file of the stops, with what was measured at each."""
    people: People | None = None
    """The setting that says which people the anchor imitates. The anchor keeps it in a search."""
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Least and greatest value of each setting that only this game has; see `LIMITS`."""
    checks: Mapping[str, Callable[[str, Value], object]] = field(default_factory=dict)
    """Check of each setting that the model restricts, in place of limits: it takes the name and
    the value, and raises `InputError`."""

    def limits_of(self, setting: str) -> tuple[float, float]:
        """Return the least and the greatest value of a setting."""
        return {**LIMITS, **self.limits}.get(setting, _ANY)

    @cached_property
    def stops(self) -> list[Stop]:
        """The stops, from 0 to 1."""
        return [Stop(**stop) for stop in json.loads(self.cards.read_text(encoding="utf-8"))]

    def anchor_of(self, settings: Mapping[str, Value]) -> str:
        """Return the anchor with these settings: another model if the people need one."""
        people = self.people
        if people is None or people.model is None or people.name not in settings:
            return self.anchor
        return people.model

    def agent(self, settings: Mapping[str, Value]) -> Spec:
        """Return the agent with these settings; without `number` among them it does not search."""
        people, anchor = self.people, self.anchor_of(settings)
        model: dict[str, Value] = {}
        if people is not None and people.name in settings:
            model = {people.name: settings[people.name]}
        if self.number not in settings:
            return Spec(anchor, (), {**model, **settings})
        search = {name: value for name, value in settings.items() if name not in model}
        return Spec(self.search, (Spec(anchor, (), model),), search)

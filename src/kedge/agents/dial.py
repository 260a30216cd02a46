"""The dial: one number from "like a person" to "as strong as it gets", and what was measured there.

At 0 the human model plays alone; at 1 the search that the paper found strongest. Each game's
`Ladder` has the stops between them, with how well they predict people and how well they play;
``docs/make_dial.py`` measures them.

>>> from kedge.agents.dial import dial
>>> dial("chess", 1).spec
'puct(chess(elo=1500), c_puct=0.5, playouts=50, temperature=1)'
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kedge import catalogue
from kedge.agents.ladder import Ladder, People, Stop, Value
from kedge.errors import InputError
from kedge.regularize import Array
from kedge.specs import Spec

SNAP = 0.02  #: Within this distance of a stop, the dial snaps to it.


@dataclass(frozen=True)
class Measured:
    """A measured figure and its source."""

    metric: str
    """Name of the figure, for users."""
    is_share: bool
    """Whether it is a share, shown as a percentage."""
    value: float
    error: float
    """One standard error; 0 if the figure is computed, not sampled."""
    sample: int
    """Sample size, in units of `counted`."""
    counted: str
    """Unit of the sample, such as games."""
    command: str
    """Command that prints the figure."""
    x: float
    """Stop at which it was measured."""
    is_exact: bool
    """Whether it was measured at this very setting; if not, at the nearest stop."""

    def __str__(self) -> str:
        return (
            f"{self.metric}: {self.value:.3g} ± {self.error:.2g} "
            f"({self.sample:,} {self.counted}{'' if self.is_exact else ', at the nearest stop'})"
        )


@dataclass(frozen=True)
class Dial:
    """The agent at one place of the dial."""

    game: str
    x: float
    """Place on the dial, from 0 to 1."""
    agent: Spec
    settings: Mapping[str, Value]
    """Numbers and words of the spec, by name."""
    likeness: tuple[Measured, ...]
    """How well it predicts people, at the stop or at the stops on both sides; empty if not
    measured with its anchor."""
    strength: tuple[Measured, ...]
    """How well it plays, at the same stops."""

    @property
    def people(self) -> Value | None:
        """The rating or the rank of the people whom the anchor imitates, if it takes one."""
        people = people_of(self.game)
        return None if people is None else self.settings.get(people.name)

    @property
    def spec(self) -> str:
        """The agent's spec as text."""
        return str(self.agent)

    def to_json(self) -> dict[str, Any]:
        """Return the agent and its measurements as JSON."""
        return {
            "game": self.game,
            "x": self.x,
            "spec": self.spec,
            "settings": dict(self.settings),
            "likeness": [asdict(figure) for figure in self.likeness],
            "strength": [asdict(figure) for figure in self.strength],
        }

    def __str__(self) -> str:
        lines = [self.spec]
        for kind, figures in (("likeness", self.likeness), ("strength", self.strength)):
            lines += [f"{kind}: {figure}" for figure in figures or ["not measured"]]
        return "\n".join(lines)


def dial(game: str, x: float, **settings: Value) -> Dial:
    """Return the agent of `game` at `x`, from 0 (like a person) to 1 (as strong as it gets).

    Between stops, c_puct or λ is interpolated geometrically. Within `SNAP` of a stop, the dial
    takes the stop's.

    Parameters
    ----------
    settings
        Values that replace the dial's own: ``elo=1800``, ``playouts=200``, in Go ``rank="3d"``.
        Settings of the search have no effect at 0, where there is no search. A given c_puct or λ
        (``lam``) moves `x` to the place that has this number.
    """
    ladder = _ladder(game)
    every, number = ladder.stops, ladder.number
    if isinstance(x, bool) or not isinstance(x, int | float) or not 0.0 <= x <= 1.0:
        raise InputError(f"x: a number from 0 (like a person) to 1 (strong), not {x}")
    given = _checked(game, settings)
    if number in given:
        x = _place(every, number, float(given[number]))
    else:
        x = _snapped(every, float(x))
    used, people = _settings(every, number, x), ladder.people
    words = () if people is None else (people.name,)
    used |= {name: value for name, value in given.items() if name in used or name in words}
    anchor = ladder.anchor_of(used)
    measured = [stop for stop in every if ladder.anchor_of(stop.settings) == anchor]
    return Dial(
        game,
        x,
        ladder.agent(used),
        used,
        *(
            tuple(
                Measured(**getattr(stop, kind), x=stop.x, is_exact=stop.settings == used)
                for stop in _nearest(measured, x, kind)
            )
            for kind in ("likeness", "strength")
        ),
    )


def stops(game: str) -> list[Dial]:
    """Return the measured stops of the dial, from 0 to 1."""
    return [dial(game, stop.x) for stop in _ladder(game).stops]


def strongest(game: str) -> Dial:
    """Return the stop with the best measured strength; if none was measured, the last stop.

    >>> strongest("diplomacy").spec
    'pikl-hedge(diplomacy, lambda=0.01, iterations=512)'
    """
    dials = stops(game)
    measured = [stop for stop in dials if stop.strength and stop.strength[0].is_exact]
    return max(measured, key=lambda stop: stop.strength[0].value, default=dials[-1])


def people_of(game: str) -> People | None:
    """Return the setting that says which people `game`'s anchor imitates; None without one."""
    return _ladder(game).people


def spec_of(game: str, settings: Mapping[str, Value]) -> str:
    """Return the spec of `game`'s agent with these settings; without c_puct or λ, no search."""
    return str(_ladder(game).agent(settings))


def _ladder(game: str) -> Ladder:
    ladder: Ladder = catalogue.find(game, "dial").load("dial")
    return ladder


def _checked(game: str, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings by their names in specs; raise an `InputError` if one is invalid."""
    checked = {"lambda" if name == "lam" else name: value for name, value in settings.items()}
    ladder = _ladder(game)
    people = ladder.people
    known = list(dict.fromkeys(name for stop in ladder.stops for name in stop.settings))
    if people is not None and people.name not in known:
        known.append(people.name)
    for name, value in checked.items():
        if name not in known:
            raise InputError(f"the dial of {game} has no {name!r}; it takes {', '.join(known)}")
        if people is not None and name == people.name and isinstance(people.choices[0], str):
            if value not in people.choices:
                words = ", ".join(map(str, people.choices))
                raise InputError(f"{name}: one of {words}, not {value!r}")
            continue
        if name in ladder.checks:
            ladder.checks[name](name, value)
            continue
        least, most = ladder.limits_of(name)
        kind = int if isinstance(least, int) else int | float
        if (
            isinstance(value, bool | str)
            or not isinstance(value, kind)
            or not (least <= value <= most)
        ):
            what = "a whole number" if kind is int else "a number"
            raise InputError(f"{name}: {what} from {least:,g} to {most:,g}, not {value}")
    return checked


def _snapped(stops: Sequence[Stop], x: float) -> float:
    nearest = min((stop.x for stop in stops), key=lambda at: abs(at - x))
    return nearest if round(abs(nearest - x), 9) <= SNAP else x


def _nearest(stops: Sequence[Stop], x: float, kind: str) -> list[Stop]:
    """Return the stop at `x` if it was measured, else the nearest measured stops on both sides."""
    measured = [stop for stop in stops if getattr(stop, kind) is not None]
    below = [stop for stop in measured if stop.x <= x][-1:]
    if below and below[0].x == x:
        return below
    return below + [stop for stop in measured if stop.x > x][:1]


def _numbers(stops: Sequence[Stop], number: str) -> tuple[list[float], Array]:
    """Return the places of the searches, and the logarithms of their numbers."""
    searches = stops[1:]
    numbers = [float(stop.settings[number]) for stop in searches]
    return [stop.x for stop in searches], np.log(numbers)


def _settings(stops: Sequence[Stop], number: str, x: float) -> dict[str, Value]:
    """Return the settings at `x`; between stops, the next stop's with `number` interpolated."""
    above = next(stop for stop in stops if stop.x >= x)
    if above.x == x:
        return dict(above.settings)
    places, logs = _numbers(stops, number)
    # The anchor is the limit of an infinite number, so below the first search it grows as 1 / x.
    value = np.exp(np.interp(x, places, logs)) * max(1.0, places[0] / x)
    return {**above.settings, number: float(f"{value:.3g}")}


def _place(stops: Sequence[Stop], number: str, value: float) -> float:
    """Return the place of the dial that has this number."""
    places, logs = _numbers(stops, number)
    beyond = max(1.0, value / float(stops[1].settings[number]))
    return float(np.interp(-np.log(value), -logs, places)) / beyond

"""The dial: one number from "like a person" to "as strong as it gets", and what was measured there.

At 0 the human model plays by itself; at 1 the search that the paper found strongest. Each
game's `Ladder` has the stops between them, with how well they predict people and how well they
play; ``docs/make_dial.py`` measures them.

>>> from kedge.agents.dial import dial
>>> dial("chess", 1).spec
'puct(chess(elo=1500), c_puct=0.5, playouts=50, temperature=1)'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kedge import catalogue
from kedge.agents.ladder import Ladder, Stop
from kedge.errors import InputError
from kedge.regularize import Array

SNAP = 0.02  #: So near to a stop the dial stands at it.


@dataclass(frozen=True)
class Measured:
    """A figure, and where it comes from."""

    metric: str
    """In words."""
    is_share: bool
    """Whether it is a share of something, and reads as a percentage."""
    value: float
    error: float
    """One standard error; 0 of what is computed and not sampled."""
    sample: int
    counted: str
    """What the sample is of, such as games."""
    command: str
    """Prints it."""
    x: float
    """The stop that it was measured at."""
    is_exact: bool
    """Whether it is of this very setting; if not, of the nearest that was measured."""

    def __str__(self) -> str:
        return (
            f"{self.metric}: {self.value:.3g} ± {self.error:.2g} "
            f"({self.sample:,} {self.counted}{'' if self.is_exact else ', at the nearest stop'})"
        )


@dataclass(frozen=True)
class Dial:
    """Who plays where the dial stands."""

    game: str
    x: float
    spec: str
    """For `make_agent`."""
    settings: Mapping[str, float]
    """The numbers behind it, by their names in the spec."""
    likeness: tuple[Measured, ...]
    """Of the stop, or of those on both sides; none where nothing was measured."""
    strength: tuple[Measured, ...]

    def __str__(self) -> str:
        lines = [self.spec]
        for kind, found in (("likeness", self.likeness), ("strength", self.strength)):
            lines += [f"{kind}: {one}" for one in found or ["not measured"]]
        return "\n".join(lines)


#: From the least to the most that a setting may be told. Those with whole limits are whole.
_LIMITS: Mapping[str, tuple[float, float]] = {
    "elo": (0.0, 9_999.0),
    "temperature": (0.0, 100.0),
    "c_puct": (1e-6, 1e6),
    "lambda": (1e-9, 1e9),
    "playouts": (1, 1_000_000),
    "rollouts": (1, 1_000_000),
    "iterations": (1, 1_000_000),
}


def dial(game: str, x: float, **settings: float) -> Dial:
    """Who plays `game` at `x`, from 0 (like a person) to 1 (as strong as it gets).

    Between stops c_puct or λ is interpolated, geometrically; within `SNAP` of a stop it is the
    stop's.

    Parameters
    ----------
    settings
        Numbers in place of the dial's own: ``elo=1800``, ``playouts=200``. Those of the search say
        nothing where there is none. c_puct or λ (``lam``) in place of the dial's own puts `x` where
        that number stands.
    """
    measured, number = _ladder(game).stops, _ladder(game).number
    if isinstance(x, bool) or not isinstance(x, int | float) or not 0.0 <= x <= 1.0:
        raise InputError(f"x: a number from 0 (like a person) to 1 (strong), not {x}")
    told = _checked(game, settings)
    x = _place(measured, number, told[number]) if number in told else _snapped(measured, float(x))
    used = _settings(measured, number, x)
    used |= {name: value for name, value in told.items() if name in used}
    return Dial(
        game,
        x,
        spec_of(game, used),
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
    """The settings that were measured, from 0 to 1."""
    return [dial(game, stop.x) for stop in _ladder(game).stops]


def strongest(game: str) -> Dial:
    """The stop that was measured to play best; where none was measured, the last.

    >>> strongest("diplomacy").spec
    'pikl-hedge(diplomacy, lambda=0.01, iterations=512)'
    """
    found = stops(game)
    measured = [stop for stop in found if stop.strength and stop.strength[0].is_exact]
    return max(measured, key=lambda stop: stop.strength[0].value, default=found[-1])


def spec_of(game: str, settings: Mapping[str, float]) -> str:
    """Return the agent of `game` with these settings; without c_puct or λ it does not search."""
    return _ladder(game).spec(settings)


def _ladder(game: str) -> Ladder:
    ladder: Ladder = catalogue.find(game, "dial").load("dial")
    return ladder


def _checked(game: str, settings: Mapping[str, float]) -> dict[str, float]:
    """What is told, by the names that specs have."""
    told = {"lambda" if name == "lam" else name: value for name, value in settings.items()}
    known = list(dict.fromkeys(name for stop in _ladder(game).stops for name in stop.settings))
    for name, value in told.items():
        if name not in known:
            raise InputError(f"the dial of {game} has no {name!r}; it takes {', '.join(known)}")
        least, most = _LIMITS[name]
        kind = int if isinstance(least, int) else int | float
        if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
            what = "a whole number" if kind is int else "a number"
            raise InputError(f"{name}: {what} from {least:,g} to {most:,g}, not {value}")
    return told


def _snapped(stops: Sequence[Stop], x: float) -> float:
    nearest = min((stop.x for stop in stops), key=lambda at: abs(at - x))
    return nearest if round(abs(nearest - x), 9) <= SNAP else x


def _nearest(stops: Sequence[Stop], x: float, kind: str) -> list[Stop]:
    """The stop at `x` if that was measured, else the nearest on both sides that were."""
    found = [stop for stop in stops if getattr(stop, kind) is not None]
    below = [stop for stop in found if stop.x <= x][-1:]
    if below and below[0].x == x:
        return below
    return below + [stop for stop in found if stop.x > x][:1]


def _numbers(stops: Sequence[Stop], number: str) -> tuple[list[float], Array]:
    """The places of the searches, and the logarithms of their numbers."""
    searches = stops[1:]
    return [stop.x for stop in searches], np.log([stop.settings[number] for stop in searches])


def _settings(stops: Sequence[Stop], number: str, x: float) -> dict[str, float]:
    """Of a stop, or those of the next with a number between the two."""
    above = next(stop for stop in stops if stop.x >= x)
    if above.x == x:
        return dict(above.settings)
    places, logs = _numbers(stops, number)
    # The anchor is the limit of an infinite number: from the first search on that grows as 1 / x.
    found = np.exp(np.interp(x, places, logs)) * max(1.0, places[0] / x)
    return {**above.settings, number: float(f"{found:.3g}")}


def _place(stops: Sequence[Stop], number: str, value: float) -> float:
    """Where the dial has this number."""
    places, logs = _numbers(stops, number)
    beyond = max(1.0, value / stops[1].settings[number])
    return float(np.interp(-np.log(value), -logs, places)) / beyond

"""Seats and the agents there, for clients that nobody knows: bounded, and none from a path."""

from dataclasses import dataclass
from functools import cached_property

from kedge.agents import AGENTS
from kedge.agents.dial import Dial, dial
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PERSON, PageGame, Rating
from kedge.interfaces.web.schemas import SeatIn
from kedge.models import shipped_models, store
from kedge.specs import Spec, parse

#: The largest values that a client may ask for.
_BOUNDS = {
    "playouts": 20_000,
    "iterations": 20_000,
    "rollouts": 20_000,
    "samples": 4096,
    "candidates": 200,
    "batch": 256,
    "gumbel": 64,
    "rollout": 8,
    "depth": 40,
}


@dataclass(frozen=True)
class Seat:
    """A seat and its player. A person's has the agent that would go on or advise there."""

    game: PageGame
    who: SeatIn
    dial: Dial | None
    """The place on the game's dial; None if the game has none."""
    agent: Spec | None
    """None if the game has neither a dial nor agents."""

    @property
    def human(self) -> bool:
        return self.who.human

    def required_agent(self) -> Spec:
        """Return the agent, or raise `InputError` if there is none."""
        if self.agent is None:
            raise InputError(f"no agent plays {self.game.title} here")
        return self.agent

    @property
    def player(self) -> str:
        """The name of the player in records."""
        if self.human:
            return PERSON
        return f"kedge, {self.agent}" if self.dial is None else f"kedge, dial {self.who.dial:g}"

    @cached_property
    def rating(self) -> Rating | None:
        """The rating or rank of the people that the agent imitates, if it takes one."""
        people = None if self.human or self.dial is None else self.dial.people
        return round(people) if isinstance(people, int | float) else people


def seated(game: PageGame, who: SeatIn) -> Seat:
    """Return the seat, or raise `InputError` if it asks for an agent that it cannot have."""
    if game.has_dial:
        if who.agent is not None:
            raise InputError(f"agent: {game.title} has a dial; set dial and settings instead")
        place = _dialled(game.name, who)
        return Seat(game, who, place, place.agent)
    if who.settings:
        raise InputError(f"settings: {game.title} has no dial; set agent instead")
    text = who.agent or next(iter(game.agents), None)
    return Seat(game, who, None, None if text is None else checked_spec(text))


def _dialled(game: str, who: SeatIn) -> Dial:
    if not {"game", "x"}.isdisjoint(who.settings):
        raise InputError("game and x are not settings of the dial")
    for name, value in who.settings.items():
        most = _BOUNDS.get(name)  # less than the dial's own limit
        if most is not None and not (isinstance(value, int) and 1 <= value <= most):
            raise InputError(f"{name}: must be a whole number from 1 to {most:,} here")
    return dial(game, who.dial, **who.settings)


def known_names() -> list[str]:
    """The names of all agents and models that clients may use."""
    return sorted({*AGENTS.names(), *shipped_models.names(), *store.stored_names()})


def checked_spec(text: str) -> Spec:
    """Return the spec, or raise `InputError` if a client may not use it."""
    spec = parse(text)
    _check_spec(spec)
    return spec


def _check_spec(spec: Spec) -> None:
    """Raise `InputError` if the spec names a file or exceeds the server's bounds."""
    _refuse_file(spec.name)
    for value in (*spec.args, *spec.kwargs.values()):
        if isinstance(value, Spec):
            _check_spec(value)
        elif isinstance(value, str):
            _refuse_file(value)
    if not all(isinstance(value, Spec | str) for value in spec.args):
        raise InputError(f"agent {spec.name}: name its numbers, such as playouts=50")
    for key, value in spec.kwargs.items():
        most = _BOUNDS.get(key)
        if most is not None and isinstance(value, int | float) and not value <= most:
            raise InputError(f"agent {spec.name}: {key} must be at most {most:,} here")


def _refuse_file(name: str) -> None:
    if "(" in name:
        raise InputError(f"agent {name}: do not quote a spec within a spec here")
    if store.is_path(name) or "\\" in name:
        raise InputError(f"agent {name}: use the name of a model, not a file")

"""Agents by spec, for clients that nobody knows: bounded, loaded once, and none from a path."""

import threading
from collections import OrderedDict
from functools import lru_cache
from typing import Any

from kedge.agents import AGENTS, make_player
from kedge.agents.dial import Dial, dial
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PERSON, PageGame, Rating
from kedge.interfaces.web.schemas import SeatIn
from kedge.models import embedded, store
from kedge.specs import Spec, parse

_KEPT = 24  # each may hold a network of its own
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


class Players:
    """The agents of a server."""

    def __init__(self) -> None:
        self._agents: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._loading = threading.Lock()

    def get(self, spec: Spec, game: str) -> tuple[str, Any]:
        """Return the spec as text, and the `Player` of `game` that it names.

        Clients' specs are checked before.
        """
        text = str(spec)
        with self._loading:
            if (text, game) not in self._agents:
                self._agents[text, game] = make_player(spec, game)
                while len(self._agents) > _KEPT:
                    self._agents.popitem(last=False)
            self._agents.move_to_end((text, game))
            return text, self._agents[text, game]


def dial_at(game: PageGame, seat: SeatIn) -> Dial | None:
    """Return the dial of the agent that `seat` asks for; None if the game has no dial."""
    if game.has_dial:
        if seat.agent is not None:
            raise InputError(f"agent: {game.title} has a dial; set dial and settings instead")
        return _dialled(game.name, seat.dial, tuple(seat.settings.items()))
    if seat.settings:
        raise InputError(f"settings: {game.title} has no dial; set agent instead")
    return None


def agent_at(game: PageGame, seat: SeatIn) -> Spec | None:
    """Return the agent that `seat` asks for; None if the game has neither a dial nor agents."""
    place = dial_at(game, seat)
    if place is not None:
        return place.agent
    text = seat.agent or next(iter(game.agents), None)
    return None if text is None else checked_spec(text)


def spec_at(game: PageGame, seat: SeatIn) -> Spec:
    """Return the agent that `seat` asks for, or raise `InputError` if the game has none."""
    agent = agent_at(game, seat)
    if agent is None:
        raise InputError(f"no agent plays {game.title} here")
    return agent


def player_name(game: PageGame, seat: SeatIn) -> str:
    """The name of a seat's player in records."""
    if seat.human:
        return PERSON
    agent = None if game.has_dial else agent_at(game, seat)
    return f"kedge, dial {seat.dial:g}" if agent is None else f"kedge, {agent}"


def rating_of(game: PageGame, seat: SeatIn) -> Rating | None:
    """The rating or rank of the people that the agent at a seat imitates, if it takes one."""
    place = dial_at(game, seat)
    people = None if place is None else place.people
    return round(people) if isinstance(people, int | float) else people


@lru_cache(4096)  # every view of a game asks for all its seats
def _dialled(game: str, x: float, settings: tuple[tuple[str, int | float | str], ...]) -> Dial:
    numbers = dict(settings)
    if not {"game", "x"}.isdisjoint(numbers):
        raise InputError("game and x are not settings of the dial")
    for name, value in numbers.items():
        most = _BOUNDS.get(name)  # less than the dial's own limit
        if most is not None and not (isinstance(value, int) and 1 <= value <= most):
            raise InputError(f"{name}: must be a whole number from 1 to {most:,} here")
    return dial(game, x, **numbers)


def known_names() -> list[str]:
    """The names of all agents and models that clients may use."""
    return sorted({*AGENTS.names(), *embedded.names(), *store.stored_names()})


@lru_cache(4096)  # every view of a game asks for all its seats
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

"""Agents by their specs, for strangers to name: loaded once, and none from a path."""

import threading
from collections import OrderedDict
from functools import lru_cache

from kedge.agents import AGENTS, Agent, make_agent
from kedge.agents.dial import Dial, dial
from kedge.errors import InputError
from kedge.interfaces.web.schemas import SeatIn
from kedge.models import embedded, store
from kedge.specs import Spec, parse

_KEPT = 24  # each may hold a network of its own
#: The most that a stranger may ask for.
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
        self._agents: OrderedDict[str, Agent] = OrderedDict()
        self._loading = threading.Lock()

    def get(self, spec: str) -> Agent:
        """The agent that `spec` names, if a stranger may have it."""
        with self._loading:
            if spec not in self._agents:
                check_spec(parse(spec))
                self._agents[spec] = make_agent(spec)
                while len(self._agents) > _KEPT:
                    self._agents.popitem(last=False)
            self._agents.move_to_end(spec)
            return self._agents[spec]


def dialled(game: str, seat: SeatIn) -> Dial:
    """Who plays at a seat, with what was measured there; if a stranger may have it."""
    return _dialled(game, seat.dial, tuple(seat.settings.items()))


@lru_cache(4096)  # every view of a game asks for all its seats
def _dialled(game: str, x: float, settings: tuple[tuple[str, int | float], ...]) -> Dial:
    told = dict(settings)
    if not {"game", "x"}.isdisjoint(told):
        raise InputError("game and x are no settings of the dial")
    for name, value in told.items():
        most = _BOUNDS.get(name)  # which is less than the dial's own
        if most is not None and not (isinstance(value, int) and 1 <= value <= most):
            raise InputError(f"{name}: a whole number from 1 to {most:,} here")
    found = dial(game, x, **told)
    check_spec(parse(found.spec))
    return found


def known_names() -> list[str]:
    """Of all agents and models that may be named."""
    return sorted({*AGENTS.names(), *embedded.names(), *store.stored_names()})


def check_spec(spec: Spec) -> None:
    """An `InputError` if it names a file, or asks for more than a server gives."""
    _refuse_file(spec.name)
    for value in (*spec.args, *spec.kwargs.values()):
        if isinstance(value, Spec):
            check_spec(value)
        elif isinstance(value, str):
            _refuse_file(value)
    if not all(isinstance(value, Spec | str) for value in spec.args):
        raise InputError(f"agent {spec.name}: say what its numbers are, such as playouts=50")
    for key, value in spec.kwargs.items():
        most = _BOUNDS.get(key)
        if most is not None and isinstance(value, int | float) and not value <= most:
            raise InputError(f"agent {spec.name}: {key} at most {most:,} here")


def _refuse_file(name: str) -> None:
    if "(" in name:
        raise InputError(f"agent {name}: a spec within a spec is not quoted here")
    if store.is_path(name) or "\\" in name:
        raise InputError(f"agent {name}: models are named here, not given as files")

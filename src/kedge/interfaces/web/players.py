"""Agents by their specs, for strangers to name: loaded once, and none from a path."""

import threading
from collections import OrderedDict

from kedge.agents import AGENTS, Agent, make_agent
from kedge.errors import InputError
from kedge.models import embedded, store
from kedge.specs import Spec, parse

_KEPT = 64
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
    for key, value in spec.kwargs.items():
        most = _BOUNDS.get(key)
        if most is not None and isinstance(value, int | float) and not value <= most:
            raise InputError(f"agent {spec.name}: {key} at most {most:,} here")


def _refuse_file(name: str) -> None:
    if store.is_path(name) or "\\" in name:
        raise InputError(f"agent {name}: models are named here, not given as files")

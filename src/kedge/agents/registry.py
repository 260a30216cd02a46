"""Agents by name: those of kedge, of its games, and of other packages."""

from collections.abc import Callable, Mapping
from functools import cache

from kedge import catalogue
from kedge.agents.agent import Agent
from kedge.errors import InputError
from kedge.specs import Registry, Spec, suggest


def make_agent(spec: Spec | str) -> Agent:
    """Return the agent that `spec` names; its first positional argument is the anchor, a spec.

    A name that no agent has is the name or path of a model, which plays alone.
    """
    if not isinstance(spec, Spec | str):
        raise InputError(f"agent: a spec such as uniform or pikl-hedge(uniform), not {spec!r}")
    return AGENTS.make(spec)


def no_such(option: str, agent: str, known: list[str]) -> InputError:
    """Return the error for an `agent` that has no parameter `option`."""
    name, *names = ("lambda" if name == "lam" else name for name in (option, *known))
    return InputError(f"agent {agent}: has no parameter {name!r}; it takes {', '.join(names)}")


@cache
def _built_in() -> Mapping[str, Callable[..., Agent]]:
    from kedge.agents import specs  # which makes agents over others with `make_agent`

    makers = dict(specs.AGENTS)
    for entry in catalogue.entries("agents"):
        makers |= entry.load("agents")
    return makers


def _model_maker(name: str) -> Callable[..., Agent]:
    """Return the maker of the agent that plays as the model `name`, whose weights it has loaded."""
    from kedge.models import named, store

    weights = named.find(name)
    if weights is None:
        names = sorted({*AGENTS.names(), *named.names()})
        raise InputError(f"unknown agent {name!r}; {suggest(name, names, store.LISTING)}")
    maker_of = catalogue.look_up("model_agents", weights.kind, weights.game_name)
    if maker_of is None:
        raise InputError(f"{name}: no agent plays as {weights.described}")
    maker: Callable[..., Agent] = maker_of(name, weights)
    return maker


#: Other packages add agents through entry points in the group ``kedge.agents``.
AGENTS: Registry[Agent] = Registry("agent", _built_in, "kedge.agents", otherwise=_model_maker)

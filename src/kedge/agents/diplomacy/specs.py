"""Makers of Diplomacy's agents, by spec name."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from kedge.agents import registry
from kedge.agents.agent import Agent
from kedge.agents.registry import make_agent, no_such
from kedge.errors import InputError
from kedge.specs import Spec

if TYPE_CHECKING:
    from kedge.agents.diplomacy.players import ImitationAgent, OrderSearch
    from kedge.models.diplomacy.model import ValueModel
    from kedge.models.weight_files import AnyWeights

#: Settings of Gray et al. (2021).
SEARCHBOT = {"candidates": 50, "iterations": 256, "rollout": 2, "preset": "authors"}


def human(name: str, weights: "AnyWeights") -> Callable[..., Agent]:
    """Return the maker of the model `name` alone."""

    def make(temperature: float = 1.0, top_p: float = 1.0) -> Agent:
        from kedge.agents.diplomacy.models import VALUE, order_model, value_model
        from kedge.agents.diplomacy.players import ImitationAgent

        return ImitationAgent(order_model(name, weights), value_model(VALUE), temperature, top_p)

    return make


def uniform_orders(temperature: float = 1.0, top_p: float = 1.0) -> Agent:
    """Return the agent that draws legal orders uniformly; it values positions by centres."""
    from kedge.agents.diplomacy.players import ImitationAgent
    from kedge.models.diplomacy.plain import CentreShares, UniformOrders

    return ImitationAgent(UniformOrders(), CentreShares(), temperature, top_p)


def no_orders(name: str, _: object) -> Callable[..., Agent]:
    """Raise the error of a model that only values positions."""
    raise InputError(
        f"{name} values positions of Diplomacy and gives no orders; "
        f"use it in a search: pikl-hedge(diplomacy, value={Spec(name)})"
    )


def order_search(
    anchor: Agent, name: str, dial: Mapping[str, Any], options: Mapping[str, Any]
) -> "OrderSearch":
    """Return the search called `name` over `anchor`, with the `options` of `search_agent`."""
    from kedge.agents.diplomacy.players import ImitationAgent, search_agent

    if not isinstance(anchor, ImitationAgent):
        raise InputError(f"{name}: its anchor is a model of Diplomacy, such as diplomacy")
    known = [*signature(search_agent).parameters][2:-1]
    for option in options.keys() - set(known):
        raise no_such(option, f"{name} of Diplomacy", [*dial, *known])
    value = options.get("value")
    models = {} if value is None else {"value": _value_model(value)}
    return search_agent(name, anchor, **dial, **{**options, **models})


def named_search(name: str, **settings: Any) -> Callable[..., Agent]:
    """Return the maker of the search called `name` with these settings, over any human model."""

    def make(anchor: Spec | str = "diplomacy", **changes: Any) -> Agent:
        return order_search(_human_model("anchor", anchor), name, {}, settings | changes)

    return make


def _human_model(what: str, spec: Spec | str) -> "ImitationAgent":
    from kedge.agents.diplomacy.players import ImitationAgent

    agent = make_agent(spec)
    if not isinstance(agent, ImitationAgent):
        raise InputError(f"{what} {spec} is not a model of Diplomacy")
    return agent


def _value_model(spec: Spec | str) -> "ValueModel":
    """Return the value model of a name or path; for an agent's name, that agent's own."""
    from kedge.agents.diplomacy.models import value_model

    plain = Spec(spec) if isinstance(spec, str) else spec
    if not isinstance(plain, Spec) or plain.args or plain.kwargs:
        raise InputError(f"value: the name or path of a model, not {spec}")
    if plain.name in registry.AGENTS.names():
        return _human_model("value", plain).value
    return value_model(plain.name)


AGENTS: Mapping[str, Callable[..., Agent]] = {
    "uniform-orders": uniform_orders,
    "best-response": named_search("best-response"),
    "searchbot": named_search("rm", **SEARCHBOT),
}

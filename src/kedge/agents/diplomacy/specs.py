"""Makers of Diplomacy's agents, by spec name."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from kedge.agents import registry
from kedge.agents.agent import Agent
from kedge.agents.registry import make_agent, no_such
from kedge.errors import InputError
from kedge.specs import Spec, word

if TYPE_CHECKING:
    from kedge.agents.diplomacy.players import OrderSearch
    from kedge.models.diplomacy.model import ValueModel
    from kedge.models.diplomacy.network import DiplomacyWeights

#: Settings of Gray et al. (2021).
SEARCHBOT_SETTINGS = {"candidates": 50, "iterations": 256, "rollout": 2, "preset": Spec("authors")}


def imitation_maker(name: str, weights: "DiplomacyWeights") -> Callable[..., Agent]:
    """Return the maker of the model `name` alone."""

    def make(*, temperature: float = 1.0, top_p: float = 1.0) -> Agent:
        from kedge.agents.diplomacy.models import orders_of, value_model
        from kedge.agents.diplomacy.players import ImitationAgent
        from kedge.models.diplomacy.network import VALUE
        from kedge.models.shipped_models import imitates_people

        return ImitationAgent(
            orders_of(weights),
            value_model(VALUE),
            temperature,
            top_p,
            imitates_people=imitates_people(name),
        )

    return make


def uniform_orders(*, temperature: float = 1.0, top_p: float = 1.0) -> Agent:
    """Return the agent that draws legal orders uniformly; it values positions by centres."""
    from kedge.agents.diplomacy.players import ImitationAgent
    from kedge.models.diplomacy.plain import CentreShares, UniformOrders

    return ImitationAgent(UniformOrders(), CentreShares(), temperature, top_p)


def no_orders(name: str, weights: object) -> Callable[..., Agent]:
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
        raise InputError("anchor: only models of Diplomacy, such as diplomacy, can be searched")
    parameters = signature(search_agent).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    for option in options.keys() - set(known):
        raise no_such(option, f"{name} of Diplomacy", [*dial, *known])
    value = options.get("value")
    models = {} if value is None else {"value": _value_model(value)}
    return search_agent(name, anchor, **dial, **{**options, **models})


def named_search(name: str, **settings: Any) -> Callable[..., Agent]:
    """Return the maker of the search called `name` with these settings, over any human model."""

    def make(anchor: Spec | str = "diplomacy", **changes: Any) -> Agent:
        return order_search(make_agent(anchor), name, {}, settings | changes)

    return make


def _value_model(spec: Spec | str) -> "ValueModel":
    """Return the value model of a name or path; for an agent's name, that agent's own."""
    from kedge.agents.diplomacy.models import value_model
    from kedge.agents.diplomacy.players import ImitationAgent

    name = word("value", spec)
    if name not in registry.AGENTS.names():
        return value_model(name)
    agent = make_agent(Spec(name))
    if not isinstance(agent, ImitationAgent):
        raise InputError(f"value {name} is not a model of Diplomacy")
    return agent.value


AGENTS: Mapping[str, Callable[..., Agent]] = {
    "uniform-orders": uniform_orders,
    "best-response": named_search("best-response"),
    "searchbot": named_search("rm", **SEARCHBOT_SETTINGS),
}

#: By the kinds of `kedge.models.diplomacy.parsers`, which are slow to import.
MODEL_AGENTS: Mapping[str, Callable[..., Callable[..., Agent]]] = {
    "orders": imitation_maker,
    "value": no_orders,
}

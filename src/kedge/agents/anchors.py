"""The anchor of an agent: whose moves it starts from."""

from inspect import signature

from kedge.agents.registry import AGENTS
from kedge.models import shipped_models
from kedge.specs import Spec, parse


def anchor_of(spec: Spec) -> Spec:
    """Return the anchor of the agent that `spec` names; an agent without one is its own anchor."""
    if spec.name not in AGENTS.names():  # a model
        return spec
    parameter = signature(AGENTS.maker(spec.name)).parameters.get("anchor")
    if parameter is None:
        return spec
    given = spec.args[0] if spec.args else spec.kwargs.get("anchor", parameter.default)
    return anchor_of(given if isinstance(given, Spec) else Spec(given))


def imitates_people(spec: Spec | str) -> bool:
    """Whether the anchor is a model of people's moves: any network, unless programs taught it."""
    name = anchor_of(spec if isinstance(spec, Spec) else parse(spec)).name
    if name in shipped_models.names():
        return shipped_models.imitates_people(name)
    return name not in AGENTS.names()

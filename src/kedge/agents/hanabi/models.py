"""Hanabi models by name: blueprints that play, and beliefs for searches."""

from kedge.agents.cache import cached
from kedge.agents.devices import device
from kedge.agents.hanabi.players import BlueprintAgent
from kedge.errors import InputError
from kedge.models.devices import Dtype
from kedge.models.hanabi.backends import (
    belief_network,
    policy_network,
)
from kedge.models.hanabi.belief import LearnedBelief
from kedge.models.hanabi.blueprint import NetworkBlueprint
from kedge.models.hanabi.exact import exact_belief
from kedge.models.hanabi.model import Belief
from kedge.models.hanabi.network import BeliefWeights, PolicyWeights, belief_name
from kedge.models.named import is_known, load_as


def blueprint(name: str) -> NetworkBlueprint:
    """Return the blueprint of the model `name`."""
    return blueprint_of(load_as(PolicyWeights, name))


def blueprint_of(weights: PolicyWeights) -> NetworkBlueprint:
    """Return the blueprint with these weights."""
    place = _device()
    network = cached((weights.sha256, *place), lambda: policy_network(weights, *place))
    return NetworkBlueprint(network, weights.game, weights.value)


def belief(name: str) -> LearnedBelief:
    """Return the belief of the model `name`."""
    weights = load_as(BeliefWeights, name)
    place = _device()
    network = cached((weights.sha256, *place), lambda: belief_network(weights, *place))
    return LearnedBelief(network, weights.game)


def belief_over(agent: BlueprintAgent, name: str, option: str | None, *, greedy: bool) -> Belief:
    """Return the belief of a search over the blueprint `name`.

    `option` is ``exact``, ``learned`` (the blueprint's own belief model), or the name or path of a
    belief model. None means learned if there is such a model, else exact.
    """
    usual = belief_name(name, greedy=greedy)
    if option == "exact" or (option is None and not is_known(usual)):
        return exact_belief(agent.blueprint, greedy=greedy)
    if option == "learned" and not is_known(usual):
        raise InputError(f'belief: there is no model {usual}; use belief=exact, NAME or "FILE"')
    return belief(usual if option in (None, "learned") else option)


def _device() -> tuple[str, Dtype, int]:
    where, dtype, threads = device()
    if where == "openvino":
        raise InputError("Hanabi's networks run on cpu or cuda, not on openvino")
    return where, dtype, threads

"""Agents by name: what specs, and the packages of others, know."""

from collections.abc import Callable

from kedge.agents.agent import Agent
from kedge.errors import InputError
from kedge.specs import Registry, Spec, parse, suggest


def make_agent(spec: Spec | str) -> Agent:
    """The agent that `spec` names; its first positional argument is the anchor, itself a spec.

    A name that is no agent's is a model's, from the store or a path: it plays by itself.
    """
    if not isinstance(spec, Spec | str):
        raise InputError(f"agent: a spec such as uniform or pikl-hedge(uniform), not {spec!r}")
    return AGENTS.make(parse(spec) if isinstance(spec, str) else spec)


def no_such(option: str, agent: str, known: list[str]) -> InputError:
    """What an `agent` that knows no such parameter says."""
    word, *words = ("lambda" if name == "lam" else name for name in (option, *known))
    return InputError(f"agent {agent}: has no parameter {word!r}; it takes {', '.join(words)}")


def _model(name: str) -> Callable[..., Agent]:
    from kedge.agents.diplomacy import specs as diplomacy_specs
    from kedge.agents.hanabi import specs as hanabi_specs
    from kedge.models import embedded, store
    from kedge.models.chess.conditioning import is_told
    from kedge.models.diplomacy.network import DiplomacyWeights
    from kedge.models.diplomacy.values import ValueWeights
    from kedge.models.hanabi.network import BeliefWeights, PolicyWeights
    from kedge.models.named import load

    known = {*store.known_names(), *embedded.names()}
    if name not in known and not store.is_path(name):
        raise InputError(
            f"unknown agent {name!r}; {suggest(name, sorted(known.union(AGENTS.names())))}"
        )
    weights = load(name)  # one that is not here, or damaged, is told of before its arguments
    if isinstance(weights, DiplomacyWeights):
        return diplomacy_specs.human(name)
    if isinstance(weights, ValueWeights):
        raise InputError(
            f"{name}: says what positions of Diplomacy are worth, and orders nothing; "
            f"a search takes it, such as pikl-hedge(diplomacy, value={Spec(name)})"
        )
    if isinstance(weights, PolicyWeights):
        return hanabi_specs.blueprint(name)
    if isinstance(weights, BeliefWeights):
        raise InputError(
            f"{name}: says what hands of Hanabi may be, and plays nothing; "
            f"a search over its blueprint takes it, such as "
            f"sparta({name.rpartition('-belief')[0] or 'hanabi'}, belief={Spec(name)})"
        )

    def make(temperature: float = 1.0) -> Agent:
        from kedge.agents.board.networks import network_agent

        return network_agent(Spec(name), temperature)

    def rated(
        elo: float = 1500.0, opponent: float | None = None, temperature: float = 1.0
    ) -> Agent:
        from kedge.agents.board.networks import rated_agent

        return rated_agent(name, elo, opponent, temperature)

    return rated if is_told(weights) else make


#: Other packages add agents through entry points in the group ``kedge.agents``.
AGENTS: Registry[Agent] = Registry("agent", "kedge.agents", otherwise=_model)

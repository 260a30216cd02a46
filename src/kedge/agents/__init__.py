"""Who plays: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

from collections.abc import Callable

from kedge.agents.agent import Agent, Analysis
from kedge.agents.normal_form import RegretAgent, UniformAgent
from kedge.search.regret.algorithms import by_name
from kedge.specs import Registry, Spec, parse

#: Other packages add agents through entry points in the group ``kedge.agents``.
AGENTS: Registry[Agent] = Registry("agent", "kedge.agents")
AGENTS.register("uniform", UniformAgent)


def make_agent(spec: Spec | str) -> Agent:
    """The agent that `spec` names; its first positional argument is the anchor, itself a spec."""
    return AGENTS.make(parse(spec) if isinstance(spec, str) else spec)


def _anchored(name: str) -> Callable[..., Agent]:
    def make(anchor: Spec | str = "uniform", lam: float = 0.1, iterations: int = 10_000) -> Agent:
        return RegretAgent(make_agent(anchor), by_name(name, lam=lam), iterations)

    return make


def _unanchored(name: str) -> Callable[..., Agent]:
    def make(iterations: int = 10_000) -> Agent:
        return RegretAgent(UniformAgent(), by_name(name), iterations)

    return make


def _dil_pikl(
    anchor: Spec | str = "uniform", lambdas: str = "1e-4,1e-3,1e-2,1e-1", iterations: int = 10_000
) -> Agent:
    """`lambdas` is quoted, the λs between commas: ``dil-pikl(uniform, lambdas="0.1,1")``."""
    types = tuple(float(word) for word in lambdas.split(","))
    return RegretAgent(make_agent(anchor), by_name("dil-pikl", lambdas=types), iterations)


for _name in ("pikl-hedge", "mmd"):
    AGENTS.register(_name, _anchored(_name))
for _name in ("hedge", "rm", "rm+"):
    AGENTS.register(_name, _unanchored(_name))
AGENTS.register("dil-pikl", _dil_pikl)

__all__ = ["AGENTS", "Agent", "Analysis", "make_agent"]

"""Who plays: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

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


def _register(name: str, anchored: bool) -> None:
    def anchored_agent(
        anchor: Spec | str = "uniform", lam: float = 0.1, iterations: int = 10_000
    ) -> Agent:
        return RegretAgent(make_agent(anchor), by_name(name, lam=lam), iterations)

    def plain_agent(anchor: Spec | str = "uniform", iterations: int = 10_000) -> Agent:
        return RegretAgent(make_agent(anchor), by_name(name), iterations)

    AGENTS.register(name, anchored_agent if anchored else plain_agent)


for _name in ("pikl-hedge", "mmd"):
    _register(_name, anchored=True)
for _name in ("hedge", "rm", "rm+", "dil-pikl"):
    _register(_name, anchored=False)

__all__ = ["AGENTS", "Agent", "Analysis", "make_agent"]

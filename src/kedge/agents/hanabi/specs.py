"""Makers of Hanabi's agents, by spec name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kedge.agents.agent import Agent
from kedge.agents.registry import make_agent
from kedge.errors import InputError
from kedge.specs import Spec, as_spec

if TYPE_CHECKING:
    from kedge.models.hanabi.network import PolicyWeights


def blueprint_maker(name: str, weights: "PolicyWeights") -> Callable[..., Agent]:
    """Return the maker of the model `name` alone."""

    def make(*, temperature: float = 1.0, greedy: bool = False) -> Agent:
        from kedge.agents.hanabi.models import blueprint_of
        from kedge.agents.hanabi.players import BlueprintAgent
        from kedge.models.shipped_models import imitates_people

        return BlueprintAgent(
            blueprint_of(weights),
            temperature,
            greedy=greedy,
            imitates_people=imitates_people(name),
        )

    return make


def no_moves(name: str, weights: object) -> Callable[..., Agent]:
    """Raise the error of a belief model."""
    anchor = name.rpartition("-belief")[0] or "hanabi"
    raise InputError(
        f"{name} is a belief model and cannot play; "
        f"use it in a search: sparta({anchor}, belief={Spec(name)})"
    )


def uniform_hanabi(*, temperature: float = 1.0, greedy: bool = False) -> Agent:
    """Return the agent that draws legal moves uniformly, for any number of players."""
    from kedge.agents.hanabi.players import BlueprintAgent
    from kedge.games.hanabi import Hanabi
    from kedge.models.hanabi.model import UniformBlueprint

    actions = max(len(Hanabi(players).moves) for players in (2, 3, 4, 5))
    return BlueprintAgent(UniformBlueprint(actions), temperature, greedy=greedy)


def conventions(*, greedy: bool = False) -> Agent:
    """Return a player of simple conventions, without a network.

    It is deterministic: `greedy` has no effect.
    """
    from kedge.agents.hanabi.players import BlueprintAgent
    from kedge.models.hanabi.conventions import ConventionsBlueprint

    return BlueprintAgent(ConventionsBlueprint(), greedy=greedy)


def sparta(
    anchor: Spec | str = "hanabi",
    *,
    lam: float = 0.0,
    rollouts: int = 10_000,
    belief: Spec | str | None = None,
    greedy: bool = False,
    allocation: str = "even",
    stop: float = 0.0,
    threshold: float = 0.0,
    kl: float | None = None,
    depth: int | None = None,
) -> Agent:
    """Return SPARTA over `anchor`, a blueprint that the other players are assumed to play."""
    from kedge.agents.hanabi.models import belief_over
    from kedge.agents.hanabi.players import BlueprintAgent
    from kedge.agents.hanabi.search import SpartaAgent
    from kedge.search.sparta import Budget

    spec = as_spec("anchor", anchor)
    agent = make_agent(spec)
    if not isinstance(agent, BlueprintAgent):
        raise InputError(f"anchor {spec} is not a blueprint of Hanabi")
    option = belief.name if isinstance(belief, Spec) else belief
    return SpartaAgent(
        agent,
        belief_over(agent, spec.name, option, greedy=greedy),
        lam=lam,
        budget=Budget(rollouts, str(allocation), stop),
        greedy=greedy,
        threshold=threshold,
        kl=kl,
        depth=depth,
    )


AGENTS: Mapping[str, Callable[..., Agent]] = {
    "uniform-hanabi": uniform_hanabi,
    "conventions": conventions,
    "sparta": sparta,
}

#: By the kinds of `kedge.models.hanabi.parsers`, which are slow to import.
MODEL_AGENTS: Mapping[str, Callable[..., Callable[..., Agent]]] = {
    "hanabi-policy": blueprint_maker,
    "hanabi-belief": no_moves,
}

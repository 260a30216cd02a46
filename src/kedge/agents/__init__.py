"""Who plays: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.agents.agent import Agent, Analysis, Player, plays
from kedge.agents.normal_form import RegretAgent, UniformAgent
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormState
from kedge.search.regret.algorithms import by_name
from kedge.specs import Registry, Spec, parse, suggest

if TYPE_CHECKING:
    from kedge.agents.diplomacy import DiplomacyPlayer
    from kedge.models.store import ModelInfo


_MOST_PLAYOUTS = 10_000_000  # a tree takes some 3 kB of memory a playout


def make_agent(spec: Spec | str) -> Agent:
    """The agent that `spec` names; its first positional argument is the anchor, itself a spec.

    A name that is no agent's is a model's, from the store or a path: it plays by itself.
    """
    return AGENTS.make(parse(spec) if isinstance(spec, str) else spec)


def make_player(spec: Spec | str, states: type) -> Player:
    """The agent that `spec` names, if it plays such states, and many at once."""
    agent = make_agent(spec)
    if not isinstance(agent, Player) or not plays(agent, states):
        game = states.__name__.removesuffix("State").lower()
        raise InputError(f"agent {spec}: does not play {game}; {game} and puct({game}, …) do")
    return agent


def make_diplomacy_player(spec: Spec | str) -> "DiplomacyPlayer":
    """The agent that `spec` names, if it plays Diplomacy."""
    from kedge.agents.diplomacy import DiplomacyPlayer

    agent = make_agent(spec)
    if not isinstance(agent, DiplomacyPlayer):
        raise InputError(
            f"agent {spec}: does not play diplomacy; diplomacy and pikl-hedge(diplomacy, …) do"
        )
    return agent


def add_model(name: str, path: str | Path) -> "ModelInfo":
    """Keep a copy of a weight file as the model `name`, if specs will reach it there."""
    from kedge.models import store

    if name in AGENTS.names():
        raise InputError(f"{name}: an agent's name, so no spec would reach the model; take another")
    return store.add(name, path)


def _model(name: str) -> Callable[..., Agent]:
    from kedge.models import store

    known = store.known_names()
    if name not in known and not store.is_path(name):
        raise InputError(f"unknown agent {name!r}; {suggest(name, AGENTS.names() + known)}")
    store.resolve(name)  # one that is not here, or damaged, is told of before its arguments

    def make(temperature: float = 1.0) -> Agent:
        from kedge.agents.networks import network_agent

        return network_agent(name, temperature)

    return make


#: Other packages add agents through entry points in the group ``kedge.agents``.
AGENTS: Registry[Agent] = Registry("agent", "kedge.agents", otherwise=_model)
AGENTS.register("uniform", UniformAgent)


def _anchor(spec: Spec | str) -> Agent:
    """A regret minimiser's anchor; one for another game is told of before it is asked."""
    agent = make_agent(spec)
    if not plays(agent, NormalFormState):
        raise InputError(f"anchor {spec} does not play games in normal form")
    return agent


def _anchored(name: str) -> Callable[..., Agent]:
    def make(anchor: Spec | str = "uniform", lam: float = 0.1, iterations: int = 10_000) -> Agent:
        return RegretAgent(_anchor(anchor), by_name(name, lam=lam), iterations)

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
    return RegretAgent(_anchor(anchor), by_name("dil-pikl", lambdas=types), iterations)


def _chess(elo: float = 1500.0, opponent: float | None = None, temperature: float = 1.0) -> Agent:
    """The model that ships with kedge, as a player of rating `elo` against `opponent`."""
    from kedge.agents.networks import network_agent

    told = {"elo": elo} if opponent is None else {"elo": elo, "opponent": opponent}
    return network_agent(str(Spec("chess", (), told)), temperature)


def _go(temperature: float = 1.0) -> Agent:
    """The model that ships with kedge: professionals from 1900 to 2014."""
    from kedge.agents.networks import network_agent

    return network_agent("go", temperature)


def _puct(
    anchor: Spec | str = "chess",
    c_puct: float = 2.0,
    playouts: int = 50,
    temperature: float = 1.0,
    constant_lambda: float = 0.0,
    value: Spec | str | None = None,
    batch: int = 1,
    gumbel: int = 0,
    forward_lambda: float | None = None,
) -> Agent:
    """`anchor` is a model, or a quoted path to one; its temperature sharpens the prior.

    So is `value`, which says what positions are worth; the anchor does without it.
    """
    from kedge.agents.networks import puct_agent

    if isinstance(playouts, int) and playouts > _MOST_PLAYOUTS:
        raise InputError(f"playouts: at most {_MOST_PLAYOUTS:,}, not {playouts:,}")
    return puct_agent(
        _puct_model("anchor", anchor),
        None if value is None else _puct_model("value", value),
        c_puct=c_puct,
        playouts=playouts,
        temperature=temperature,
        constant_lambda=constant_lambda,
        batch=batch,
        gumbel=gumbel,
        forward_lambda=forward_lambda,
    )


def _puct_model(what: str, model: Spec | str) -> Agent:
    spec = Spec(model) if isinstance(model, str) else model
    if not isinstance(spec, Spec):
        raise InputError(f"puct: its {what} is a model, not {spec}")
    return make_agent(spec)


for _name in ("pikl-hedge", "mmd"):
    AGENTS.register(_name, _anchored(_name))
for _name in ("hedge", "rm", "rm+"):
    AGENTS.register(_name, _unanchored(_name))
AGENTS.register("dil-pikl", _dil_pikl)
AGENTS.register("chess", _chess)
AGENTS.register("go", _go)
AGENTS.register("puct", _puct)

__all__ = [
    "AGENTS",
    "Agent",
    "Analysis",
    "Player",
    "add_model",
    "make_agent",
    "make_diplomacy_player",
    "make_player",
]

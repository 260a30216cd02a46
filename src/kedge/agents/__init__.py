"""Who plays: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.agents.agent import Agent, Analysis, Player, plays
from kedge.agents.diplomacy import specs as diplomacy_specs
from kedge.agents.diplomacy.specs import make_diplomacy_player
from kedge.agents.hanabi import specs as hanabi_specs
from kedge.agents.hanabi.specs import make_hanabi_player
from kedge.agents.normal_form.players import RegretAgent, UniformAgent
from kedge.agents.registry import AGENTS, make_agent, no_such
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormState
from kedge.search.regret.algorithms import by_name
from kedge.specs import Spec

if TYPE_CHECKING:
    from kedge.models.store import ModelInfo


_MOST_PLAYOUTS = 10_000_000  # a tree takes some 3 kB of memory a playout


def make_player(spec: Spec | str, states: type) -> Player:
    """The agent that `spec` names, if it plays such states, and many at once."""
    agent = make_agent(spec)
    if not isinstance(agent, Player) or not plays(agent, states):
        game = states.__name__.removesuffix("State").lower()
        raise InputError(f"agent {spec}: does not play {game}; {game} and puct({game}, …) do")
    return agent


def add_model(name: str, path: str | Path) -> "ModelInfo":
    """Keep a copy of a weight file as the model `name`, if specs will reach it there."""
    from kedge.models import embedded, store

    if name in (*AGENTS.names(), *embedded.names()):
        whose = "an agent's" if name in AGENTS.names() else "a shipped model's"
        raise InputError(f"{name}: {whose} name, so no spec would reach the model; take another")
    return store.add(name, path)


def _anchored(name: str) -> Callable[..., Agent]:
    def make(
        anchor: Spec | str = "uniform",
        lam: float = 0.1,
        iterations: int | None = None,
        **diplomacy: Any,
    ) -> Agent:
        return _regret_agent(name, anchor, iterations, {"lam": lam}, diplomacy)

    return make


def _unanchored(name: str) -> Callable[..., Agent]:
    """Their anchor says what they play, and in Diplomacy which candidates they have."""

    def make(
        anchor: Spec | str = "uniform", iterations: int | None = None, **diplomacy: Any
    ) -> Agent:
        return _regret_agent(name, anchor, iterations, {}, diplomacy)

    return make


def _dil_pikl(
    anchor: Spec | str = "uniform",
    lambdas: str = "1e-4,1e-3,1e-2,1e-1",
    iterations: int | None = None,
    **diplomacy: Any,
) -> Agent:
    """`lambdas` is quoted, the λs between commas: ``dil-pikl(uniform, lambdas="0.1,1")``."""
    try:
        types = tuple(float(word) for word in str(lambdas).split(","))
    except ValueError:
        raise InputError(f'lambdas: such as "0.1,1", not {lambdas!r}') from None
    return _regret_agent("dil-pikl", anchor, iterations, {"lambdas": types}, diplomacy)


def _regret_agent(
    name: str,
    anchor: Spec | str,
    iterations: int | None,
    dial: dict[str, Any],
    diplomacy: dict[str, Any],
) -> Agent:
    """A regret minimiser for what its anchor plays; `diplomacy` are options of that game's."""
    from kedge.agents.diplomacy.players import ImitationAgent

    agent = make_agent(anchor)
    told = {} if iterations is None else {"iterations": iterations}
    if isinstance(agent, ImitationAgent):
        return diplomacy_specs.order_search(name, agent, dial, told | diplomacy)
    if not plays(agent, NormalFormState):
        raise InputError(
            f"anchor {anchor} does not play games in normal form, nor is it a model of Diplomacy"
        )
    for option in diplomacy:
        raise no_such(option, f"{name}({anchor}, …)", [*dial, "iterations"])
    return RegretAgent(agent, by_name(name, **dial), **told)


def _chess(elo: float = 1500.0, opponent: float | None = None, temperature: float = 1.0) -> Agent:
    """The model that ships with kedge, as a player of rating `elo` against `opponent`."""
    from kedge.agents.board.networks import rated_agent

    return rated_agent("chess", elo, opponent, temperature)


def _go(temperature: float = 1.0) -> Agent:
    """The model that ships with kedge: professionals from 1900 to 2014."""
    from kedge.agents.board.networks import network_agent

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
    from kedge.agents.board.networks import puct_agent

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


AGENTS.register("uniform", UniformAgent)
for _name in ("pikl-hedge", "mmd"):
    AGENTS.register(_name, _anchored(_name))
for _name in ("hedge", "rm", "rm+"):
    AGENTS.register(_name, _unanchored(_name))
AGENTS.register("dil-pikl", _dil_pikl)
AGENTS.register("chess", _chess)
AGENTS.register("go", _go)
AGENTS.register("puct", _puct)
for _name in ("diplomacy", "diplomacy-bots"):
    AGENTS.register(_name, diplomacy_specs.human(_name))
AGENTS.register("uniform-orders", diplomacy_specs.uniform_orders)
AGENTS.register("best-response", diplomacy_specs.named_search("best-response"))
AGENTS.register("searchbot", diplomacy_specs.named_search("rm", **diplomacy_specs.SEARCHBOT))
AGENTS.register("uniform-hanabi", hanabi_specs.uniform_hanabi)
AGENTS.register("conventions", hanabi_specs.conventions)
AGENTS.register("sparta", hanabi_specs.sparta)

__all__ = [
    "AGENTS",
    "Agent",
    "Analysis",
    "Player",
    "add_model",
    "make_agent",
    "make_diplomacy_player",
    "make_hanabi_player",
    "make_player",
]

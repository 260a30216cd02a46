"""Who plays: an anchor, a search and a dial, built from a spec.

>>> from kedge.games import load_game
>>> agent = make_agent("pikl-hedge(uniform, lambda=0.5)")
>>> agent.policy(load_game("rock-paper-scissors").initial_state(), 0).round(3)
array([0.333, 0.333, 0.333])
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.agents.agent import Agent, Analysis, Player, plays
from kedge.agents.normal_form import RegretAgent, UniformAgent
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormState
from kedge.search.regret.algorithms import by_name
from kedge.specs import Registry, Spec, parse, suggest

if TYPE_CHECKING:
    from kedge.agents.diplomacy import DiplomacyPlayer, ImitationAgent
    from kedge.agents.hanabi import HanabiPlayer
    from kedge.models.diplomacy import ValueModel
    from kedge.models.store import ModelInfo


_MOST_PLAYOUTS = 10_000_000  # a tree takes some 3 kB of memory a playout


def make_agent(spec: Spec | str) -> Agent:
    """The agent that `spec` names; its first positional argument is the anchor, itself a spec.

    A name that is no agent's is a model's, from the store or a path: it plays by itself.
    """
    if not isinstance(spec, Spec | str):
        raise InputError(f"agent: a spec such as uniform or pikl-hedge(uniform), not {spec!r}")
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


def make_hanabi_player(spec: Spec | str) -> "HanabiPlayer":
    """The agent that `spec` names, if it plays Hanabi."""
    from kedge.agents.hanabi import HanabiPlayer
    from kedge.games.hanabi import HanabiState

    agent = make_agent(spec)
    if not isinstance(agent, HanabiPlayer) or not plays(agent, HanabiState):
        raise InputError(f"agent {spec}: does not play hanabi; hanabi and sparta(hanabi, …) do")
    return agent


def add_model(name: str, path: str | Path) -> "ModelInfo":
    """Keep a copy of a weight file as the model `name`, if specs will reach it there."""
    from kedge.models import embedded, store

    if name in (*AGENTS.names(), *embedded.names()):
        whose = "an agent's" if name in AGENTS.names() else "a shipped model's"
        raise InputError(f"{name}: {whose} name, so no spec would reach the model; take another")
    return store.add(name, path)


def _model(name: str) -> Callable[..., Agent]:
    from kedge.models import embedded, store
    from kedge.models.diplomacy_network import DiplomacyWeights
    from kedge.models.diplomacy_values import ValueWeights
    from kedge.models.hanabi_network import BeliefWeights, PolicyWeights
    from kedge.models.named import load

    known = store.known_names()
    if name not in (*known, *embedded.names()) and not store.is_path(name):
        raise InputError(f"unknown agent {name!r}; {suggest(name, AGENTS.names() + known)}")
    weights = load(name)  # one that is not here, or damaged, is told of before its arguments
    if isinstance(weights, DiplomacyWeights):
        return _human_agent(name)
    if isinstance(weights, ValueWeights):
        raise InputError(
            f"{name}: says what positions of Diplomacy are worth, and orders nothing; "
            f"a search takes it, such as pikl-hedge(diplomacy, value={Spec(name)})"
        )
    if isinstance(weights, PolicyWeights):
        return _blueprint_agent(name)
    if isinstance(weights, BeliefWeights):
        raise InputError(
            f"{name}: says what hands of Hanabi may be, and plays nothing; "
            f"a search takes it, such as sparta(hanabi, belief={Spec(name)})"
        )

    def make(temperature: float = 1.0) -> Agent:
        from kedge.agents.networks import network_agent

        return network_agent(name, temperature)

    return make


#: Other packages add agents through entry points in the group ``kedge.agents``.
AGENTS: Registry[Agent] = Registry("agent", "kedge.agents", otherwise=_model)
AGENTS.register("uniform", UniformAgent)


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
    from kedge.agents.diplomacy import ImitationAgent

    agent = make_agent(anchor)
    told = {} if iterations is None else {"iterations": iterations}
    if isinstance(agent, ImitationAgent):
        return _order_search(name, agent, dial, told | diplomacy)
    if not plays(agent, NormalFormState):
        raise InputError(
            f"anchor {anchor} does not play games in normal form, nor is it a model of Diplomacy"
        )
    for option in diplomacy:
        raise _no_such(option, f"{name}({anchor}, …)", [*dial, "iterations"])
    return RegretAgent(agent, by_name(name, **dial), **told)


def _order_search(
    name: str, anchor: "ImitationAgent", dial: dict[str, Any], options: dict[str, Any]
) -> Agent:
    from kedge.agents.diplomacy import search_agent

    known = [*signature(search_agent).parameters][2:-1]
    for option in options.keys() - set(known):
        raise _no_such(option, f"{name} of Diplomacy", [*dial, *known])
    if (value := options.get("value")) is not None:
        options["value"] = _value_model(value)
    return search_agent(name, anchor, **dial, **options)


def _no_such(option: str, agent: str, known: list[str]) -> InputError:
    word, *words = ("lambda" if name == "lam" else name for name in (option, *known))
    return InputError(f"agent {agent}: has no parameter {word!r}; it takes {', '.join(words)}")


def _human_model(what: str, spec: Spec | str) -> "ImitationAgent":
    from kedge.agents.diplomacy import ImitationAgent

    agent = make_agent(spec)
    if not isinstance(agent, ImitationAgent):
        raise InputError(f"{what} {spec} is not a model of Diplomacy")
    return agent


def _value_model(spec: Spec | str) -> "ValueModel":
    """Of a network by its name or path; or what another human model goes by."""
    from kedge.agents.diplomacy_models import value_model
    from kedge.models import embedded

    plain = Spec(spec) if isinstance(spec, str) else spec
    if not isinstance(plain, Spec) or plain.args or plain.kwargs:
        raise InputError(f"value: the name of a model, or a path to one, not {spec}")
    if plain.name in AGENTS.names() and plain.name not in embedded.names():
        return _human_model("value", plain).value
    return value_model(plain.name)


def _named_search(name: str, **settings: Any) -> Callable[..., Agent]:
    def make(anchor: Spec | str = "diplomacy", **changes: Any) -> Agent:
        return _order_search(name, _human_model("anchor", anchor), {}, settings | changes)

    return make


def _human_agent(name: str) -> Callable[..., Agent]:
    def make(temperature: float = 1.0, top_p: float = 1.0) -> Agent:
        from kedge.agents.diplomacy_models import human_agent

        return human_agent(name, temperature, top_p)

    return make


def _blueprint_agent(name: str) -> Callable[..., Agent]:
    def make(temperature: float = 1.0, greedy: bool = False) -> Agent:
        from kedge.agents.hanabi_models import blueprint_agent

        return blueprint_agent(name, temperature, greedy=greedy)

    return make


def _uniform_orders(temperature: float = 1.0, top_p: float = 1.0) -> Agent:
    """Every legal order of Diplomacy alike; positions are worth their centres."""
    from kedge.agents.diplomacy import ImitationAgent
    from kedge.models.diplomacy_plain import CentreShares, UniformOrders

    return ImitationAgent(UniformOrders(), CentreShares(), temperature, top_p)


def _uniform_hanabi(temperature: float = 1.0, greedy: bool = False) -> Agent:
    """Every legal move of Hanabi alike, whatever the number of players."""
    from kedge.agents.hanabi import BlueprintAgent
    from kedge.games.hanabi import Hanabi
    from kedge.models.hanabi import UniformBlueprint

    actions = max(len(Hanabi(players).moves) for players in (2, 3, 4, 5))
    return BlueprintAgent(UniformBlueprint(actions), temperature, greedy=greedy)


def _conventions(greedy: bool = False) -> Agent:
    """A player of Hanabi by simple conventions, which needs no network; greedy or not, it is sure
    of what it does."""
    from kedge.agents.hanabi import BlueprintAgent
    from kedge.models.hanabi_conventions import ConventionsBlueprint

    return BlueprintAgent(ConventionsBlueprint(), greedy=greedy)


def _sparta(
    anchor: Spec | str = "conventions",
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
    """`anchor` is a blueprint of Hanabi, which the others are taken to play."""
    from kedge.agents.hanabi import BlueprintAgent
    from kedge.agents.hanabi_models import belief_over
    from kedge.agents.hanabi_search import SpartaAgent
    from kedge.search.sparta import Budget

    agent = make_agent(anchor)
    if not isinstance(agent, BlueprintAgent):
        raise InputError(f"anchor {anchor} is not a blueprint of Hanabi")
    name = (parse(anchor) if isinstance(anchor, str) else anchor).name
    told = belief.name if isinstance(belief, Spec) else belief
    return SpartaAgent(
        agent,
        belief_over(agent, name, told, greedy=greedy),
        lam=lam,
        budget=Budget(rollouts, str(allocation), stop),
        greedy=greedy,
        threshold=threshold,
        kl=kl,
        depth=depth,
    )


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
AGENTS.register("diplomacy", _human_agent("diplomacy"))
AGENTS.register("diplomacy-bots", _human_agent("diplomacy-bots"))
AGENTS.register("puct", _puct)
AGENTS.register("uniform-orders", _uniform_orders)
AGENTS.register("uniform-hanabi", _uniform_hanabi)
AGENTS.register("conventions", _conventions)
AGENTS.register("sparta", _sparta)
AGENTS.register("best-response", _named_search("best-response"))
# As Gray et al. (2021) have it.
SEARCHBOT = {"candidates": 50, "iterations": 256, "rollout": 2, "preset": "authors"}
AGENTS.register("searchbot", _named_search("rm", **SEARCHBOT))

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

"""Agents by name: those of kedge, of its games, and of other packages; players of a game.

The makers of the agents that several games share are at the end. A maker imports the agent's module
only when it is called, so that listing names is quick.
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from os.path import isfile
from typing import Any

from kedge import catalogue
from kedge.agents.agent import Agent, Player, PuctAnchor, plays
from kedge.errors import InputError
from kedge.specs import Spec, as_spec, build, number, whole

_MOST_PLAYOUTS = 10_000_000  # a tree takes about 3 kB of memory per playout


class UnknownAgentError(InputError):
    """No agent and no model has this name."""

    def __init__(self, name: str, entry: catalogue.GameEntry | None = None) -> None:
        super().__init__(f"unknown agent {name!r}; {_hint(name, entry)}")
        self.name = name


def make_player(spec: Spec | str, game: str) -> Any:
    """Return the `Player` that `spec` names; it must play `game`."""
    entry = catalogue.find(game, "state")
    try:
        agent = make_agent(spec)
    except UnknownAgentError as error:
        raise UnknownAgentError(error.name, entry) from None
    if _fits(agent, entry):
        return agent
    hint = ""
    if entry.has("dial"):
        ladder = entry.load("dial")
        hint = f"; {ladder.anchor} and {ladder.search}({ladder.anchor}, …) do"
    raise InputError(f"agent {spec}: does not play {game}{hint}")


def _fits(agent: Any, entry: catalogue.GameEntry) -> bool:
    """Whether `agent` is a player of the game."""
    kind: Any = entry.load("player") if entry.has("player") else Player
    return isinstance(agent, kind) and plays(agent, entry.load("state"))


def _hint(name: str, entry: catalogue.GameEntry | None) -> str:
    """Return the near agents and models, or where they are listed; only those of the game."""
    from kedge.models import named, store

    agents = AGENTS.names() if entry is None else _agents_of(entry)
    models = [
        model
        for model in get_close_matches(name, named.names(), n=9, cutoff=0.5)
        if entry is None or _game_of(model) == entry.name
    ]
    if isfile(name):
        return f"write ./{name} for the file"
    if near := get_close_matches(name, [*agents, *models], n=3, cutoff=0.5):
        return f"did you mean {' or '.join(near)}?"
    whose = "" if entry is None else f" of {entry.title}"
    return f"agents{whose}: {', '.join(agents)}; models: {store.LISTING}"


def _agents_of(entry: catalogue.GameEntry) -> list[str]:
    """Return the names of agents that may play a game, without models."""
    agents = {*AGENTS.names()} - {*_SHARED, *_games_agents()}  # registered and plugged in
    if entry.has("agents"):
        agents |= {*entry.load("agents")}
    if not entry.has("player"):
        agents.add("uniform")
    if entry.has("minimiser"):
        agents |= {*_SHARED} - {"uniform", "puct"}
    elif not entry.has("player"):
        agents.add("puct")
    return sorted(agents)


def _game_of(model: str) -> str | None:
    """Return the name of a model's game; None if it cannot be read."""
    from kedge.models import named

    for entry, downloads in catalogue.loaded("public").items():
        if model in downloads:
            return entry.name
    try:
        weights = named.find(model)
    except InputError:
        return None
    return None if weights is None else weights.game_name


def no_such(option: str, agent: str, known: list[str]) -> InputError:
    """Return the error for an `agent` that has no parameter `option`."""
    name, *names = ("lambda" if name == "lam" else name for name in (option, *known))
    return InputError(f"agent {agent}: has no parameter {name!r}; it takes {', '.join(names)}")


class _Agents:
    """Makers of agents by name.

    Another package adds one through an entry point in the group ``kedge.agents``: with
    ``mine = "theirs:make"`` kedge understands the agent ``mine(...)``.
    """

    def __init__(self) -> None:
        self._makers: dict[str, Callable[..., Agent]] = {}

    def register(self, name: str, maker: Callable[..., Agent]) -> None:
        """Add a maker in this process, before all others of that name."""
        self._makers[name] = maker

    def names(self) -> list[str]:
        """All known names, without those of models."""
        return sorted({*self._makers, *_SHARED, *_games_agents(), *_plugins()})

    def maker(self, name: str) -> Callable[..., Agent]:
        """Return the maker called `name`; the error for an unknown name suggests near ones."""
        shared = {**_SHARED, **self._makers}
        makers = shared if name in shared else _games_agents()  # which imports every game's
        if name in makers:
            return makers[name]
        if name in (plugins := _plugins()):
            return _loaded(plugins[name])
        return _model_maker(name)

    def make(self, spec: Spec | str) -> Agent:
        """Return the agent that `spec` names; its first positional argument is the anchor, a spec.

        A name that no agent has is the name or path of a model, which plays alone.
        """
        spec = as_spec("agent", spec)
        maker = self.maker(spec.name)
        return build("agent", maker, spec, getattr(maker, "advice", None))


AGENTS = _Agents()
make_agent = AGENTS.make


@cache
def _games_agents() -> Mapping[str, Callable[..., Agent]]:
    makers: dict[str, Callable[..., Agent]] = {}
    for table in catalogue.loaded("agents").values():
        makers |= table
    return makers


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="kedge.agents")}


def _loaded(plugin: EntryPoint) -> Callable[..., Agent]:
    try:
        maker: Callable[..., Agent] = plugin.load()
    except Exception as error:  # code of another package
        raise InputError(f"agent {plugin.name!r}: cannot load its plugin: {error}") from error
    return maker


def _model_maker(name: str) -> Callable[..., Agent]:
    """Return the maker of the agent that plays as the model `name`, whose weights it has loaded."""
    from kedge.models import named

    weights = named.find(name)
    if weights is None:
        raise UnknownAgentError(name)
    maker_of = catalogue.look_up("model_agents", weights.kind, weights.game_name)
    if maker_of is None:
        raise InputError(f"{name}: {weights.described}, for which kedge has no agent")
    maker: Callable[..., Agent] = maker_of(name, weights)
    return maker


def uniform() -> Agent:
    """Return the agent that plays every legal action with the same probability."""
    from kedge.agents.uniform import UniformAgent

    return UniformAgent()


def puct(
    anchor: Spec | str = catalogue.CHESS.name,
    *,
    c_puct: float = 2.0,
    playouts: int = 50,
    temperature: float = 1.0,
    constant_lambda: float = 0.0,
    value: Spec | str | None = None,
    batch: int = 1,
    gumbel: int = 0,
    forward_lambda: float = 0.0,
) -> Agent:
    """Return PUCT over `anchor`: a model, a quoted path to one, or an agent such as ``uniform``.

    The anchor's temperature sharpens the prior. `value` is a model that values the positions
    instead of the anchor.
    """
    from kedge.search.puct import Settings

    if isinstance(playouts, int) and playouts > _MOST_PLAYOUTS:
        raise InputError(f"playouts: at most {_MOST_PLAYOUTS:,}, not {playouts:,}")
    settings = Settings(
        c_puct=number("c_puct", c_puct),
        playouts=whole("playouts", playouts),
        constant_lambda=number("constant_lambda", constant_lambda),
        batch=whole("batch", batch),
        gumbel=whole("gumbel", gumbel),
    )
    searched = _agent_of("anchor", anchor)
    if not isinstance(searched, PuctAnchor):
        raise InputError(
            f"puct: cannot search over {anchor}; use a model of a board game, or uniform"
        )
    return searched.puct_search(
        None if value is None else _agent_of("value", value),
        settings,
        temperature=number("temperature", temperature),
        forward_lambda=number("forward_lambda", forward_lambda),
    )


def _agent_of(option: str, model: Spec | str) -> Agent:
    """Return the agent of puct's anchor or value; a quoted string is the path of a model."""
    spec = Spec(model) if isinstance(model, str) else model
    if not isinstance(spec, Spec):
        raise InputError(f"puct: its {option} must be a model, not {spec}")
    return make_agent(spec)


def _anchored(name: str) -> Callable[..., Agent]:
    def make(anchor: Spec | str = "uniform", *, lam: float = 0.1, **options: Any) -> Agent:
        return _minimiser(name, anchor, {"lam": lam}, options)

    return make


def _unanchored(name: str) -> Callable[..., Agent]:
    """Return the maker of a minimiser whose policy has no anchor.

    The spec's anchor still selects the game, and in Diplomacy the candidates.
    """

    def make(anchor: Spec | str = "uniform", **options: Any) -> Agent:
        return _minimiser(name, anchor, {}, options)

    return make


def dil_pikl(
    anchor: Spec | str = "uniform", *, lambdas: str = "1e-4,1e-3,1e-2,1e-1", **options: Any
) -> Agent:
    """Return DiL-piKL over `anchor`.

    `lambdas` is a quoted list, separated by commas: ``dil-pikl(uniform, lambdas="0.1,1")``.
    """
    try:
        types = tuple(float(word) for word in str(lambdas).split(","))
    except ValueError:
        raise InputError(f'lambdas: numbers such as "0.1,1", not {lambdas!r}') from None
    return _minimiser("dil-pikl", anchor, {"lambdas": types}, options)


def _minimiser(
    name: str, anchor: Spec | str, dial: dict[str, Any], options: dict[str, Any]
) -> Agent:
    """Return the regret minimiser called `name`, for the game that its anchor plays."""
    agent = make_agent(anchor)
    searchable = (entry for entry in catalogue.loaded("state") if entry.has("minimiser"))
    entry = next((entry for entry in searchable if _fits(agent, entry)), None)
    if entry is None:
        games = " or ".join(catalogue.names("minimiser"))
        raise InputError(
            f"anchor {anchor}: {name} does not search the game that it plays; use one of {games}"
        )
    minimiser: Agent = entry.load("minimiser")(agent, name, dial, options)
    return minimiser


_SHARED: Mapping[str, Callable[..., Agent]] = {
    "uniform": uniform,
    "puct": puct,
    **{name: _anchored(name) for name in ("pikl-hedge", "mmd")},
    **{name: _unanchored(name) for name in ("hedge", "rm", "rm+")},
    "dil-pikl": dil_pikl,
}

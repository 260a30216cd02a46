"""The catalogue of games: which there are, and where the parts of each are.

An entry holds dotted names (``"kedge.games.chess:Chess"``), which are resolved when they are asked
for. So the catalogue imports no room, and every room may ask it. Another package adds a game with
an entry point in the group ``kedge.games`` that names a `GameEntry`.

>>> [entry.title for entry in entries(part="review")]
['Chess', 'Go', 'Diplomacy', 'Hanabi']
>>> find("chess").load("state").__name__
'ChessState'
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from kedge.errors import InputError, LeftOutWarning
from kedge.specs import suggest

#: Other packages announce their games here.
GROUP = "kedge.games"
_MISSING = {
    "state": "no states of its own",
    "encoding": "no networks over planes",
    "forest": "no native forest",
    "models": "no networks of its own kind",
    "model_agents": "no models that play",
    "shipped": "no models in its package",
    "public": "no models to download",
    "records": "no reader of records",
    "agents": "no agents of its own",
    "player": "no player class of its own",
    "minimiser": "no regret minimisers",
    "predict": "no experiment that predicts people",
    "compete": "no experiment that compares agents",
    "policy": "no command that shows a decision",
    "train": "no trainer",
    "review": "no reviews",
    "page": "no page",
    "dial": "no dial",
}


@dataclass(frozen=True)
class GameEntry:
    """One game. A part that is None is a feature that the game does not have."""

    name: str
    """Names the game in specs, commands and addresses; also names its shipped model."""
    title: str
    game: str
    """Maker of the rules, from the arguments of a spec."""
    state: str | None = None
    """Class of the states."""
    encoding: str | None = None
    """`kedge.models.board.encoding.Encoding` of its planes."""
    forest: str | None = None
    """Native PUCT forest. Without one, PUCT runs in plain Python."""
    models: str | None = None
    """Parsers of its own kinds of networks, by kind: of an `OnnxFile`, by the ``network`` that its
    metadata names; and of bytes and a file's name, as ``lc0``. Networks over planes need none."""
    model_agents: str | None = None
    """Makers of agents by the `kind` of weights: each takes (name, weights) and returns the maker
    that a spec calls. It raises `InputError` if the model plays nothing, such as a belief model."""
    shipped: str | None = None
    """Folder of the models in its own package: ONNX files, each beside a card in JSON."""
    public: str | None = None
    """Models that ``kedge models pull`` downloads, by name: `kedge.models.store.PublicModel`."""
    records: str | None = None
    """`kedge.records.formats.RecordFormat`: reader, writer, sniffing."""
    agents: str | None = None
    """Makers of its agents, by spec name."""
    player: str | None = None
    """Class that its players must have, if the game needs more than the verbs of a `Player`."""
    minimiser: str | None = None
    """Makes a regret minimiser over one of the game's agents: (anchor, name, dial, options)."""
    predict: str | None = None
    """Experiment of ``kedge predict``."""
    compete: str | None = None
    """Experiment that compares agents, the command of `contest`."""
    contest: str = "match"
    """Command for `compete`: ``match``, ``tournament`` or ``selfplay``."""
    policy: str | None = "kedge.interfaces.commands.policy.any_game:any_game_policy"
    """Command of ``kedge policy``. The default suits games in which players move in turn."""
    train: str | None = None
    """Commands of ``kedge train``, by name."""
    review: str | None = None
    """`kedge.evaluation.review.Review`: reviews recorded games, and prints and writes reviews."""
    page: str | None = None
    """`PageGame`: the server's side of the page, with the name of its JavaScript module."""
    dial: str | None = None
    """`kedge.agents.ladder.Ladder`: the stops of the dial."""
    small: str | None = None
    """Spec of a short game, for tests; by default the name."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str | None):
                raise InputError(
                    f'game {self.name}: {field.name} must be text, "module:NAME", not {value!r}'
                )

    def has(self, part: str) -> bool:
        """Whether the game has this part."""
        return getattr(self, part) is not None

    def load(self, part: str) -> Any:
        """Import the object that `part` names; raise `InputError` if there is none.

        Any failure of another package's module is an `InputError`, too.
        """
        where = getattr(self, part)
        if where is None:
            raise InputError(f"{self.title} has {_MISSING[part]}")
        try:
            return load(where)
        except Exception as error:
            if self.is_built_in and not _is_missing(where, error):
                raise  # something that the module itself needs
            raise InputError(f"game {self.name}: {part} = {where!r}: {error}") from error

    def load_or_skip(self, part: str) -> Any | None:
        """Import `part` like `load`; if another package's part fails, warn and return None."""
        return _or_skip(self, lambda entry: entry.load(part))

    @property
    def is_built_in(self) -> bool:
        """Whether the game ships with kedge."""
        return self in _BUILT_IN


def _is_missing(where: str, error: Exception) -> bool:
    """Whether `error` says that the module or the object of a dotted name does not exist."""
    if not isinstance(error, ModuleNotFoundError | AttributeError):
        return False
    module, _, name = where.partition(":")
    return error.name == name or f"{module}.".startswith(f"{error.name}.")


CHESS = GameEntry(
    "chess",
    "Chess",
    game="kedge.games.chess:Chess",
    state="kedge.games.chess:ChessState",
    encoding="kedge.models.chess.encoding:CHESS",
    forest="kedge._core:ChessForest",
    models="kedge.models.chess.parsers:PARSERS",
    model_agents="kedge.agents.board.specs:MODEL_AGENTS",
    public="kedge.models.chess.maia:PUBLIC",
    records="kedge.records.chess.format:CHESS",
    predict="kedge.experiments.chess.predict:ChessPredict",
    compete="kedge.experiments.chess.match:ChessMatch",
    policy="kedge.interfaces.commands.policy.chess:chess_policy",
    train="kedge.interfaces.commands.train.chess:COMMANDS",
    review="kedge.interfaces.reviews.chess:CHESS",
    page="kedge.interfaces.web.pages.chess:ChessPage",
    dial="kedge.agents.chess.ladder:LADDER",
)
GO = GameEntry(
    "go",
    "Go",
    game="kedge.games.go:Go",
    state="kedge.games.go:GoState",
    encoding="kedge.models.go.encoding:GO",
    forest="kedge._core:GoForest",
    model_agents="kedge.agents.board.specs:MODEL_AGENTS",
    records="kedge.records.go.format:GO",
    predict="kedge.experiments.go.predict:GoPredict",
    compete="kedge.experiments.go.match:GoMatch",
    policy="kedge.interfaces.commands.policy.go:go_policy",
    train="kedge.interfaces.commands.train.go:COMMANDS",
    review="kedge.interfaces.reviews.go:GO",
    page="kedge.interfaces.web.pages.go:GoPage",
    dial="kedge.agents.go.ladder:LADDER",
    small="go(size=5)",
)
DIPLOMACY = GameEntry(
    "diplomacy",
    "Diplomacy",
    game="kedge.games.diplomacy:Diplomacy",
    state="kedge.games.diplomacy:DiplomacyState",
    models="kedge.models.diplomacy.parsers:PARSERS",
    model_agents="kedge.agents.diplomacy.specs:MODEL_AGENTS",
    records="kedge.records.diplomacy.format:DIPLOMACY",
    agents="kedge.agents.diplomacy.specs:AGENTS",
    player="kedge.agents.diplomacy.players:OrdersAgent",
    minimiser="kedge.agents.diplomacy.specs:order_search",
    predict="kedge.experiments.diplomacy.predict:DiplomacyPredict",
    compete="kedge.experiments.diplomacy.tournament:Tournament",
    contest="tournament",
    policy="kedge.interfaces.commands.policy.diplomacy:orders_policy",
    train="kedge.interfaces.commands.train.diplomacy:COMMANDS",
    review="kedge.interfaces.reviews.diplomacy:DIPLOMACY",
    page="kedge.interfaces.web.pages.diplomacy:DiplomacyPage",
    dial="kedge.agents.diplomacy.ladder:LADDER",
    small="diplomacy(last_year=1903)",
)
HANABI = GameEntry(
    "hanabi",
    "Hanabi",
    game="kedge.games.hanabi:Hanabi",
    state="kedge.games.hanabi:HanabiState",
    models="kedge.models.hanabi.parsers:PARSERS",
    model_agents="kedge.agents.hanabi.specs:MODEL_AGENTS",
    records="kedge.records.hanabi.format:HANABI",
    agents="kedge.agents.hanabi.specs:AGENTS",
    player="kedge.agents.hanabi.players:HanabiAgent",
    predict="kedge.experiments.hanabi.predict:HanabiPredict",
    compete="kedge.experiments.hanabi.selfplay:SelfPlay",
    contest="selfplay",
    policy="kedge.interfaces.commands.policy.hanabi:hanabi_policy",
    train="kedge.interfaces.commands.train.hanabi:COMMANDS",
    review="kedge.interfaces.reviews.hanabi:HANABI",
    page="kedge.interfaces.web.pages.hanabi:HanabiPage",
    dial="kedge.agents.hanabi.ladder:LADDER",
)
BLOTTO = GameEntry(
    "blotto",
    "Blotto",
    game="kedge.games.normal_form:blotto",
    state="kedge.games.normal_form:NormalFormState",
    minimiser="kedge.agents.normal_form.players:regret_search",
    policy=None,
    page="kedge.interfaces.web.pages.blotto:BlottoPage",
    dial="kedge.agents.normal_form.ladder:BLOTTO",
    small="blotto(coins=3, fields=3)",
)


def _normal_form(name: str, title: str, maker: str) -> GameEntry:
    home = "kedge.games.normal_form"
    state = f"{home}:NormalFormState"
    return GameEntry(name, title, game=f"{home}:{maker}", state=state, policy=None)


#: The games that ship with kedge, in the order in which lists show them.
_BUILT_IN = (
    CHESS,
    GO,
    DIPLOMACY,
    HANABI,
    BLOTTO,
    _normal_form("matching-pennies", "Matching pennies", "matching_pennies"),
    _normal_form("random", "Random game", "random_game"),
    _normal_form("rock-paper-scissors", "Rock-paper-scissors", "rock_paper_scissors"),
)


def load(where: str) -> Any:
    """Import the object that a dotted name means: ``"kedge.games.chess:Chess"``."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def entries(part: str | None = None) -> list[GameEntry]:
    """All games, built in and installed; with `part`, only those that have it."""
    games = (*_BUILT_IN, *_installed()[0])
    return [entry for entry in games if part is None or entry.has(part)]


def loaded(part: str, load: Callable[[GameEntry], Any] | None = None) -> dict[GameEntry, Any]:
    """Load `part` of all games that have it, with `load` if that is given.

    A package or a part of one that fails to load takes no other game with it: a warning names it,
    and its game is left out.
    """
    for failure in _installed()[1].values():
        _warn_left_out(failure)
    load = load or (lambda entry: entry.load(part))
    parts = {entry: _or_skip(entry, load) for entry in entries(part)}
    return {entry: value for entry, value in parts.items() if value is not None}


def _or_skip(entry: GameEntry, load: Callable[[GameEntry], Any]) -> Any | None:
    try:
        return load(entry)
    except InputError as error:
        if entry.is_built_in:
            raise
        _warn_left_out(str(error))
        return None


def _warn_left_out(reason: str) -> None:
    warnings.warn(f"{reason}; left out", LeftOutWarning, stacklevel=3)


def names(part: str | None = None) -> list[str]:
    """The games' names; with `part`, only of those that have it."""
    return [entry.name for entry in entries(part)]


def find(name: str, part: str | None = None) -> GameEntry:
    """Return the game called `name`, which must have `part` if that is given."""
    for entry in entries():
        if entry.name == name:
            if part is not None and not entry.has(part):
                having = ", ".join(names(part))
                raise InputError(f"{entry.title} has {_MISSING[part]}; these games do: {having}")
            return entry
    if name in (failures := _installed()[1]):
        raise InputError(failures[name])
    raise InputError(f"unknown game {name!r}; {suggest(str(name), names(part))}")


def look_up(part: str, key: str, game: str | None) -> Any:
    """Return what the table `part` of `game`, or else of another, has under `key`, or None."""
    for entry in sorted(entries(part), key=lambda entry: entry.name != game):
        # The table of the game itself must load.
        table = entry.load(part) if entry.name == game else entry.load_or_skip(part)
        if table is not None and key in table:
            return table[key]
    return None


def of_state(state: type) -> GameEntry:
    """Return the game whose states are of this class."""
    for kind in state.__mro__:
        for entry in entries():
            named = entry.state is not None and entry.state.rpartition(":")[2] == kind.__name__
            if named and entry.load_or_skip("state") is kind:
                return entry
    raise InputError(f"no game has states of the class {state.__name__}")


@cache
def _installed() -> tuple[Sequence[GameEntry], dict[str, str]]:
    """The entries of other packages, and why others could not be loaded, by name.

    A package that fails takes no other game with it, and cannot replace a built-in game.
    """
    taken = {entry.name for entry in _BUILT_IN}
    loaded, failures = [], {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name in taken:
            continue
        try:
            loaded.append(_entry(point))
        except Exception as error:  # code of another package
            failures[point.name] = f"game {point.name!r}: its package fails to load: {error}"
    return loaded, failures


def _entry(point: EntryPoint) -> GameEntry:
    """Load an entry. A maker of rules, which packages used to announce, has no other part."""
    entry = point.load()
    if not isinstance(entry, GameEntry):
        return GameEntry(point.name, point.name, game=point.value)
    if entry.name != point.name:
        raise ValueError(f"its entry is called {entry.name!r}")
    return entry

"""A chess player that thinks under limits, for protocols to talk to; it knows none of them."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.engine import Choice, Control, Limits, Thought, choose, think
from kedge.agents.move_times import PEOPLE, entropies, features, just_taken
from kedge.agents.networks import network, split_network
from kedge.agents.puct import PuctAgent, Search, check_temperature
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState, encode
from kedge.models.backends import Network
from kedge.models.mixture import MixedNetwork
from kedge.models.store import stored_names
from kedge.regularize import Array
from kedge.search.puct import Settings

_PLAYOUT_BYTES = 3000  # of tree: some 35 moves of 48 bytes each, and what growing takes
_QUICKEST = 0.15  # seconds that people take, premoves aside


@dataclass(frozen=True)
class Options:
    """How an `Engine` plays."""

    model: str | None = None
    """A stored model, a path, or the one that ships with kedge, which None is too."""
    elo: int | None = None
    """Play as people of this rating do, whatever the model: see `choose_models`."""
    value_model: str | None = None
    """Another that says what positions are worth; None for the same."""
    c_puct: float = 2.0
    playouts: int = 50
    """A move, when it plays by the clock or without limits; 0 leaves it to the clock."""
    temperature: float = 1.0
    prior_temperature: float = 1.0
    top_p: float = 1.0
    """Only the likeliest moves that together have this share are played."""
    human_time: bool = False
    overhead: float = 0.03
    """Seconds that are lost between the engine and the clock."""
    threads: int = 1
    batch: int = 1
    """Leaves that wait for the network together."""
    reuse_tree: bool = False
    """Keep of the last search what is below the moves made since."""
    memory: int = 1024
    """MB that the tree may take."""

    def __post_init__(self) -> None:
        Settings(c_puct=self.c_puct, batch=self.batch)
        check_temperature(self.temperature)
        check_temperature(self.prior_temperature)
        if self.prior_temperature == 0.0:
            raise InputError("prior temperature: above 0")
        if not 0.0 < self.top_p <= 1.0:
            raise InputError(f"top p: above 0, at most 1, not {self.top_p:g}")


class Engine:
    """A position, and how to play it. Only `think` may run while another thread asks."""

    def __init__(self) -> None:
        self.options = Options()
        self.state = ChessState()
        self._rng = np.random.default_rng()
        self._longest = 0.0  # seconds that a clock has shown in this game
        self._start = START_FEN  # of the game
        self._network: Network | None = None
        self._key: tuple[object, ...] = ()  # of that network
        self._playing = ""  # what it is, in words
        self._last: tuple[str, Search] | None = None  # where its game started, if it is to be kept

    def seed(self, seed: int | None) -> None:
        """Of the moves that are drawn from here on."""
        self._rng = np.random.default_rng(seed)

    def new_game(self) -> None:
        """From the start, with another clock."""
        self.state, self._start, self._longest, self._last = ChessState(), START_FEN, 0.0, None

    def set_position(self, fen: str | None, moves: Iterable[str] = ()) -> None:
        """The legal start of `moves` is kept when the rest is bad, and the `InputError` raised."""
        start = START_FEN if fen is None else fen
        self.state, self._start = ChessState.from_fen(start), start
        for number, text in enumerate(moves, 1):
            try:
                action = self.state.parse_uci(text)
            except InputError as error:
                raise InputError(f"move {number}: {error}") from None
            self.state.board.push(action)
            self.state.history.append(action)

    def load(self) -> str | None:
        """Have the network ready; says which it is if it was not.

        When it cannot be had, the last one stays, or the shipped one comes, and the error says so:
        a game cannot do without a move.
        """
        try:
            return self._load(self.options)
        except Exception as error:
            if self._network is None:
                self._load(replace(self.options, model=SHIPPED, value_model=None))
            raise InputError(f"{error}; meanwhile it {self._playing}") from error

    def _load(self, options: Options) -> str | None:
        names, share = choose_models(options)
        judge = options.value_model or names[0]
        key = (*names, share, options.value_model, options.threads)
        # Shared out: a network's threads spin on while the other computes.
        threads = max(1, options.threads // len({*names, judge}))
        first, *others = [network(name, threads) for name in names]
        prior = MixedNetwork(first, others[0], share) if others else first
        value = network(judge, threads) if options.value_model else prior
        was, self._key = self._key, key
        self._network = split_network(prior, value)
        weights = f", {share:.0%} of the latter" if others else ""
        judged = f"; {judge} says what positions are worth" if options.value_model else ""
        self._playing = f"plays {' and '.join(names)}{weights}{judged}"
        if was == key:
            return None
        model = options.model
        passed = model is not None and model not in names and not _is_shipped(model)
        return f"by rating, not with {model}: {self._playing}" if passed else self._playing

    def think(self, limits: Limits, control: Control) -> Iterator[Thought]:
        """A thought after every batch of playouts: see `kedge.agents.engine.think`."""
        options = self.options
        assert self._network is not None, "load first"
        most = max(1, options.memory * 1_000_000 // _PLAYOUT_BYTES)
        agent = PuctAgent(
            self._network,
            Settings(options.c_puct, most, batch=options.batch),
            options.temperature,
            options.prior_temperature,
            threads=1,
        )
        search = self._continued(agent, limits) or Search(agent, self.state, limits.only)
        self._last = (self._start, search) if options.reuse_tree and not limits.only else None
        self._longest = max(self._longest, limits.remaining or 0.0)
        as_people = options.human_time and limits.remaining is not None
        return think(
            search,
            limits,
            control,
            playouts=limits.wanted(options.playouts, most),
            overhead=options.overhead,
            pause=(lambda found: self._pause(found, limits)) if as_people else None,
        )

    def _pause(self, found: Analysis, limits: Limits) -> float:
        """Seconds that people take, and that the clock has."""
        wait = human_seconds(found.anchor, self.state, limits, self._longest, self._rng)
        return min(wait, max(0.0, (limits.remaining or 0.0) - self.options.overhead))

    def _continued(self, agent: PuctAgent, limits: Limits) -> Search | None:
        """The last search, if it was by the same agent and at most two moves were made since."""
        start, search = self._last or ("", None)
        if search is None or limits.only or (start, search.agent) != (self._start, agent):
            return None
        known, history = search.state.history, self.state.history
        if history[: len(known)] != known or len(history) > len(known) + 2:
            return None
        for action in history[len(known) :]:
            search.advance(action)
        return search

    def choose(self, found: Analysis, *, best: bool = False) -> Choice:
        """A move drawn from the policy; the `best` one if so asked."""
        actions = self.state.board.legal_actions()
        return choose(found, actions, self._rng, top_p=self.options.top_p, best=best)

    def any_move(self, only: tuple[int, ...] | None = None) -> Choice | None:
        """Some legal move, for when there is nobody to ask; None when the game is over."""
        actions = list(only or self.state.board.legal_actions())
        return Choice(actions[int(self._rng.integers(len(actions)))]) if actions else None


SHIPPED = "chess"


def rated_models() -> dict[int, str]:
    """The stored Maias, by the rating of the people they play like."""
    names = (name for name in stored_names() if re.fullmatch(r"maia-\d{3,4}", name))
    return {int(name.removeprefix("maia-")): name for name in names}


def choose_models(options: Options) -> tuple[list[str], float]:
    """The models to play with, one or two, and the share of the second.

    A rating counts before a model that is named. The stored Maias on both sides of it play it,
    mixed by how near it is to each, or the one that meets it. Elsewhere, and where it is the one
    that is named, the model that ships with kedge is told the rating: it knows every one.
    """
    elo = options.elo
    if elo is None:
        return [options.model or SHIPPED], 0.0
    rated = {} if _is_shipped(options.model) else rated_models()
    below = max((rating for rating in rated if rating <= elo), default=None)
    above = min((rating for rating in rated if rating >= elo), default=None)
    if below is None or above is None:
        return [f"{SHIPPED}(elo={elo:g})"], 0.0
    if below == above:
        return [rated[below]], 0.0
    return [rated[below], rated[above]], (elo - below) / (above - below)


def _is_shipped(model: str | None) -> bool:
    return model is not None and model.partition("(")[0].strip() == SHIPPED


def human_seconds(
    anchor: Array, state: ChessState, limits: Limits, longest: float, rng: np.random.Generator
) -> float:
    """How long to take for a move, drawn as people's times are spread (see `move_times`).

    `longest` is the most that the clock has shown. At most a tenth of the clock is taken, which
    people go beyond at times, and lose on time.
    """
    remaining = limits.remaining or 0.0
    planes, _ = encode([state])
    centre = PEOPLE.log_seconds(
        features(
            remaining=remaining,
            longest=longest,
            increment=limits.increment,
            ply=2 * (int(state.fen().split()[-1]) - 1) + state.board.player(),
            entropy=entropies(anchor),
            taken=just_taken(planes)[0],
            moves_to_go=limits.moves_to_go,
        )
    )
    seconds = math.exp(float(centre) + PEOPLE.spread * rng.standard_normal())
    return min(max(seconds, _QUICKEST), remaining / 10)

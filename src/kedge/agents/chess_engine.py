"""A chess player that thinks under limits, for protocols to talk to; it knows none of them."""

import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.chess import PuctAgent, Search, check_temperature
from kedge.agents.move_times import PEOPLE, entropies, features, just_taken
from kedge.agents.networks import network, split_network
from kedge.agents.normal_form import draw
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState, encode
from kedge.models.backends import Network
from kedge.models.mixture import MixedNetwork
from kedge.models.store import stored_names
from kedge.regularize import Array
from kedge.search.puct import Settings

_PLAYOUT_BYTES = 3000  # of tree: some 35 moves of 48 bytes each, and what growing takes
_QUICKEST = 0.15  # seconds that people take, premoves aside
_DEPTH_PLAYOUTS = 50  # that stand for a half-move of depth


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


@dataclass(frozen=True)
class Limits:
    """How long to think about a move: the first of these that is reached ends it."""

    playouts: int | None = None
    seconds: float | None = None
    remaining: float | None = None
    """Seconds on the mover's clock."""
    increment: float = 0.0
    moves_to_go: int | None = None
    depth: int | None = None
    """Half-moves to look ahead. A search by playouts knows none, and makes 50 for each where
    nothing else says how many."""
    infinite: bool = False
    """Until stopped, whatever else is said."""
    only: tuple[int, ...] | None = None
    """The only moves to think of."""


class Control:
    """Through which another thread ends thinking, or turns pondering into thinking."""

    def __init__(self, *, pondering: bool = False) -> None:
        self.stopped = False
        self.pondering = pondering
        self._changed = threading.Condition()
        self._start = self._begun = perf_counter()

    def stop(self) -> None:
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def ponderhit(self) -> None:
        with self._changed:
            if self.pondering:
                self.pondering, self._start = False, perf_counter()
                self._changed.notify_all()

    def wait_until(self, done: Callable[[], bool], seconds: float | None = None) -> None:
        """Until stopped, `done`, or `seconds` have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or done(), seconds)

    @property
    def clock(self) -> float:
        """Seconds on our own clock: since the start, or since the move that was pondered."""
        return perf_counter() - self._start

    @property
    def seconds(self) -> float:
        """Since the start."""
        return perf_counter() - self._begun


@dataclass(frozen=True)
class Thought:
    """What is known after some playouts; `analysis` takes its time to tell."""

    analysis: Callable[[], Analysis]
    playouts: int
    seconds: float
    kept: int = 0
    """Playouts of those that an earlier search made."""


@dataclass(frozen=True)
class Choice:
    """The move to play, and the reply that is expected."""

    action: int
    reply: int | None = None


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
        """A thought after every batch of playouts, until `limits` or `control` end it.

        It ends no earlier than the move is to be played: in pondering, in infinite analysis and
        in waiting as people do, it goes on without new thoughts.
        """
        options = self.options
        assert self._network is not None, "load first"
        most = max(1, options.memory * 1_000_000 // _PLAYOUT_BYTES)
        wanted = limits.playouts or options.playouts or _DEPTH_PLAYOUTS * (limits.depth or 0)
        if limits.infinite or (limits.seconds is not None and limits.playouts is None):
            wanted = most
        agent = PuctAgent(
            self._network,
            Settings(options.c_puct, most, batch=options.batch),
            options.temperature,
            options.prior_temperature,
            threads=1,
        )
        search = self._continued(agent, limits) or Search(agent, self.state, limits.only)
        self._last = (self._start, search) if options.reuse_tree and not limits.only else None
        kept = search.playouts
        enough = _seconds(limits, options.overhead)
        self._longest = max(self._longest, limits.remaining or 0.0)
        wait = None
        for playouts in search.run(min(wanted or most, most)):
            if wait is None and options.human_time and limits.remaining is not None:
                anchor = search.analysis().anchor
                wait = human_seconds(anchor, self.state, limits, self._longest, self._rng)
                wait = min(wait, max(0.0, limits.remaining - options.overhead))
            yield Thought(search.analysis, playouts, control.seconds, kept)
            late = enough is not None and not control.pondering and control.clock >= enough
            if control.stopped or (late and not limits.infinite):
                break
        control.wait_until(lambda: not (control.pondering or limits.infinite))
        if wait is not None and wait > control.clock:
            control.wait_until(lambda: False, wait - control.clock)

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
        policy = nucleus(found.policy, self.options.top_p, found.anchor)
        index = found.top1 if best else draw(policy, self._rng)
        line = found.lines[index] if found.lines else [actions[index]]
        return Choice(actions[index], line[1] if len(line) > 1 else None)

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


def nucleus(policy: Array, top_p: float, anchor: Array) -> Array:
    """The likeliest actions that together have `top_p`, at least one; normalised.

    Of those that are alike the anchor's come first, as in a search's order.
    """
    if top_p >= 1.0:
        return policy
    order = np.lexsort((-anchor, -policy))
    before = np.cumsum(policy[order]) - policy[order]
    kept = np.zeros_like(policy)
    chosen = order[(before < top_p) & (policy[order] > 0.0)]
    kept[chosen] = policy[chosen]
    return np.asarray(kept / kept.sum())


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


def _seconds(limits: Limits, overhead: float) -> float | None:
    """When to stop searching, in seconds on our clock; None for never."""
    found = None
    if limits.remaining is not None:
        share = limits.remaining / max(2, min(30, limits.moves_to_go or 30))
        found = min(share + 0.8 * limits.increment, 0.8 * limits.remaining) - overhead
    if limits.seconds is not None:
        own = limits.seconds - min(overhead, limits.seconds / 4)
        found = own if found is None else min(found, own)
    return found

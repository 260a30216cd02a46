"""A position and the models that play it, for the engines of each game."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Choice, Control, Limits, Thought, choose, think
from kedge.agents.board.networks import computing_on, network
from kedge.agents.board.puct import PuctAgent, Search, check_temperature, split_network
from kedge.errors import InputError
from kedge.models.board.backends import Dtype, Network
from kedge.models.board.mixture import MixedNetwork
from kedge.search.puct import Settings


@dataclass(frozen=True)
class Options:
    """How a `ModelEngine` plays."""

    model: str | None = None
    """A stored model, a path, or the one that ships with kedge, which None is too."""
    value_model: str | None = None
    """Another that says what positions are worth; None for the same."""
    c_puct: float = 2.0
    playouts: int = 50
    """A move, when it plays by the clock or without limits; 0 leaves it to the clock."""
    temperature: float = 1.0
    prior_temperature: float = 1.0
    top_p: float = 1.0
    """Only the likeliest moves that together have this share are played."""
    overhead: float = 0.03
    """Seconds that are lost between the engine and the clock."""
    device: str = "cpu"
    dtype: Dtype = "float32"
    """Where the network computes, and in what: see `kedge.agents.board.networks.computing_on`."""
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


class ModelEngine:
    """A position, and how to play it. Only `think` may run while another thread asks."""

    shipped: ClassVar[str]
    """The model that ships with kedge, which is named after the game."""
    playout_bytes: ClassVar[int]
    """Of tree: 48 a move, and what growing takes."""
    options: Options
    state: Any

    def __init__(self) -> None:
        self._rng = np.random.default_rng()
        self._start: object = None  # of the game
        self._network: Network | None = None
        self._key: tuple[object, ...] = ()  # of that network
        self._playing = ""  # what it is, in words
        self._last: tuple[object, Search] | None = None  # where its game started, if it is kept

    def seed(self, seed: int | None) -> None:
        """Of the moves that are drawn from here on."""
        self._rng = np.random.default_rng(seed)

    def models(self, options: Any) -> tuple[list[str], float]:
        """The models to play with, one or two, and the share of the second."""
        return [options.model or self.shipped], 0.0

    def load(self) -> str | None:
        """Have the network ready; says which it is if it was not. The last one stays if not."""
        return self._load(self.options)

    def _load(self, options: Options) -> str | None:
        names, share = self.models(options)
        judge = options.value_model or names[0]
        where = (options.device, options.dtype)
        key = (*names, share, options.value_model, options.threads, *where)
        # Shared out: a network's threads spin on while the other computes.
        threads = max(1, options.threads // len({*names, judge}))
        with computing_on(*where):
            first, *others = [self._loaded(name, threads) for name in names]
            prior = MixedNetwork(first, others[0], share) if others else first
            value = self._loaded(judge, threads) if options.value_model else prior
        network = split_network(prior, value)
        network.on(getattr(self.state, "size", network.encoding.side))  # or it says that it cannot
        was, self._key = self._key, key
        self._network = network
        weights = f", {share:.0%} of the latter" if others else ""
        judged = f"; {judge} says what positions are worth" if options.value_model else ""
        self._playing = f"plays {' and '.join(names)}{weights}{judged}"
        return None if was == key else self._playing

    def _loaded(self, name: str, threads: int) -> Network:
        found = network(name, threads)
        if found.encoding.game != self.shipped:
            raise InputError(f"{name}: a model of {found.encoding.game}, not of {self.shipped}")
        return found

    def think(self, limits: Limits, control: Control) -> Iterator[Thought]:
        """A thought after every batch of playouts: see `kedge.agents.board.engine.think`."""
        return self._think(limits, control)

    def _think(
        self,
        limits: Limits,
        control: Control,
        pause: Callable[[Analysis], float] | None = None,
    ) -> Iterator[Thought]:
        options = self.options
        assert self._network is not None, "load first"
        most = max(1, options.memory * 1_000_000 // self.playout_bytes)
        agent = PuctAgent(
            self._network,
            Settings(options.c_puct, most, batch=options.batch),
            options.temperature,
            options.prior_temperature,
            threads=1,
        ).on_board_of(self.state)
        search = self._continued(agent, limits) or Search(agent, self.state, limits.only)
        self._last = (self._start, search) if options.reuse_tree and not limits.only else None
        return think(
            search,
            limits,
            control,
            playouts=limits.wanted(options.playouts, most),
            overhead=options.overhead,
            pause=pause,
        )

    def _continued(self, agent: PuctAgent, limits: Limits) -> Search | None:
        """The last search, if it was by the same agent and at most two moves were made since."""
        start, search = self._last or (None, None)
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

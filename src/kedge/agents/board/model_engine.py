"""The part of an engine that all board games share: a position, and models that play it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Choice, Control, Limits, Progress, choose, think
from kedge.agents.board.networks import network
from kedge.agents.board.puct import PuctAgent, Search, check_temperature, split_network
from kedge.agents.devices import computing_on
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.models.board.mixture import MixedNetwork
from kedge.models.devices import Dtype
from kedge.search.puct import Settings


@dataclass(frozen=True)
class Options:
    """Options of a `ModelEngine`."""

    model: str | None = None
    """Name or path of a model; None for the shipped one."""
    value_model: str | None = None
    """Model that values positions; None for `model`."""
    c_puct: float = 2.0
    playouts: int = 50
    """Playouts per move with a clock or without limits; 0 leaves the number to the clock."""
    temperature: float = 1.0
    prior_temperature: float = 1.0
    top_p: float = 1.0
    """Share of the policy from which moves are drawn: the likeliest moves."""
    overhead: float = 0.03
    """Seconds lost between the engine and the clock."""
    device: str = "cpu"
    """Device of the network: see `kedge.agents.devices.computing_on`."""
    dtype: Dtype = "float32"
    """Number type of the network."""
    threads: int = 1
    batch: int = 1
    """Leaves per batch of the network."""
    reuse_tree: bool = False
    """Whether to keep the part of the last tree below the moves made since."""
    memory: int = 1024
    """Most memory of the tree, in MB."""

    def __post_init__(self) -> None:
        Settings(c_puct=self.c_puct, batch=self.batch)
        check_temperature(self.temperature)
        check_temperature(self.prior_temperature)
        if self.prior_temperature == 0.0:
            raise InputError("prior temperature: must be above 0")
        if not 0.0 < self.top_p <= 1.0:
            raise InputError(f"top p: above 0 and at most 1, not {self.top_p:g}")


class ModelEngine:
    """A position, and models that play it. Only `think` may run while another thread calls."""

    shipped: ClassVar[str]
    """Name of the shipped model, and of the game."""
    playout_bytes: ClassVar[int]
    """Estimated tree memory per playout, in bytes: 48 per move, and room to grow."""
    options: Options
    state: Any

    def __init__(self) -> None:
        self._rng = np.random.default_rng()
        self._start: object = None  # start position of the game
        self._network: Network | None = None
        self._key: tuple[object, ...] = ()  # identifies the network
        self._playing = ""  # describes the network
        self._last: tuple[object, Search] | None = None  # kept search, and its game's start

    def seed(self, seed: int | None) -> None:
        """Seed the draws of moves from here on."""
        self._rng = np.random.default_rng(seed)

    def models(self, options: Any) -> tuple[list[str], float]:
        """Return the models to play with, one or two, and the share of the second."""
        return [options.model or self.shipped], 0.0

    def load(self) -> str | None:
        """Load the network and return its description; None if it is loaded already.

        On an error the last network stays.
        """
        return self._load(self.options)

    def _load(self, options: Options) -> str | None:
        names, share = self.models(options)
        judge = options.value_model or names[0]
        where = (options.device, options.dtype)
        key = (*names, share, options.value_model, options.threads, *where)
        # Networks share the threads: those of one spin while another computes.
        threads = max(1, options.threads // len({*names, judge}))
        with computing_on(*where):
            first, *others = [self._loaded(name, threads) for name in names]
            prior = MixedNetwork(first, others[0], share) if others else first
            value = self._loaded(judge, threads) if options.value_model else prior
        network = split_network(prior, value)
        network.on(getattr(self.state, "size", network.encoding.side))  # raises if it cannot
        old_key, self._key = self._key, key
        self._network = network
        weights = f", {share:.0%} of the latter" if others else ""
        values = f"; {judge} values positions" if options.value_model else ""
        self._playing = f"plays {' and '.join(names)}{weights}{values}"
        return None if old_key == key else self._playing

    def _loaded(self, name: str, threads: int) -> Network:
        loaded = network(name, threads)
        if loaded.encoding.game != self.shipped:
            raise InputError(f"{name} is a model of {loaded.encoding.game}, not of {self.shipped}")
        return loaded

    def think(self, limits: Limits, control: Control) -> Iterator[Progress]:
        """Report progress after every batch: see `kedge.agents.board.engine.think`."""
        return self._think(limits, control)

    def _think(
        self,
        limits: Limits,
        control: Control,
        pause: Callable[[Analysis], float] | None = None,
    ) -> Iterator[Progress]:
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
        """Return the last search, if the agent is the same and at most two moves were made."""
        start, search = self._last or (None, None)
        if search is None or limits.only or (start, search.agent) != (self._start, agent):
            return None
        known, history = search.state.history, self.state.history
        if history[: len(known)] != known or len(history) > len(known) + 2:
            return None
        for action in history[len(known) :]:
            search.advance(action)
        return search

    def choose(self, analysis: Analysis, *, best: bool = False) -> Choice:
        """Draw a move from the policy; with `best`, take the first choice."""
        actions = self.state.board.legal_actions()
        return choose(analysis, actions, self._rng, top_p=self.options.top_p, best=best)

    def any_move(self, only: tuple[int, ...] | None = None) -> Choice | None:
        """Draw any legal move, for when there is no network; None when the game is over."""
        actions = list(only or self.state.board.legal_actions())
        return Choice(actions[int(self._rng.integers(len(actions)))]) if actions else None

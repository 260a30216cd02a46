"""Agents of a network: a human model alone, and PUCT over it."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import monotonic
from typing import Any, Self

import numpy as np

from kedge import _core
from kedge.agents.agent import Analysis, BasePlayer
from kedge.agents.board.analysis import PuctPlayer, analysis_of
from kedge.agents.board.grove import Grove, allowed_moves, check_not_over
from kedge.catalogue import GameEntry, find
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.models.board.lanes import NetworkLane, batch_size, open_lane, open_lanes
from kedge.models.board.mixture import SplitNetwork
from kedge.search.puct import (
    ForestLane,
    SearchResult,
    Settings,
    evaluate_leaves,
    root_result,
    search_chunks,
    search_many,
)

_EVERY = 0.1  # seconds between two analyses of a search


class ModelAgent(BasePlayer[Any]):
    """A network, and a search over it, which may be one evaluation of the root."""

    shares_network = True
    network: Network
    settings: Settings
    temperature: float
    prior_temperature: float
    threads: int

    @abstractmethod
    def analysis(self, result: SearchResult) -> Analysis:
        """Return the result of a search as this agent plays it."""

    @cached_property
    def states(self) -> type:
        """The class of states that it plays."""
        states: type = self._entry.load("state")
        return states

    @cached_property
    def _entry(self) -> GameEntry:
        return find(self.network.encoding.game)

    @property
    def batch_size(self) -> int:
        """Number of states per chunk that uses the device best."""
        return max(1, batch_size(self.network) // self.settings.batch)

    def analyse_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Analyse each state as if it were alone, while the network sees full batches.

        Searches draw nothing, so `rng` has no effect.
        """
        if not questions:
            return []
        agent = self.on_board_of(questions[0])
        boards = agent._boards(questions)
        size = min(agent.batch_size, len(boards))
        chunks = [boards[first : first + size] for first in range(0, len(boards), size)]
        lanes = agent._lanes(size, len(chunks))
        analyses = search_chunks(lanes, chunks, self.settings, self.analysis)
        return [chunk[row] for chunk in analyses for row in range(len(chunk.policy))]

    def explain_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Analyse each state, with the line that is expected after each move. This takes longer."""
        if not questions:
            return []
        agent = self.on_board_of(questions[0])
        boards = agent._boards(questions)
        rows = len(boards) * agent.settings.batch
        forest, evaluate = agent._forest_on(open_lane(agent.network, rows))
        results = search_many(forest, boards, evaluate, self.settings)
        return [self.analysis(result) for result in results]

    def analyse_chunks(self, chunks: Iterable[Sequence[Any]]) -> Iterator[Analysis]:
        """Yield one analysis per chunk of at most `batch_size` boards."""
        lanes = self._lanes(self.batch_size)
        return search_chunks(lanes, self._checked(chunks), self.settings, self.analysis)

    def grove(self, rows: int) -> Grove:
        """Return a grove over the network, without trees yet; `rows` leaves may wait."""
        return Grove(*self._forest_on(open_lane(self.network, rows)))

    def on_board_of(self, state: Any) -> Self:
        """Return this agent with its network for boards of the state's size."""
        self._check_game(state)
        side = self.network.encoding.side
        size = getattr(state, "size", side)
        return self if size == side else replace(self, network=self.network.on(size))  # type: ignore[type-var]

    def _check_game(self, state: Any) -> None:
        """Raise an `InputError` if `state` is of another game."""
        kind: Any = type(state)
        if kind is not self.states:
            game = self.network.encoding.game
            raise InputError(f"agent plays {game}, not states of the class {kind.__name__}")

    def _check_size(self, board: Any) -> None:
        """Raise an `InputError` if the network is for boards of another size."""
        side = self.network.encoding.side
        size = getattr(board, "size", side)
        if size != side:
            raise InputError(f"boards of {side}×{side} and {size}×{size}: use one size per call")

    def _boards(self, states: Sequence[Any]) -> list[Any]:
        """Return the native boards of states that this agent can play."""
        for state in states:
            self._check_game(state)
            self._check_size(state.board)
            check_not_over(state.board)
        return [state.board for state in states]

    def _checked(self, chunks: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Yield the chunks; raise an `InputError` at a board of another size."""
        for boards in chunks:
            for board in boards:
                self._check_size(board)
            yield boards

    def _lanes(
        self, trees: int, most: int | None = None
    ) -> "list[ForestLane[_core.EncodingForest]]":
        rows = trees * self.settings.batch
        return [self._forest_on(lane) for lane in open_lanes(self.network, rows, most)]

    def _forest_on(self, lane: NetworkLane) -> "ForestLane[_core.EncodingForest]":
        """Return a new forest, and what evaluates its leaves on `lane`."""
        forest: _core.EncodingForest = self._entry.load("forest")(self.threads)
        return forest, partial(evaluate_leaves, lane=lane, temperature=self.prior_temperature)


@dataclass(frozen=True)
class NetworkAgent(ModelAgent):
    """Plays what the network says people play: no search."""

    network: Network
    temperature: float = 1.0
    threads: int = 0
    imitates_people: bool = True

    settings = Settings(playouts=1)
    prior_temperature = 1.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def puct_search(self, value: Any, settings: Settings, **options: Any) -> "PuctAgent":
        """Return PUCT over this network, whose temperature becomes the prior's.

        With `value`, that agent's network values the positions.
        """
        if value is not None and not isinstance(value, NetworkAgent):
            raise InputError("puct: value= takes a model, such as maia-1900 or a quoted path")
        return PuctAgent(
            self.network if value is None else split_network(self.network, value.network),
            settings,
            prior_temperature=self.temperature,
            threads=self.threads,
            imitates_people=self.imitates_people,
            **options,
        )

    def analysis(self, result: SearchResult) -> Analysis:
        policy = result.policy(self.temperature)
        return analysis_of(result, policy, policy)


@dataclass(frozen=True)
class PuctAgent(PuctPlayer, ModelAgent):
    """The paper's MCTS over a network; plays visit counts at a temperature.

    Beyond the paper, with ``forward_lambda`` = λ > 0 it plays τ·exp(q/λ) at that temperature.
    """

    network: Network
    settings: Settings = field(default_factory=Settings)
    temperature: float = 1.0
    prior_temperature: float = 1.0
    """Temperature of the anchor in the whole tree: τ^(1/T), normalised."""
    threads: int = 0
    forward_lambda: float = 0.0
    imitates_people: bool = True

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        check_temperature(self.prior_temperature)
        if self.prior_temperature == 0.0:
            raise InputError("temperature of a search's anchor: must be above 0")
        if not self.forward_lambda >= 0.0:
            raise InputError(f"forward_lambda: at least 0, not {self.forward_lambda:g}")

    def analyse(self, state: Any, player: int) -> Iterator[Analysis]:
        """Yield an analysis after the first batch, then now and then, and of the whole search."""
        settings, due = self.settings, 0.0
        grove = self.on_board_of(state).grove(settings.batch)
        tree = grove.plant(state.board, settings)
        for playouts in grove.run(tree):
            progress = playouts / settings.playouts
            if progress >= 1.0 or monotonic() >= due:  # an analysis takes time from searching
                analysis = self.analysis(root_result(grove.forest, tree, settings))
                yield replace(analysis, progress=progress)
                due = monotonic() + _EVERY


class Search:
    """The search tree of a position. It runs in steps and may be kept for the next move.

    With `only`, the root tries no other moves; the prior is renormalised over them.
    """

    def __init__(self, agent: PuctAgent, state: Any, only: Collection[int] | None = None) -> None:
        agent = agent.on_board_of(state)
        check_not_over(state.board)
        allowed = allowed_moves(state.board, only)
        self.agent = agent
        self.state = state.clone()
        self._grove = agent.grove(agent.settings.batch)
        self._tree = self._grove.plant(state.board, agent.settings, allowed)

    @property
    def playouts(self) -> int:
        """Evaluations at and below the root, including kept ones."""
        return self._grove.forest.playouts(self._tree)

    def run(self, playouts: int | None = None) -> Iterator[int]:
        """Search until there are `playouts`, by default those of the agent: see `Grove.run`."""
        playouts = playouts or self.agent.settings.playouts
        self._grove.forest.set_playouts(self._tree, playouts)
        return self._grove.run(self._tree)

    def analysis(self) -> Analysis:
        """The current analysis. Slow to compute."""
        agent = self.agent
        return agent.analysis(root_result(self._grove.forest, self._tree, agent.settings))

    def advance(self, action: int) -> None:
        """Play `action` and keep the tree below it. A Gumbel root does not allow it."""
        try:
            self._grove.advance(self._tree, action)
        except ValueError as error:
            raise InputError(str(error)) from None
        self.state.board.push(action)
        self.state.history.append(action)


def split_network(prior: Network, value: Network) -> Network:
    """Return a network with the moves of `prior` and the values of `value`."""
    if value.encoding != prior.encoding:
        raise InputError(
            f"a model of {value.encoding.game} cannot value positions of {prior.encoding.game}"
        )
    return prior if value is prior else SplitNetwork(prior, value)


def check_temperature(temperature: float) -> None:
    if not 0.0 <= temperature < np.inf:
        raise InputError(f"temperature: at least 0, not {temperature:g}")

"""Agents for chess: a human network by itself, and PUCT over it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kedge import _core
from kedge.agents.agent import Analysis
from kedge.agents.normal_form import draw
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.models.backends import Array as LogitArray
from kedge.models.backends import Lane, Network, batch_size, open_lanes
from kedge.regularize import Array
from kedge.search.puct import (
    EvaluateBatch,
    ForestLane,
    NativeForest,
    SearchResult,
    Settings,
    admit,
    result,
    search_chunks,
    search_many,
)


class ChessAgent(ABC):
    """A network, and a search over it that may be no more than a look at the root."""

    network: Network
    settings: Settings
    temperature: float
    prior_temperature: float
    threads: int

    @abstractmethod
    def _analysis(self, found: SearchResult) -> Analysis:
        """What was found, as this agent plays it."""

    @property
    def batch_size(self) -> int:
        """How many states at once make the best of the network."""
        return batch_size(self.network)

    def policy(self, state: ChessState, player: int) -> Array:
        return self.analyse_many([state])[0].policy

    def act(self, state: ChessState, player: int, rng: np.random.Generator) -> int:
        return state.board.legal_actions()[draw(self.policy(state, player), rng)]

    def analyse_many(self, states: Sequence[ChessState], *, lines: bool = False) -> list[Analysis]:
        """Each state as if it were alone, the network seeing full batches; `lines` take longer."""
        boards = [_going_on(state).board for state in states]
        if not boards:
            return []
        if not lines:
            size = min(self.batch_size, len(boards))
            chunks = [boards[first : first + size] for first in range(0, len(boards), size)]
            lanes = self._lanes(size, len(chunks))
            found = search_chunks(lanes, chunks, self.settings, self._analysis)
            return [chunk[row] for chunk in found for row in range(len(chunk.policy))]
        ((forest, evaluate),) = self._lanes(len(boards), 1)
        return [self._analysis(one) for one in search_many(forest, boards, evaluate, self.settings)]

    def analyse_chunks(self, chunks: Iterable[Sequence[_core.ChessBoard]]) -> Iterator[Analysis]:
        """The boards of every chunk in one analysis. A chunk has at most `batch_size` of them."""
        lanes = self._lanes(self.batch_size)
        return search_chunks(lanes, chunks, self.settings, self._analysis)

    def _lanes(self, rows: int, most: int | None = None) -> list[ForestLane]:
        return [
            (_core.ChessForest(self.threads), self._evaluator(lane))
            for lane in open_lanes(self.network, rows, most)
        ]

    def _evaluator(self, lane: Lane) -> EvaluateBatch:
        def evaluate(forest: NativeForest) -> None:
            forest.update_logits(*_evaluated(lane, forest), self.prior_temperature)

        return evaluate


@dataclass(frozen=True)
class NetworkAgent(ChessAgent):
    """Plays what the network says people play: no search."""

    network: Network
    temperature: float = 1.0
    threads: int = 0

    settings = Settings(playouts=1)
    prior_temperature = 1.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def analyse(self, state: ChessState, player: int) -> Iterator[Analysis]:
        yield self.analyse_many([state])[0]

    def _analysis(self, found: SearchResult) -> Analysis:
        policy = found.policy(self.temperature)
        return Analysis(
            anchor=found.prior,
            policy=policy,
            q=found.q,
            value=found.value,
            smooth=policy,
            lines=found.lines,
            actions=found.actions,
            mask=found.mask,
        )


@dataclass(frozen=True)
class PuctAgent(ChessAgent):
    """The paper's MCTS over a network; plays visit counts at a temperature."""

    network: Network
    settings: Settings = field(default_factory=Settings)
    temperature: float = 1.0
    prior_temperature: float = 1.0
    """Of the anchor in the whole tree: τ^(1/T), normalised."""
    threads: int = 0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        check_temperature(self.prior_temperature)
        if self.prior_temperature == 0.0:
            raise InputError("the temperature of a search's anchor: above 0")

    def analyse(self, state: ChessState, player: int) -> Iterator[Analysis]:
        """After every playout, until they are spent."""
        for found in self.search(state):
            yield found()

    def search(
        self, state: ChessState, only: Collection[int] | None = None
    ) -> Iterator[Callable[[], Analysis]]:
        """After every playout a function that tells what is known by now; telling takes its time.

        With `only` no other move is tried at the root: the rest of the prior is shared out.
        """
        actions = _going_on(state).board.legal_actions()
        allowed = np.array([only is None or action in only for action in actions])
        if not allowed.any():
            raise InputError("none of the moves to search is legal")
        forest = _core.ChessForest(self.threads)
        (lane,) = open_lanes(self.network, self.settings.batch, most=1)
        tree = admit(forest, state.board, self.settings)
        playouts = 0
        while playouts < self.settings.playouts:
            # A batch at a time: else those that end a game, which nobody evaluates, run on by the
            # thousand, and the last of them unseen.
            forest.set_playouts(tree, min(self.settings.playouts, playouts + self.settings.batch))
            if forest.collect():
                logits, values = _evaluated(lane, forest)
                if playouts == 0:
                    # An action with no prior is never tried: the best that was is no worse than
                    # the mean it would be given (plain.py), and has a bonus on top.
                    logits = np.where(allowed, logits, -np.inf).astype(np.float32)
                forest.update_logits(logits, values, self.prior_temperature)
            playouts = forest.playouts(tree)
            yield lambda: self._analysis(result(forest, tree, self.settings))

    def _analysis(self, found: SearchResult) -> Analysis:
        return Analysis(
            anchor=found.prior,
            policy=found.policy(self.temperature),
            q=found.q,
            value=found.value,
            smooth=found.smooth_policy(),
            visits=found.visits,
            best=found.order[..., 0],
            lines=found.lines,
            actions=found.actions,
            mask=found.mask,
        )


def check_temperature(temperature: float) -> None:
    if not 0.0 <= temperature < np.inf:
        raise InputError(f"temperature: at least 0, not {temperature:g}")


def _evaluated(lane: Lane, forest: NativeForest) -> tuple[LogitArray, LogitArray]:
    """The logits of the legal moves of the leaves that wait, and the values of these."""
    assert isinstance(forest, _core.ChessForest)
    moves = forest.encode(lane.masks, lane.numbers, lane.moves)
    return lane.evaluate(len(forest.waiting()), moves)


def _going_on(state: ChessState) -> ChessState:
    if not state.board.legal_actions():
        raise InputError("the game is over: there is nothing to play")
    return state

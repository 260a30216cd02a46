"""Agents of a network: a human model alone, and PUCT over it."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.agents.agent import Analysis, BasePlayer
from kedge.agents.board.any_game import puct_analysis
from kedge.catalogue import GameEntry, find
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.models.board.lanes import Lane, batch_size, open_lanes
from kedge.models.board.mixture import SplitNetwork
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

#: Of a root's legal moves those that may be tried.
Allowed = npt.NDArray[np.bool_]


class ModelAgent(BasePlayer[Any]):
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
    def _entry(self) -> GameEntry:
        return find(self.network.encoding.game)

    @property
    def states(self) -> type:
        """The class of states that it plays."""
        states: type = self._entry.load("state")
        return states

    @property
    def batch_size(self) -> int:
        """How many states at once make the best of the network."""
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
        boards = [agent.going_on(state).board for state in questions]
        size = min(agent.batch_size, len(boards))
        chunks = [boards[first : first + size] for first in range(0, len(boards), size)]
        lanes = agent._lanes(size, len(chunks))
        analyses = search_chunks(lanes, chunks, self.settings, self._analysis)
        return [chunk[row] for chunk in analyses for row in range(len(chunk.policy))]

    def explain_many(
        self, questions: Sequence[Any], rng: np.random.Generator | None = None
    ) -> list[Analysis]:
        """Analyse each state, with the line that is expected after each move. This takes longer."""
        if not questions:
            return []
        agent = self.on_board_of(questions[0])
        boards = [agent.going_on(state).board for state in questions]
        ((forest, evaluate),) = agent._lanes(len(boards), 1)
        results = search_many(forest, boards, evaluate, self.settings)
        return [self._analysis(result) for result in results]

    def analyse_chunks(self, chunks: Iterable[Sequence[Any]]) -> Iterator[Analysis]:
        """The boards of every chunk in one analysis. A chunk has at most `batch_size` of them."""
        lanes = self._lanes(self.batch_size)
        fitting = ([self._fitting(board) for board in boards] for boards in chunks)
        return search_chunks(lanes, fitting, self.settings, self._analysis)

    def new_forest(self) -> "_core.EncodingForest":
        forest: _core.EncodingForest = self._entry.load("forest")(self.threads)
        return forest

    def on_board_of(self, state: Any) -> Self:
        """The same agent, its network for boards of that size."""
        side = self.network.encoding.side
        size = getattr(self._own(state), "size", side)
        return self if size == side else replace(self, network=self.network.on(size))  # type: ignore[type-var]

    def _own(self, state: Any) -> Any:
        """`state`, if it is of the game that this agent plays."""
        kind: Any = type(state)
        if kind is not self.states:
            game = self.network.encoding.game
            raise InputError(f"agent plays {game}, not states of the class {kind.__name__}")
        return state

    def _fitting(self, board: Any) -> Any:
        """`board`, if it has the size that the network is for."""
        side = self.network.encoding.side
        size = getattr(board, "size", side)
        if size != side:
            raise InputError(f"{side}×{side} and {size}×{size} at once: ask about one size")
        return board

    def going_on(self, state: Any) -> Any:
        """`state`, if it is one that this agent plays, and not over."""
        self._fitting(self._own(state).board)
        if not state.board.legal_actions():
            raise InputError("the game is over: there is nothing to play")
        return state

    def allowed(self, state: Any, only: Collection[int] | None) -> Allowed | None:
        """Where the legal moves are among `only`, which must have some; None where all are."""
        actions = self.going_on(state).board.legal_actions()
        if only is None:
            return None
        allowed = np.array([action in only for action in actions])
        if not allowed.any():
            raise InputError("none of the moves to search is legal")
        return allowed

    def told(self, forest: NativeForest, tree: int) -> Analysis:
        """What the tree knows by now; telling takes its time."""
        return self._analysis(result(forest, tree, self.settings))

    def _lanes(self, trees: int, most: int | None = None) -> list[ForestLane]:
        return [
            (self.new_forest(), self._evaluator(lane))
            for lane in open_lanes(self.network, trees * self.settings.batch, most)
        ]

    def _evaluator(self, lane: Lane) -> EvaluateBatch:
        return lambda forest: evaluate(forest, lane, self.prior_temperature, {})


@dataclass(frozen=True)
class NetworkAgent(ModelAgent):
    """Plays what the network says people play: no search."""

    network: Network
    temperature: float = 1.0
    threads: int = 0

    settings = Settings(playouts=1)
    prior_temperature = 1.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def puct_search(self, value: Any, settings: Settings, **options: Any) -> "PuctAgent":
        """Return PUCT over this network, whose temperature becomes the prior's.

        With `value`, that agent's network values the positions.
        """
        if value is not None and not isinstance(value, NetworkAgent):
            raise InputError("puct: its value is a model, such as maia-1900 or a quoted path")
        return PuctAgent(
            split_network(self.network, self.network if value is None else value.network),
            settings,
            prior_temperature=self.temperature,
            threads=self.threads,
            **options,
        )

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
class PuctAgent(ModelAgent):
    """The paper's MCTS over a network; plays visit counts at a temperature.

    Beyond the paper, with ``forward_lambda`` = λ > 0 it plays τ·exp(q/λ) at that temperature.
    """

    network: Network
    settings: Settings = field(default_factory=Settings)
    temperature: float = 1.0
    prior_temperature: float = 1.0
    """Of the anchor in the whole tree: τ^(1/T), normalised."""
    threads: int = 0
    forward_lambda: float = 0.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        check_temperature(self.prior_temperature)
        if self.prior_temperature == 0.0:
            raise InputError("the temperature of a search's anchor: above 0")
        if not self.forward_lambda >= 0.0:
            raise InputError(f"forward_lambda: at least 0, not {self.forward_lambda:g}")

    def analyse(self, state: Any, player: int) -> Iterator[Analysis]:
        """After every batch of playouts, until they are spent."""
        for found in self.search(state):
            yield found()

    def search(
        self, state: Any, only: Collection[int] | None = None
    ) -> Iterator[Callable[[], Analysis]]:
        """After every batch of playouts a function that tells what is known by now, in its time.

        See `Search`.
        """
        search = Search(self, state, only)
        for _ in search.run():
            yield search.analysis

    def _analysis(self, found: SearchResult) -> Analysis:
        return puct_analysis(found, self.temperature, self.forward_lambda)


class Search:
    """A position's tree, which is watched as it grows and may be kept for the next move.

    With `only` no other move is tried at the root: the rest of the prior is shared out.
    """

    def __init__(self, agent: PuctAgent, state: Any, only: Collection[int] | None = None) -> None:
        agent = agent.on_board_of(state)
        self._allowed = agent.allowed(state, only)
        self.agent = agent
        self.state = state.clone()
        self._forest = agent.new_forest()
        self._tree = admit(self._forest, state.board, agent.settings)
        (self._lane,) = open_lanes(agent.network, agent.settings.batch, most=1)

    @property
    def playouts(self) -> int:
        """Evaluations at and below the root, those that were kept among them."""
        return self._forest.playouts(self._tree)

    def run(self, playouts: int | None = None) -> Iterator[int]:
        """Until there are so many, or as many as the agent makes; yields how many there are.

        It does so after every batch, and once if there is nothing to do. It may be left at any
        time, and run again.
        """
        self.agent.going_on(self.state)
        wanted = playouts or self.agent.settings.playouts
        forest, made = self._forest, self.playouts
        try:
            while True:
                if made < wanted:
                    # A batch at a time: else those that end a game, which nobody evaluates, run on
                    # by the thousand, and the last of them unseen.
                    batch = min(wanted, made + self.agent.settings.batch)
                    forest.set_playouts(self._tree, batch)
                    if forest.collect():
                        self._evaluate()
                    made = self.playouts
                yield made
                if made >= wanted:
                    break
        finally:
            forest.cancel()  # what an error left waiting

    def _evaluate(self) -> None:
        allowed = {} if self._allowed is None or self.playouts else {self._tree: self._allowed}
        evaluate(self._forest, self._lane, self.agent.prior_temperature, allowed)

    def analysis(self) -> Analysis:
        """What is known by now; telling takes its time."""
        return self.agent.told(self._forest, self._tree)

    def advance(self, action: int) -> None:
        """Play `action`, and keep what was searched below it. A Gumbel root cannot be left."""
        try:
            self._forest.advance(self._tree, action)
        except ValueError as error:
            raise InputError(str(error)) from None
        self.state.board.push(action)
        self.state.history.append(action)
        self._allowed = None


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


def evaluate(
    forest: NativeForest, lane: Lane, temperature: float, allowed: Mapping[int, Allowed]
) -> None:
    """Have the leaves that wait evaluated, the anchor being at `temperature`.

    `allowed` has, by the number of a tree whose root waits, its only moves.
    """
    moves = cast("_core.EncodingForest", forest).encode(
        lane.masks, lane.numbers, lane.moves, lane.policy_size
    )
    trees = forest.waiting()
    logits, values = lane.evaluate(len(trees), moves)
    if allowed:
        # An action with no prior is never tried: the best that was is no worse than the mean it
        # would be given (plain.py), and has a bonus on top.
        ends = np.cumsum(forest.action_counts())
        for tree, end in zip(trees.tolist(), ends.tolist(), strict=True):
            if tree in allowed:
                logits[end - len(allowed[tree]) : end][~allowed[tree]] = -np.inf
    try:
        forest.update_logits(logits, values, temperature)
    except ValueError:
        raise InputError("the network answers with numbers that are not finite") from None

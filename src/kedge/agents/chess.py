"""Agents for chess: a human network by itself, and PUCT over it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.agents.agent import Analysis
from kedge.agents.normal_form import draw
from kedge.errors import InputError
from kedge.games.chess import ChessState, encode
from kedge.models.backends import Evaluation, Network
from kedge.regularize import Array
from kedge.search.puct import NativeForest, SearchResult, Settings, admit, result, search_many

_TREES = 256  # searched side by side: what the network sees in a batch
_PLANES = 112


@dataclass(frozen=True)
class NetworkAgent:
    """Plays what the network says people play: no search."""

    network: Network
    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def policy(self, state: ChessState, player: int) -> Array:
        return self.analyse_many([state])[0].policy

    def act(self, state: ChessState, player: int, rng: np.random.Generator) -> int:
        return state.board.legal_actions()[draw(self.policy(state, player), rng)]

    def analyse(self, state: ChessState, player: int) -> Iterator[Analysis]:
        yield self.analyse_many([state])[0]

    def analyse_many(self, states: Sequence[ChessState]) -> list[Analysis]:
        """Every state in one batch."""
        found = self.network.evaluate_packed(*encode(states))
        analyses = []
        for state, logits, value in zip(states, found.policy, found.value, strict=True):
            anchor = _softmax(logits[_policy_indices(state)].astype(np.float64))
            unknown = np.full(len(anchor), np.nan)
            policy = _tempered(anchor, self.temperature)
            analyses.append(Analysis(anchor, policy, unknown, float(value), smooth=policy))
        return analyses


@dataclass(frozen=True)
class PuctAgent:
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

    def policy(self, state: ChessState, player: int) -> Array:
        return self.analyse_many([state])[0].policy

    def act(self, state: ChessState, player: int, rng: np.random.Generator) -> int:
        return state.board.legal_actions()[draw(self.policy(state, player), rng)]

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
        indices = _policy_indices(state)  # refuses a finished game
        forest = _core.ChessForest(self.threads)
        tree = admit(forest, state.board, self.settings)
        allowed = None
        if only is not None:
            actions = state.board.legal_actions()
            allowed = np.array([action in only for action in actions])
            if not allowed.any():
                raise InputError("none of the moves to search is legal")
        for playouts in range(1, self.settings.playouts + 1):
            # One at a time: else those that end a game, which nobody evaluates, run on by the
            # thousand, and the last of them unseen.
            forest.set_playouts(tree, playouts)
            if forest.collect():
                found = self._evaluate(forest)
                if playouts == 1 and allowed is not None:
                    # An action with no prior is never tried: the best that was is no worse than
                    # the mean it would be given (plain.py), and has a bonus on top.
                    found.policy[0, indices[~allowed]] = -np.inf
                forest.update_logits(found.policy, found.value, self.prior_temperature)
            yield lambda: self._analysis(result(forest, tree, self.settings))

    def analyse_many(self, states: Sequence[ChessState]) -> list[Analysis]:
        """Each state searched exactly as if it were alone, the network seeing full batches."""
        analyses = []
        for first in range(0, len(states), _TREES):
            boards = [state.board for state in states[first : first + _TREES]]
            forest = _core.ChessForest(self.threads)
            found = search_many(forest, boards, self._update, self.settings)
            analyses += [self._analysis(one) for one in found]
        return analyses

    def _update(self, forest: NativeForest) -> None:
        found = self._evaluate(forest)
        forest.update_logits(found.policy, found.value, self.prior_temperature)

    def _evaluate(self, forest: NativeForest) -> Evaluation:
        assert isinstance(forest, _core.ChessForest)
        count = len(forest.waiting())
        masks, rule50 = np.empty((count, _PLANES), np.uint64), np.empty(count, np.uint8)
        forest.encode(masks, rule50)
        return self.network.evaluate_packed(masks, rule50)

    def _analysis(self, found: SearchResult) -> Analysis:
        return Analysis(
            anchor=found.prior,
            policy=found.policy(self.temperature),
            q=found.q,
            value=found.value,
            smooth=found.smooth_policy(),
            visits=found.visits,
            best=int(found.order[0]),
            lines=found.lines,
        )


def check_temperature(temperature: float) -> None:
    if not 0.0 <= temperature < np.inf:
        raise InputError(f"temperature: at least 0, not {temperature:g}")


def _policy_indices(state: ChessState) -> npt.NDArray[np.uint16]:
    indices = state.board.policy_indices()
    if not len(indices):
        raise InputError("the game is over: there is nothing to play")
    return indices


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _tempered(policy: Array, temperature: float) -> Array:
    """π^(1/T), normalised; T = 0 is the likeliest action."""
    if temperature == 1.0:
        return policy
    if temperature == 0.0:
        return np.asarray(np.arange(len(policy)) == np.argmax(policy), np.float64)
    return _softmax(np.log(np.maximum(policy, np.finfo(np.float64).tiny)) / temperature)

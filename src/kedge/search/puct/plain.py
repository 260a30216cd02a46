"""The paper's MCTS (appendix F) in plain Python: the specification of the native forest.

It works on any object with OpenSpiel's verbs, for two players and zero-sum rewards. What goes
beyond the paper is specified here too: leaves that wait together, and a Gumbel root.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kedge.regularize import Array
from kedge.search.puct.result import SearchResult, Settings

#: A prior over the legal actions, in their order, and the value for the player to move.
Evaluation: TypeAlias = tuple[Sequence[float], float]
Evaluate: TypeAlias = Callable[[Any], Evaluation]
EvaluateMany: TypeAlias = Callable[[list[Any]], Sequence[Evaluation]]
T = TypeVar("T")
#: Yields states to be evaluated, takes the evaluations, and returns T.
Growth: TypeAlias = Generator[Any, Evaluation, T]


@dataclass
class _Edge:
    action: int
    prior: float
    visits: int = 0
    total: float = 0.0
    child: "_Node | None" = None
    waits: bool = False  # its child is not known yet


@dataclass
class _Node:
    player: int
    value: float  # of the state, for `player`
    edges: list[_Edge] = field(default_factory=list)  # the highest prior first
    is_terminal: bool = False


#: The moves from the root: the node, the edge, and the reward for the player who moved.
_Path: TypeAlias = list[tuple[_Node, _Edge, float]]


def search(state: Any, evaluate: Evaluate, settings: Settings) -> SearchResult:
    """Search `state` with one evaluation per playout; the root's is the first."""
    return search_states([state], lambda states: [evaluate(states[0])], settings)[0]


def search_states(
    states: Sequence[Any], evaluate: EvaluateMany, settings: Settings
) -> list[SearchResult]:
    """Search every state exactly as if it were alone, while the evaluator sees batches."""
    results: dict[int, SearchResult] = {}
    growing: dict[int, Growth[SearchResult]] = {
        number: grow(state, settings) for number, state in enumerate(states)
    }
    answers: dict[int, Evaluation | None] = dict.fromkeys(growing)
    while growing:
        leaves: dict[int, Any] = {}
        for number, growth in list(growing.items()):
            try:
                # None starts a generator.
                leaves[number] = growth.send(answers[number])  # type: ignore[arg-type]
            except StopIteration as end:
                results[number] = end.value
                del growing[number]
        if leaves:
            answers.update(zip(leaves, evaluate(list(leaves.values())), strict=True))
    return [results[number] for number in range(len(states))]


def grow(state: Any, settings: Settings) -> Growth[SearchResult]:
    """Search `state`, and yield one state after the other to be evaluated."""
    root = yield from _visit(state)
    noise = settings.gumbel_noise(len(root.edges))
    playouts = 1
    while root.edges and playouts < settings.playouts:
        # In a batch of 1, the paper's search, a leaf is known before the next is looked for.
        end = min(settings.playouts, playouts + settings.batch)
        waiting: list[_Path] = []
        while playouts + len(waiting) < end:
            path = yield from _descend(root, state.clone(), settings, noise)
            leaf = path[-1][1]
            if leaf.waits:
                break  # until it is known, each descent would end there
            assert leaf.child is not None
            if leaf.child.is_terminal:
                _back_up(path)
                playouts += 1
            else:
                waiting.append(path)
                _suppose_lost(path, settings)
        for path in waiting:
            _suppose_lost(path, settings, undo=True)
            _back_up(path)
        playouts += len(waiting)
    edges = sorted(root.edges, key=lambda edge: edge.action)
    return SearchResult(
        settings,
        actions=np.array([edge.action for edge in edges], np.int64),
        prior=np.array([edge.prior for edge in edges]),
        visits=np.array([edge.visits for edge in edges], np.int64),
        totals=np.array([edge.total for edge in edges]),
        network_value=np.array(root.value),
        lines=[_line(edge) for edge in edges],
    )


def _visit(state: Any, mover: int | None = None) -> Growth[_Node]:
    """Return the node of a state that is seen for the first time, after a move of `mover`.

    A root, after nobody's, is searched even where the rules call a draw.
    """
    player = state.current_player()
    legal = state.legal_actions()
    if (state.is_terminal() and mover is not None) or not legal:
        if mover is not None and getattr(state, "ends_by_agreement", False):
            _, value = yield state
            return _Node(1 - mover, float(value), is_terminal=True)
        # OpenSpiel's returns are by player; at the end of a game nobody is to move.
        return _Node(0, state.returns()[0], is_terminal=True)
    priors, value = yield state
    edges = [_Edge(action, float(prior)) for action, prior in zip(legal, priors, strict=True)]
    edges.sort(key=lambda edge: (-edge.prior, edge.action))
    return _Node(player, float(value), edges)


def _descend(root: _Node, state: Any, settings: Settings, noise: Array) -> Growth[_Path]:
    """Descend to a new state, to the end of a game, or to a leaf that waits."""
    node, path = root, _Path()
    while True:
        at_gumbel = settings.gumbel and node is root
        edge = _select_gumbel(node, settings, noise) if at_gumbel else _select(node, settings)
        state.apply_action(edge.action)
        # The reward for the player who moved; most games have none.
        reward = float(state.rewards()[node.player]) if hasattr(state, "rewards") else 0.0
        path.append((node, edge, reward))
        if edge.waits:
            return path
        if edge.child is None:
            edge.child = yield from _visit(state, node.player)
            return path
        node = edge.child
        if node.is_terminal:
            return path


def _back_up(path: _Path) -> None:
    leaf = path[-1][1].child
    assert leaf is not None
    value, player = leaf.value, leaf.player
    for node, edge, reward in reversed(path):
        value = (value if player == node.player else -value) + reward
        player = node.player
        edge.visits += 1
        edge.total += value


def _suppose_lost(path: _Path, settings: Settings, undo: bool = False) -> None:
    """Add a virtual loss: until its leaf is known, a path counts as a lost visit for all movers."""
    path[-1][1].waits = not undo
    if settings.batch > 1:  # else nobody descends meanwhile, and sums keep their last bits
        for _, edge, _ in path:
            edge.visits += -1 if undo else 1
            edge.total += 1.0 if undo else -1.0


def _select(node: _Node, settings: Settings) -> _Edge:
    """argmax of Q + c·τ·√ΣN/(N + 1) (Eq. 1).

    An action never tried has the plain mean Q of its tried siblings. Ties go to the higher prior,
    so that the first pick is by prior, then to the lower action.
    """
    tried = [edge.total / edge.visits for edge in node.edges if edge.visits]
    untried = _sum(tried) / len(tried) if tried else 0.0
    total = sum(edge.visits for edge in node.edges)
    scale = settings.constant_lambda * total or settings.c_puct * sqrt(total)

    def score(edge: _Edge) -> tuple[float, float]:
        q = edge.total / edge.visits if edge.visits else untried
        return q + scale * edge.prior / (edge.visits + 1.0), edge.prior

    return max(node.edges, key=score)  # the first of equals


def _select_gumbel(root: _Node, settings: Settings, noise: Array) -> _Edge:
    """argmax of g + log τ + σ(q) over the root's actions whose turn it is.

    σ(q) = (c_visit + max N)·c_scale·(q + 1)/2; an action never tried has the mixed value
    (Danihelka et al. 2022, appendix D): that of the root's own evaluation and of the tried actions,
    weighted by τ.
    """
    edges = sorted(root.edges, key=lambda edge: edge.action)
    tried = [edge for edge in edges if edge.visits]
    total = sum(edge.visits for edge in tried)
    untried = root.value
    if tried:
        weighted = _sum(edge.prior * (edge.total / edge.visits) for edge in tried)
        mean = weighted / _sum(edge.prior for edge in tried)
        untried = (root.value + total * mean) / (total + 1.0)
    scale = (settings.c_visit + max(edge.visits for edge in edges)) * settings.c_scale
    possible = [(edge, g) for edge, g in zip(edges, noise, strict=True) if edge.prior > 0.0]
    turn = visits_of_next(min(settings.gumbel, len(possible)), settings.playouts - 1, total)

    def score(candidate: tuple[_Edge, float]) -> tuple[int, float, float]:
        edge, g = candidate
        q = edge.total / edge.visits if edge.visits else untried
        return edge.visits, g + log(edge.prior) + scale * ((q + 1.0) / 2.0), edge.prior

    return max((pair for pair in possible if pair[0].visits <= turn), key=score)[0]


def visits_of_next(actions: int, playouts: int, spent: int) -> int:
    """Sequential halving: how often the action that comes next was tried, after `spent` playouts.

    All `actions` are tried alike, then the better half of them, and so on down to two.

    >>> [visits_of_next(4, 16, spent) for spent in range(16)]
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    """
    if actions <= 1:
        return spent
    halvings, visits = (actions - 1).bit_length(), 0
    while True:
        rounds = max(1, playouts // (halvings * actions))
        if spent < rounds * actions:
            return visits + spent // actions
        spent -= rounds * actions
        visits += rounds
        actions = max(2, actions // 2)


def _sum(numbers: Iterable[float]) -> float:
    """Add in order, as the core does. From Python 3.12 on `sum` compensates rounding errors."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _line(edge: _Edge) -> list[int]:
    moves = [edge.action]
    while edge.child is not None and any(below.visits for below in edge.child.edges):
        edge = max(edge.child.edges, key=lambda below: (below.visits, below.prior))
        moves.append(edge.action)
    return moves

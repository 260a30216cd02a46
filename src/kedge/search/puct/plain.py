"""The paper's MCTS (appendix F) in plain Python: the specification of the native forest.

It works on any object with OpenSpiel's verbs, for two players and zero-sum rewards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

from kedge.search.puct.result import SearchResult, Settings

#: A prior over the legal actions, in their order, and the value for the player to move.
Evaluate: TypeAlias = Callable[[Any], tuple[Sequence[float], float]]


@dataclass
class _Edge:
    action: int
    prior: float
    visits: int = 0
    total: float = 0.0
    child: "_Node | None" = None


@dataclass
class _Node:
    player: int
    value: float  # of the state, for `player`
    edges: list[_Edge] = field(default_factory=list)  # the highest prior first
    is_terminal: bool = False


def search(state: Any, evaluate: Evaluate, settings: Settings) -> SearchResult:
    """Search `state`: as many evaluations as there are playouts, the root's among them."""
    root = _visit(state, evaluate, is_root=True)
    for _ in range(settings.playouts - 1):
        if not root.edges:
            break
        _playout(root, state.clone(), evaluate, settings)
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


def _visit(state: Any, evaluate: Evaluate, is_root: bool = False) -> _Node:
    """A state seen for the first time. A root is searched even where the rules call a draw."""
    player = state.current_player()
    legal = state.legal_actions()
    if (state.is_terminal() and not is_root) or not legal:
        # OpenSpiel's returns are by player; at the end of a game nobody is to move.
        return _Node(0, state.returns()[0], is_terminal=True)
    priors, value = evaluate(state)
    edges = [_Edge(action, float(prior)) for action, prior in zip(legal, priors, strict=True)]
    edges.sort(key=lambda edge: (-edge.prior, edge.action))
    return _Node(player, float(value), edges)


def _playout(root: _Node, state: Any, evaluate: Evaluate, settings: Settings) -> None:
    node, path = root, []
    rewards: list[float] = []  # of each move, for who made it; most games have none
    while True:
        edge = _select(node, settings)
        path.append((node, edge))
        state.apply_action(edge.action)
        rewards.append(float(state.rewards()[node.player]) if hasattr(state, "rewards") else 0.0)
        if edge.child is None:
            edge.child = _visit(state, evaluate)
            break
        node = edge.child
        if node.is_terminal:
            break
    leaf = path[-1][1].child
    assert leaf is not None
    value, player = leaf.value, leaf.player
    for (node, edge), reward in zip(reversed(path), reversed(rewards), strict=True):
        value = (value if player == node.player else -value) + reward
        player = node.player
        edge.visits += 1
        edge.total += value


def _select(node: _Node, settings: Settings) -> _Edge:
    """argmax of Q + c·τ·√ΣN/(N + 1) (Eq. 1).

    An action never tried has the plain mean Q of its tried siblings. Ties go to the higher prior,
    so that the first pick is by prior, then to the lower action.
    """
    tried = [edge.total / edge.visits for edge in node.edges if edge.visits]
    untried = sum(tried) / len(tried) if tried else 0.0
    total = sum(edge.visits for edge in node.edges)
    scale = settings.constant_lambda * total or settings.c_puct * sqrt(total)

    def score(edge: _Edge) -> tuple[float, float]:
        q = edge.total / edge.visits if edge.visits else untried
        return q + scale * edge.prior / (edge.visits + 1.0), edge.prior

    return max(node.edges, key=score)  # the first of equals


def _line(edge: _Edge) -> list[int]:
    moves = [edge.action]
    while edge.child is not None and any(below.visits for below in edge.child.edges):
        edge = max(edge.child.edges, key=lambda below: (below.visits, below.prior))
        moves.append(edge.action)
    return moves

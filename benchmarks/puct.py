"""PUCT: how much of the network's speed the search keeps, and the tree's own cost beside OpenSpiel.

    python benchmarks/puct.py [WEIGHTS]      (the shipped model, or an lc0 file such as Maia's)

Search throughput is playouts a second (one evaluation each, but for those that end a game) of
50-playout searches over many positions; the bare network is timed on the same positions at the same
batch size, in the same run.
"""

import argparse
import time

import numpy as np

from kedge import _core
from kedge.agents.chess import PuctAgent
from kedge.games.chess import ChessState, encode
from kedge.models import embedded
from kedge.models.backends import OnnxNetwork, cores
from kedge.search.puct import Settings, search_many

PLAYOUTS = 50


def random_states(count: int) -> list[ChessState]:
    rng = np.random.default_rng(0)
    states = []
    while len(states) < count:
        state = ChessState()
        for _ in range(int(rng.integers(4, 60))):
            legal = state.legal_actions()
            if not legal:
                break
            state.apply_action(int(rng.choice(legal)))
        if state.legal_actions():
            states.append(state)
    return states


def with_network(network: OnnxNetwork, roots: int) -> None:
    states = random_states(roots)
    packed = encode(states)
    network.evaluate_packed(*packed)
    bare = searched = 0.0
    for _ in range(3):  # in turns, so that a busy machine troubles both alike
        start = time.perf_counter()
        for _ in range(4):
            network.evaluate_packed(*packed)
        bare = max(bare, 4 * roots / (time.perf_counter() - start))
        start = time.perf_counter()
        found = PuctAgent(network, Settings(2.0, PLAYOUTS)).analyse_many(states)
        seconds = time.perf_counter() - start
        playouts = sum(1 + int(one.visits.sum()) for one in found if one.visits is not None)
        searched = max(searched, playouts / seconds)
    print(f"\n{roots} roots × {PLAYOUTS} playouts, {cores()} cores")
    print(f"  bare network   {bare:10,.0f} positions/s")
    print(
        f"  inside search  {searched:10,.0f} playouts/s   {searched / bare:.2f} of the bare network"
    )


def without_network(roots: int, playouts: int) -> float:
    boards = [state.board for state in random_states(roots)]

    def uniform(forest):
        counts = [len(forest.leaf_actions(tree)) for tree in forest.waiting()]
        priors = np.repeat(1.0 / np.array(counts), counts)
        forest.update(priors, np.zeros(len(counts)))

    settings = Settings(2.0, playouts)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        search_many(_core.ChessForest(1), boards, uniform, settings)
        best = min(best, (time.perf_counter() - start) / (roots * playouts))
    return best


def openspiel(playouts: int, searches: int) -> float | None:
    try:
        import pyspiel
        from open_spiel.python.algorithms import mcts
    except ImportError:
        return None

    class Uniform:
        def evaluate(self, state):
            return np.zeros(2)

        def prior(self, state):
            legal = state.legal_actions()
            return [(action, 1.0 / len(legal)) for action in legal]

    game = pyspiel.load_game("chess")
    bot = mcts.MCTSBot(
        game, 2.0, playouts, Uniform(), child_selection_fn=mcts.SearchNode.puct_value
    )
    state = game.new_initial_state()
    start = time.perf_counter()
    for _ in range(searches):
        bot.mcts_search(state)
    return (time.perf_counter() - start) / (searches * playouts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", nargs="?", help="an lc0 weight file; the shipped model if none")
    parser.add_argument("--roots", type=int, default=256)
    options = parser.parse_args()
    model = options.weights or embedded.load_embedded("chess")
    with_network(OnnxNetwork(model, threads=cores()), options.roots)
    ours = without_network(options.roots, PLAYOUTS)
    print("\nUniform evaluator (from Python), one core")
    print(f"  kedge          {ours * 1e6:10.2f} µs a playout")
    theirs = openspiel(PLAYOUTS, 20)
    if theirs is not None:
        print(
            f"  OpenSpiel      {theirs * 1e6:10.2f} µs a playout, {theirs / ours:.1f}× kedge's time"
        )


if __name__ == "__main__":
    main()

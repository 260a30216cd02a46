"""PUCT: how much of the network's speed the search keeps, and the tree's own cost beside OpenSpiel.

    python benchmarks/puct.py [WEIGHTS]      (the shipped model, or an lc0 file such as Maia's)
    python benchmarks/puct.py WEIGHTS --device cuda --dtype bfloat16

Search throughput is network evaluations a second inside 50-playout searches over many positions;
the bare network is timed on the same positions at the same batch size, in the same run. On a GPU
the bare network has its positions there already and leaves its answers there.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

from kedge import _core
from kedge.agents.puct import PuctAgent
from kedge.games.chess import ChessState, encode
from kedge.models import embedded
from kedge.models.backends import Network, OnnxNetwork, TorchNetwork, cores
from kedge.search.puct import Settings, admit

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


def bare(network: Network, states: list[ChessState]) -> Callable[[], None]:
    """One batch through the network alone."""
    masks, rule50 = encode(states)
    if not isinstance(network, TorchNetwork):
        return lambda: network.evaluate_packed(masks, rule50)
    import torch

    packed = masks.view(np.int64), rule50.astype(np.float32)
    there = [torch.from_numpy(array).to(network.device) for array in packed]

    def forward() -> None:
        with torch.inference_mode():
            network.forward_packed(*there)[1].sum().item()  # waits until it is done

    return forward


def with_network(network: Network, chunks: int, playouts: int) -> None:
    agent = PuctAgent(network, Settings(2.0, playouts))
    batch = agent.batch_size
    states = random_states(batch)
    boards = [state.board for state in states]
    alone = bare(network, states)
    evaluations = 0

    def counted() -> Iterator[int]:
        for found in agent.analyse_chunks([boards] * chunks):
            yield len(found.policy) + int(found.visits.sum())

    alone()
    rounds = 3 if isinstance(network, OnnxNetwork) else 20
    if rounds > 3:
        sum(counted())  # compiles
    fastest = searched = 0.0
    for _ in range(3):  # in turns, so that a busy machine troubles both alike
        start = time.perf_counter()
        for _ in range(rounds):
            alone()
        fastest = max(fastest, rounds * batch / (time.perf_counter() - start))
        start = time.perf_counter()
        evaluations = sum(counted())
        searched = max(searched, evaluations / (time.perf_counter() - start))
    print(f"\n{chunks} × {batch} roots × {playouts} playouts, {cores()} cores")
    print(f"  bare network   {fastest:12,.0f} positions/s")
    print(
        f"  inside search  {searched:12,.0f} playouts/s   "
        f"{searched / fastest:.2f} of the bare network"
    )


def one_tree(network: Network, playouts: int) -> None:
    """A single search, as in analysis: leaves that wait together against one at a time."""
    print(f"\nOne tree, {playouts} playouts of the start, {cores()} cores")
    alone = np.zeros(0)
    for batch in (1, 4, 8, 16):
        agent = PuctAgent(network, Settings(2.0, playouts, batch=batch), threads=1)
        fastest = 0.0
        for _ in range(3):
            start = time.perf_counter()
            *_, found = agent.search(ChessState())
            fastest = max(fastest, playouts / (time.perf_counter() - start))
        policy = found().policy
        alone = policy if batch == 1 else alone
        moved = 0.5 * np.abs(policy - alone).sum()
        print(f"  batch {batch:2} {fastest:12,.0f} playouts/s   {moved:6.1%} of the visits moved")


def tree_work(threads: int, roots: int, playouts: int) -> float:
    """Seconds a playout, with answers that were there before."""
    boards = [state.board for state in random_states(roots)]
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.standard_normal(218 * roots, np.float32)
    values = rng.uniform(-0.2, 0.2, roots).astype(np.float32)
    masks, rule50 = np.empty((roots, 112), np.uint64), np.empty(roots, np.float32)
    moves = np.empty(218 * roots, np.int32)
    settings, forest = Settings(2.0, playouts), _core.ChessForest(threads)
    best = np.inf
    for _ in range(4):  # the first has to get its memory
        start = time.perf_counter()
        for board in boards:
            admit(forest, board, settings)
        while forest.collect():
            forest.encode(masks, rule50, moves)
            forest.update_logits(logits, values)
        forest.clear()
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
    parser.add_argument("--device", default="cpu", help="cpu (ONNX Runtime), or torch's cuda")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--chunks", type=int, default=2, help="batches of roots to search")
    options = parser.parse_args()
    model = options.weights or embedded.load_embedded("chess")
    network: Network = (
        OnnxNetwork(model, threads=cores())
        if options.device == "cpu"
        else TorchNetwork(model, device=options.device, dtype=options.dtype, compile=True)
    )
    with_network(network, options.chunks, PLAYOUTS)
    one_tree(network, 800)
    print("\nTree work alone: descend, legal moves, encode, expand")
    for threads, roots in ((1, 256), (cores(), 8192)):
        ours = tree_work(threads, roots, PLAYOUTS)
        print(f"  {roots:5} roots, {threads:2} threads {ours * 1e6:10.2f} µs a playout")
    alone = tree_work(1, 1, PLAYOUTS)
    print(f"\n1 root, 1 thread\n  kedge          {alone * 1e6:10.2f} µs a playout")
    theirs = openspiel(PLAYOUTS, 20)
    if theirs is not None:
        print(
            f"  OpenSpiel      {theirs * 1e6:10.2f} µs a playout (Python, a uniform evaluator), "
            f"{theirs / alone:.1f}× kedge's time"
        )
    # Measured elsewhere, on one core of a busy server: OpenSpiel's wheel has no such C++ evaluator.
    print(f"  OpenSpiel, C++ {1e6 / 131_000:10.2f} µs a playout (quoted)")
    print("  lc0, Eigen            740 evaluations/s of a Maia on one core (quoted)")


if __name__ == "__main__":
    main()

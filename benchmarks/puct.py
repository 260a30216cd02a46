"""PUCT: search speed relative to the bare network, and the cost of the tree beside OpenSpiel.

    python benchmarks/puct.py [MODEL]        (chess, go, or a file such as Maia's)
    python benchmarks/puct.py go --device cuda --dtype bfloat16

Search throughput is network evaluations a second inside searches of many positions, with 50
playouts by default. The bare network is timed at the same batch size in the same run. On a GPU, the
inputs and outputs of the bare network stay on the device.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kedge import _core
from kedge.agents.board.networks import network
from kedge.agents.board.puct import PuctAgent, Search
from kedge.agents.devices import computing_on
from kedge.games import load_game
from kedge.machine import cores
from kedge.models.board.backends import Network
from kedge.models.board.encoding import Encoding
from kedge.models.board.torch_backend import TorchNetwork
from kedge.search.puct import Settings, admit

PLAYOUTS = 50
FORESTS = {"chess": _core.ChessForest, "go": _core.GoForest}
LENGTHS = {"chess": 60, "go": 250}  # plies of the games from which positions are taken


def random_states(game: str, count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    states = []
    while len(states) < count:
        state = load_game(game).initial_state()
        for _ in range(int(rng.integers(4, LENGTHS[game]))):
            legal = state.legal_actions()
            if not legal:
                break
            state.apply_action(int(rng.choice(legal)))
        if state.legal_actions():
            states.append(state)
    return states


def bare(network: Network, batch: int) -> Callable[[], None]:
    """A function that sends one batch through the network alone."""
    rng = np.random.default_rng(0)
    masks = rng.integers(2**62, size=(batch, network.encoding.words))
    numbers = rng.uniform(size=batch).astype(np.float32)
    if not isinstance(network, TorchNetwork):
        return lambda: network.evaluate_packed(masks, numbers)
    import torch

    inputs = [torch.from_numpy(array).to(network.device) for array in (masks, numbers)]

    def forward() -> None:
        with torch.inference_mode():
            network.forward_packed(*inputs)[1].sum().item()  # waits until it is done

    return forward


def with_network(network: Network, chunks: int, playouts: int) -> None:
    agent = PuctAgent(network, Settings(2.0, playouts))
    batch = agent.batch_size
    boards = [state.board for state in random_states(network.encoding.game, batch)]
    alone = bare(network, batch)
    evaluations = 0

    def counted() -> Iterator[int]:
        for analysis in agent.analyse_chunks([boards] * chunks):
            yield len(analysis.policy) + int(analysis.visits.sum())

    alone()
    rounds = 20 if isinstance(network, TorchNetwork) else 3
    if rounds > 3:
        sum(counted())  # compiles
    fastest = searched = 0.0
    for _ in range(3):  # alternately, so that other load affects both alike
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
        f"{searched / fastest:.2f} of the bare network",
        flush=True,
    )


def one_tree(network: Network, playouts: int) -> None:
    """Time a single search, as in analysis: batches of leaves against one leaf at a time."""
    print(f"\nOne tree, {playouts} playouts of the start, {cores()} cores")
    alone = np.zeros(0)
    start_of_game = load_game(network.encoding.game).initial_state()
    for batch in (1, 4, 8, 16):
        agent = PuctAgent(network, Settings(2.0, playouts, batch=batch), threads=1)
        fastest = 0.0
        for _ in range(3):
            start = time.perf_counter()
            search = Search(agent, start_of_game)
            *_, _ = search.run()
            fastest = max(fastest, playouts / (time.perf_counter() - start))
        policy = search.analysis().policy
        alone = policy if batch == 1 else alone
        moved = 0.5 * np.abs(policy - alone).sum()
        print(f"  batch {batch:2} {fastest:12,.0f} playouts/s   {moved:6.1%} of the visits moved")


def tree_work(encoding: Encoding, threads: int, roots: int, playouts: int) -> float:
    """Seconds per playout, with precomputed network outputs."""
    boards = [state.board for state in random_states(encoding.game, roots)]
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.standard_normal(encoding.most_moves * roots, np.float32)
    values = rng.uniform(-0.2, 0.2, roots).astype(np.float32)
    masks, numbers = np.empty((roots, encoding.words), np.uint64), np.empty(roots, np.float32)
    moves = np.empty(encoding.most_moves * roots, np.int32)
    settings, forest = Settings(2.0, playouts), FORESTS[encoding.game](threads)
    best = np.inf
    for _ in range(4):  # the first one allocates memory
        start = time.perf_counter()
        for board in boards:
            admit(forest, board, settings)
        while forest.collect():
            forest.encode(masks, numbers, moves)
            forest.update_logits(logits, values)
        forest.clear()
        best = min(best, (time.perf_counter() - start) / (roots * playouts))
    return best


def openspiel(game_name: str, playouts: int, searches: int) -> float | None:
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

    game = pyspiel.load_game(game_name)
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
    parser.add_argument("model", nargs="?", default="chess", help="chess, go, a path, …")
    parser.add_argument("--device", default="cpu", help="cpu (ONNX Runtime), openvino, cuda, …")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--chunks", type=int, default=2, help="batches of roots to search")
    parser.add_argument("--playouts", type=int, default=PLAYOUTS, help="playouts per root")
    options = parser.parse_args()
    with computing_on(options.device, options.dtype):
        model = network(options.model)
    encoding = model.encoding
    with_network(model, options.chunks, options.playouts)
    one_tree(model, 800 if encoding.game == "chess" else 200)
    print("\nTree work alone: descend, legal moves, encode, expand")
    for threads, roots in ((1, 256), (cores(), 8192)):
        ours = tree_work(encoding, threads, roots, PLAYOUTS)
        print(f"  {roots:5} roots, {threads:2} threads {ours * 1e6:10.2f} µs a playout")
    alone = tree_work(encoding, 1, 1, PLAYOUTS)
    print(f"\n1 root, 1 thread\n  kedge          {alone * 1e6:10.2f} µs a playout")
    theirs = openspiel(encoding.game, PLAYOUTS, 20)
    if theirs is not None:
        print(
            f"  OpenSpiel      {theirs * 1e6:10.2f} µs a playout (Python, a uniform evaluator), "
            f"{theirs / alone:.1f}× kedge's time"
        )
    if encoding.game == "chess":
        # Measured on one core of another, busy server: OpenSpiel's wheel lacks this C++ evaluator.
        print(f"  OpenSpiel, C++ {1e6 / 131_000:10.2f} µs a playout (quoted)")
        print("  lc0, Eigen            740 evaluations/s of a Maia on one core (quoted)")


if __name__ == "__main__":
    main()

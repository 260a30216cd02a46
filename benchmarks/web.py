"""The page under load: many people's searches at once, against the same one after the other.

    python benchmarks/web.py [MODEL]        (chess, go, or a file such as Maia's)
    python benchmarks/web.py --device winograd

Both have all cores, in turns, and the best of either counts. The network alone is timed in the same
run: what a batch gains is all that searches can gain by sharing it.
"""

import argparse
from contextlib import closing

from puct import bare, random_states
from timing import rate

from kedge.agents.networks import computing_on, network
from kedge.agents.puct import PuctAgent
from kedge.agents.shared_search import SharedSearches
from kedge.machine import cores
from kedge.models.backends import Network
from kedge.search.puct import Settings


def network_alone(model: Network, most: int) -> None:
    print("The network alone")
    one = 0.0
    for batch in (1, 8, most, 2 * most):
        forward, rounds = bare(model, batch), max(1, 64 // batch)

        def evaluated(forward=forward, rounds=rounds, batch=batch) -> int:
            for _ in range(rounds):
                forward()
            return rounds * batch

        found = rate(evaluated, 10)
        one = one or found
        print(f"  batch {batch:3} {found:12,.0f} positions/s   {found / one:.2f}× batch 1")


def shared_against_sequential(
    model: Network, games: int, playouts: int, rounds: int
) -> tuple[float, float]:
    """Moves a second of so many games at once, and one after the other."""
    agent = PuctAgent(model, Settings(2.0, playouts))
    states = random_states(model.encoding.game, games)
    together = apart = 0.0
    with closing(SharedSearches(together=games)) as searches:

        def at_once() -> int:
            for search in [searches.submit(agent, state) for state in states]:
                search.result()
            return games

        def in_turn() -> int:
            for state in states:
                agent.analyse_many([state])
            return games

        for _ in range(rounds):  # in turns, so that a busy machine troubles both alike
            together, apart = max(together, rate(at_once, 1)), max(apart, rate(in_turn, 1))
    print(f"\n{games} searches of {playouts} playouts")
    print(f"  at once             {together:8.1f} moves/s")
    print(f"  one after the other {apart:8.1f} moves/s   at once {together / apart:.2f}× as many")
    return together, apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="chess(elo=1500)", help="chess, go, a path, …")
    parser.add_argument("--device", default="cpu", help="cpu (ONNX Runtime), winograd, openvino, …")
    parser.add_argument("--games", type=int, default=32)
    parser.add_argument("--playouts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with computing_on(options.device):
        model = network(options.model)
    print(f"{options.model} on {options.device}, {cores()} cores")
    network_alone(model, options.games)
    shared_against_sequential(model, options.games, options.playouts, options.rounds)


if __name__ == "__main__":
    main()

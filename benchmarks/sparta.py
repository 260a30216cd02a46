"""SPARTA over a network: seconds per move, beside the time of the network alone for its rollouts.

    python benchmarks/sparta.py --rollouts 1000
    python benchmarks/sparta.py --rollouts 10000 --device cuda --dtype bfloat16 --games 250

Moves are those of the model's greedy self-play games, at turns 5, 10, 15 and so on. The network
alone evaluates one table per rollout, for as many moves as the games still had. With `--games`, two
searching players then play that many games at λ = 1 with 1,000 rollouts per move.
"""

import argparse
import time
from typing import Any

import numpy as np

from kedge.agents import make_agent
from kedge.agents.devices import computing_on
from kedge.agents.hanabi.models import blueprint
from kedge.agents.hanabi.players import HanabiAgent
from kedge.evaluation.hanabi.selfplay import dealt, play, standing
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import Games

RULES = Hanabi()


def tables(agent: HanabiAgent, count: int) -> list[tuple[HanabiState, int]]:
    """Return a state before every fifth move, and the number of moves to come."""
    positions, rng = [], np.random.default_rng(0)
    for number in range(count):
        [game] = play([agent], [((0, 0), dealt(RULES, 0, number))], RULES, rng)
        for turn in range(5, len(game.actions), 5):
            state = RULES.initial_state(game.deck)
            for action in game.actions[:turn]:
                state.apply_action(action)
            positions.append((state, len(game.actions) - turn))
    return positions


def evaluations(model: str, rows: int, repeats: int = 20) -> float:
    """Tables evaluated per second by the network alone, `rows` at once."""
    player: Any = blueprint(model)._network
    deck = np.tile(RULES.rules.deck(), (rows, 1))
    games = Games(RULES.rules, np.random.default_rng(0).permuted(deck, axis=1))
    seen = player.rows(rows, RULES.num_features("private"))
    games.encode(seen, "private", None, True)
    hands = RULES.num_features("private") - RULES.num_features("public")
    memory = player.begin(rows)
    if hasattr(player, "_evaluate"):  # on a GPU, with the tables already there
        import torch

        with torch.inference_mode():
            views = player._there(seen)
            for number in range(repeats + 3):
                if number == 3:
                    torch.cuda.synchronize()
                    start = time.perf_counter()
                player._evaluate(views, views[:, hands:], memory)
            torch.cuda.synchronize()
    else:
        start = time.perf_counter()
        for _ in range(repeats):
            player.observe(seen[:, hands:], memory)
            player._output("logits", seen, memory)
    return rows * repeats / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="hanabi")
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--games", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with computing_on(options.device, options.dtype):
        positions = tables(make_agent(f"{options.model}(greedy=true)"), 4)
        agent = make_agent(f"sparta({options.model}, greedy=true, rollouts={options.rollouts})")
        agent.act_many([positions[0][0]], rng)  # warm up
        times = []
        for state, _ in positions:
            start = time.perf_counter()
            agent.act_many([state], rng)
            times.append(time.perf_counter() - start)
        left = np.mean([moves for _, moves in positions])
        pace = evaluations(options.model, options.rollouts)
        alone = left * options.rollouts / pace
        print(
            f"{len(times)} moves of {options.rollouts:,} rollouts: "
            f"median {np.median(times):.3f} s, at most {max(times):.3f} s"
        )
        print(
            f"the network alone, {pace:,.0f} tables/s and {left:.0f} moves a rollout: {alone:.3f} "
            f"s, {alone / np.mean(times):.2f} of the mean"
        )
        if options.games:
            both = make_agent(f"sparta({options.model}, lambda=1, rollouts=1000)")
            decks = [((0, 0), dealt(RULES, 0, number)) for number in range(options.games)]
            start = time.perf_counter()
            result = standing(play([both], decks, RULES, rng))
            seconds = time.perf_counter() - start
            print(
                f"{options.games} games at λ = 1, 1,000 rollouts a move: {seconds:.0f} s, "
                f"{result['moves']:.1f} moves a game"
            )


if __name__ == "__main__":
    main()

"""SPARTA over a network: seconds a move, beside what the network alone takes for its rollouts.

    python benchmarks/sparta.py --rollouts 1000
    python benchmarks/sparta.py --rollouts 10000 --device cuda --dtype bfloat16 --games 250

Moves are those of the model's greedy games with itself, at turns 5, 10, 15 and so on. The network
alone is asked about as many tables as there are rollouts, as often as the games went on from there.
With `--games`, so many are then played by two who search at λ = 1 and 1,000 rollouts a move.
"""

import argparse
import time
from typing import Any

import numpy as np

from kedge.agents import make_agent
from kedge.agents.board.networks import computing_on
from kedge.agents.hanabi.models import blueprint
from kedge.agents.hanabi.players import HanabiAgent
from kedge.evaluation.hanabi.selfplay import dealt, play, standing
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import Games

RULES = Hanabi()


def tables(agent: HanabiAgent, count: int) -> list[tuple[HanabiState, int]]:
    """Before every fifth move, and how many were to come."""
    found, rng = [], np.random.default_rng(0)
    for number in range(count):
        [game] = play([agent], [((0, 0), dealt(RULES, 0, number))], RULES, rng)
        for turn in range(5, len(game.actions), 5):
            state = RULES.initial_state(game.deck)
            for action in game.actions[:turn]:
                state.apply_action(action)
            found.append((state, len(game.actions) - turn))
    return found


def evaluations(model: str, rows: int, repeats: int = 20) -> float:
    """Tables that the network is asked about in a second, so many at once, told what is seen."""
    player: Any = blueprint(model)._network
    deck = np.tile(RULES.rules.deck(), (rows, 1))
    games = Games(RULES.rules, np.random.default_rng(0).permuted(deck, axis=1))
    seen = player.rows(rows, RULES.num_features("private"))
    games.encode(seen, "private", None, True)
    hands = RULES.num_features("private") - RULES.num_features("public")
    memory = player.begin(rows)
    if hasattr(player, "_evaluate"):  # on a GPU, where the tables are already
        import torch

        with torch.inference_mode():
            there = player._there(seen)
            for number in range(repeats + 3):
                if number == 3:
                    torch.cuda.synchronize()
                    start = time.perf_counter()
                player._evaluate(there, there[:, hands:], memory)
            torch.cuda.synchronize()
    else:
        start = time.perf_counter()
        for _ in range(repeats):
            player.observe(seen[:, hands:], memory)
            player._said("logits", seen, memory)
    return rows * repeats / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="hanabi")
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--games", type=int, default=0)
    told = parser.parse_args()
    rng = np.random.default_rng(0)
    with computing_on(told.device, told.dtype):
        asked = tables(make_agent(f"{told.model}(greedy=true)"), 4)
        agent = make_agent(f"sparta({told.model}, greedy=true, rollouts={told.rollouts})")
        agent.act_many([asked[0][0]], rng)  # what is set up once
        times = []
        for state, _ in asked:
            start = time.perf_counter()
            agent.act_many([state], rng)
            times.append(time.perf_counter() - start)
        left = np.mean([moves for _, moves in asked])
        pace = evaluations(told.model, told.rollouts)
        alone = left * told.rollouts / pace
        print(
            f"{len(times)} moves of {told.rollouts:,} rollouts: {np.median(times):.3f} s at the "
            f"median, {max(times):.3f} s at most"
        )
        print(
            f"the network alone, {pace:,.0f} tables/s and {left:.0f} moves a rollout: {alone:.3f} "
            f"s, {alone / np.mean(times):.2f} of the mean"
        )
        if told.games:
            both = make_agent(f"sparta({told.model}, lambda=1, rollouts=1000)")
            decks = [((0, 0), dealt(RULES, 0, number)) for number in range(told.games)]
            start = time.perf_counter()
            found = standing(play([both], decks, RULES, rng))
            seconds = time.perf_counter() - start
            print(
                f"{told.games} games at λ = 1, 1,000 rollouts a move: {seconds:.0f} s, "
                f"{found['moves']:.1f} moves a game"
            )


if __name__ == "__main__":
    main()

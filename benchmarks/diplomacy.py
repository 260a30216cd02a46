"""Diplomacy: kedge beside PyPI `diplomacy`, in one run, as ratios; and a replay of people's games.

    pip install diplomacy                  (without it, only kedge is timed)
    KEDGE_DATA=… python benchmarks/diplomacy.py [--replay]
    KEDGE_DATA=… python benchmarks/diplomacy.py --device cuda

The rules are timed on one core. Positions and orders are from people's games, from the years 1904
to 1907, with 30 units or more. Cicero's C++ engine, timed separately on another machine with such
positions, took 39 µs to adjudicate, 3 µs to clone and 470 µs to list all orders.

Then comes a turn of piKL-Hedge with the shipped models, 30 candidates and 512 iterations. It runs
on all cores; the human model runs on ``--device``. The lower bounds of its parts are beside it:
drawing the candidates, and valuing each reached position once.

``--replay`` adjudicates every phase of Droidippy's games and compares the next position.
"""

import argparse
import copy
import dataclasses
import json
import lzma
import os
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from timing import rate

sys.path.remove(str(Path(__file__).parent))  # there `diplomacy` would be this file
try:
    from diplomacy import Game
except ImportError:
    Game = None

from kedge import _core
from kedge.agents import make_player
from kedge.agents.devices import computing_on
from kedge.agents.diplomacy.search import choose_candidates
from kedge.games.diplomacy import POWERS, DiplomacyState, adjudicate_many

TESTS = Path(__file__).parents[1] / "tests"
sys.path += [str(TESTS / "helpers" / "games"), str(TESTS / "games" / "diplomacy")]  # for --replay


def games(limit: int | None = None) -> Any:
    path = Path(os.environ["KEDGE_DATA"], "data/diplomacy/droidippy.jsonl.xz")
    with lzma.open(path, "rt") as file:
        for number, line in enumerate(file):
            if number == limit:
                return
            yield json.loads(line)


def midgame(count: int) -> list[Any]:
    phases = []
    for game in games():
        for phase in game["phases"]:
            units = sum(map(len, phase["units"].values()))
            given = sum(map(len, phase["orders"].values()))
            moving = phase["name"][-1] == "M" and "1904" <= phase["name"][1:5] <= "1907"
            if moving and units >= 30 and given >= 25:
                phases.append(phase)
        if len(phases) >= count:
            return phases[:count]
    return phases


def peer(phase: Any) -> Any:
    game = Game()
    game.set_state({key: phase[key] for key in ("name", "units", "centers")} | {"retreats": {}})
    for power in POWERS:
        game.set_orders(power, phase["orders"].get(power, []))
    return game


def row(name: str, ours: float, theirs: float | None) -> None:
    beside = "" if theirs is None else f"{1e6 / theirs:>14,.0f}{ours / theirs:>12,.0f}×"
    print(f"{name:<34}{1e6 / ours:>12,.2f}{beside}")


def compare(repeats: int) -> None:
    phases = midgame(100)
    states = [DiplomacyState.from_json(phase) for phase in phases]
    packed = [state.pack(phase["orders"]) for state, phase in zip(states, phases, strict=True)]
    peers = [peer(phase) for phase in phases[:20]] if Game else []
    joint = [np.tile(orders, (200, 1)) for orders in packed]
    print(f"{'':<34}{'kedge, µs':>12}" + (f"{'diplomacy, µs':>14}{'ratio':>13}" if Game else ""))

    def adjudicate() -> int:
        for state, orders in zip(states, joint, strict=True):
            adjudicate_many(state.board, orders, threads=1)
        return 200 * len(states)

    def process(fresh: list[Any]) -> float:
        start = time.perf_counter()
        for game in fresh:
            game.process()
        return len(fresh) / (time.perf_counter() - start)

    processing = process([peer(p) for p in phases]) if Game else None
    row("adjudicate joint orders", rate(adjudicate, repeats), processing)

    def each(call: Any, things: list[Any]) -> Any:
        return lambda: sum(call(thing) is not None for thing in things)

    listing = rate(each(lambda game: game.get_all_possible_orders(), peers), 1) if Game else None
    row(
        "all legal orders, packed",
        rate(each(lambda s: s.board.legal_orders(), states), repeats),
        listing,
    )
    row("all legal orders, as text", rate(each(lambda s: s.orders(), states), repeats), listing)
    cloning = rate(each(copy.deepcopy, peers[:3]), 1) if Game else None
    row("clone the position", rate(each(lambda s: s.board.copy(), states * 20), repeats), cloning)


class Counted:
    """A value model that counts its positions and seconds."""

    def __init__(self, model: Any) -> None:
        self.model, self.count, self.seconds = model, 0, 0.0

    def values(self, boards: Any) -> Any:
        start = time.perf_counter()
        values = self.model.values(boards)
        self.seconds += time.perf_counter() - start
        self.count += len(boards)
        return values


def turns(device: str) -> None:
    """Time turns of all powers, and the parts of a turn."""
    rng = np.random.default_rng(0)
    states = [DiplomacyState.from_json(phase) for phase in midgame(20)]
    with computing_on(device):
        agent = make_player("pikl-hedge(diplomacy, lambda=1e-3)", "diplomacy")
    agent.analyse_many([(states[0], 0)], rng)  # a GPU has to wake up
    counted = Counted(agent.value)
    searching = dataclasses.replace(agent, value=counted)
    taken, candidates = [], 0.0
    for state in states:
        everybody = [(state, power) for power in range(len(POWERS))]
        start = time.perf_counter()
        choose_candidates(agent.model, everybody, agent.candidate_settings, rng)
        candidates += time.perf_counter() - start
        start = time.perf_counter()
        searching.analyse_many(everybody, rng)
        taken.append(time.perf_counter() - start)
    batch = _core.DiplomacyBatch([state.board for state in states] * 500)
    values = rate(lambda: len(agent.value.values(batch)), 3)
    count = len(states)
    print(f"\na turn of piKL-Hedge: {np.mean(taken):.2f} s, at most {max(taken):.2f} s")
    print(f"  candidates {candidates / count:.2f} s; {counted.count / count:,.0f} positions valued")
    print(f"  in {counted.seconds / count:.2f} s, {values:,.0f} a second at most")


def replay(limit: int | None) -> None:
    from test_diplomacy import disagreement

    start, count, phases, differences = time.perf_counter(), 0, 0, []
    for game in games(limit):
        count += 1
        for before, after in pairwise(game["phases"]):
            phases += 1
            if wrong := disagreement(before, after):
                differences.append((game["id"], before["name"], wrong))
    seconds = time.perf_counter() - start
    print(
        f"{count:,} games, {phases:,} phases replayed in {seconds:.0f} s: {len(differences)} differ"
    )
    for difference in differences[:20]:
        print(*difference)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--limit", type=int, help="games to replay, instead of all")
    parser.add_argument("--device", default="cpu", help="device of the human model: cpu, cuda, …")
    arguments = parser.parse_args()
    compare(arguments.repeats)
    turns(arguments.device)
    if arguments.replay:
        replay(arguments.limit)

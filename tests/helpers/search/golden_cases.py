"""The content of the golden file. To record it again: ``python tests/search/golden_cases.py``."""

import json
from pathlib import Path

import numpy as np

from kedge.search.regret import (
    MMD,
    Adaptive,
    Constant,
    DiLPiKL,
    Hedge,
    PiKLHedge,
    RegretMatching,
    solve,
)

GOLDEN = Path(__file__).with_name("golden.json")
PAYOFFS = np.round(np.sin(np.arange(3 * 2 * 3 * 4) * 1.7) * 2, 3).reshape(3, 2, 3, 4)
ANCHORS = [[0.7, 0.3], [0.2, 0.3, 0.5], [0.25, 0.0, 0.5, 0.25]]
ALGORITHMS = {
    "pikl-hedge": PiKLHedge(0.2),
    "pikl-hedge, t-1": PiKLHedge([0.1, 0.5, 2.0], Constant(0.3), "t-1"),
    "pikl-hedge, adaptive": PiKLHedge(0.2, Adaptive()),
    "pikl-hedge, released": PiKLHedge.released(0.2),
    "hedge": Hedge(),
    "rm": RegretMatching(),
    "rm+": RegretMatching(plus=True),
    "rm, released": RegretMatching.released(),
    "mmd": MMD(0.2),
    "dil-pikl": DiLPiKL((0.05, 0.5), shares=(0.3, 0.7)),
}


def results():
    """Average and current policies and regrets of every algorithm after 25 iterations."""
    found = {}
    for name, algorithm in ALGORITHMS.items():
        for feedback in ("full", "sampled"):
            end = solve(PAYOFFS, algorithm, 25, anchors=ANCHORS, feedback=feedback, seed=11)
            found[f"{name}, {feedback}"] = {
                "average": [policy.tolist() for policy in end.average],
                "current": [policy.tolist() for policy in end.current],
                "regret": end.regret.tolist(),
            }
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(results(), indent=1) + "\n")

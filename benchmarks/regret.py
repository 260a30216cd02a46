"""Regret minimisation: kedge beside numpy, numba and OpenSpiel, in one run, as ratios.

    python benchmarks/regret.py          (pip install 'kedge[bench,openspiel]' for all peers)

All sides do the same work in float64: utilities, the policy update, the average policy. Times are
the best of several repeats, on one core unless a row says otherwise. kedge's set-up counts; numba's
compilation does not.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kedge import _core
from kedge.games.normal_form import blotto
from kedge.search.regret import Constant, PiKLHedge, RegretMatching, batch_iterates, solve

LAM, ETA = 0.1, 0.25
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
M1, M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

try:
    import numba
except ImportError:
    numba = None


def best(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


# ---------------------------------------------------------------- exact feedback, two players


def numpy_exact(payoffs, iterations):
    first, second = payoffs[0], payoffs[1].T.copy()
    count = first.shape[0]
    log_tau = np.full(count, -np.log(count))
    values = np.zeros((2, count))
    total = np.zeros((2, count))
    for t in range(1, iterations + 1):
        weight = t * LAM * ETA
        logits = (ETA * values + weight * log_tau) / (1.0 + weight)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        values[0] += first @ policy[1]
        values[1] += second @ policy[0]
        total += policy
    return total / iterations


def _loop_exact(first, second, iterations, lam, eta):
    count = first.shape[0]
    log_tau = -np.log(count)
    values = np.zeros((2, count))
    total = np.zeros((2, count))
    policy = np.zeros((2, count))
    for t in range(1, iterations + 1):
        weight = t * lam * eta
        scale, shift = eta / (1.0 + weight), weight * log_tau / (1.0 + weight)
        for i in range(2):
            highest = -np.inf
            for a in range(count):
                highest = max(highest, scale * values[i, a] + shift)
            norm = 0.0
            for a in range(count):
                policy[i, a] = np.exp(scale * values[i, a] + shift - highest)
                norm += policy[i, a]
            for a in range(count):
                policy[i, a] /= norm
                total[i, a] += policy[i, a]
        values[0] += np.dot(first, policy[1])
        values[1] += np.dot(second, policy[0])
    return total / iterations


# ---------------------------------------------------------------- sampled feedback, two players


def numpy_sampled(payoffs, iterations, seed):
    first, second = payoffs[0].T.copy(), payoffs[1]
    count = first.shape[0]
    log_tau = np.full(count, -np.log(count))
    values = np.zeros((2, count))
    total = np.zeros((2, count))
    uniforms = np.random.default_rng(seed).random((iterations, 2))
    for t in range(1, iterations + 1):
        weight = t * LAM * ETA
        logits = (ETA * values + weight * log_tau) / (1.0 + weight)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        sums = policy.cumsum(axis=1)
        mine = min(np.searchsorted(sums[0], uniforms[t - 1, 0], "right"), count - 1)
        theirs = min(np.searchsorted(sums[1], uniforms[t - 1, 1], "right"), count - 1)
        values[0] += first[theirs]
        values[1] += second[mine]
        total += policy
    return total / iterations


# ------------------------------------------------- many players, an oracle that is not a table


def mix(x):
    x = (x ^ (x >> np.uint64(30))) * M1
    x = (x ^ (x >> np.uint64(27))) * M2
    return x ^ (x >> np.uint64(31))


def numpy_hashed(players, actions, iterations, seed):
    number = np.arange(actions, dtype=np.uint64)[None, :]
    player = np.arange(players, dtype=np.uint64)[:, None]
    keys = mix(np.uint64(seed) + GOLDEN * (np.uint64(1) + number + (player << np.uint64(32))))
    salt = GOLDEN * (player + np.uint64(1))
    rows = np.arange(players)
    log_tau = np.full((players, actions), -np.log(actions))
    values = np.zeros((players, actions))
    total = np.zeros((players, actions))
    uniforms = np.random.default_rng(seed).random((iterations, players, 1))
    for t in range(1, iterations + 1):
        weight = t * LAM * ETA
        logits = (ETA * values + weight * log_tau) / (1.0 + weight)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        chosen = np.minimum((policy.cumsum(axis=1) <= uniforms[t - 1]).sum(axis=1), actions - 1)
        own = keys[rows, chosen]
        others = np.bitwise_xor.reduce(own) ^ own
        bits = mix((others[:, None] ^ keys) + salt)
        values += (bits >> np.uint64(11)) * 2.0**-53
        total += policy
    return total / iterations


# ---------------------------------------------------------------- the run


def report(name: str, ours: float, others: dict[str, float], unit: str = "iteration") -> dict:
    print(f"\n{name}")
    print(f"  {'kedge':<34}{ours * 1e6:10.2f} µs an {unit}")
    for other, seconds in others.items():
        print(f"  {other:<34}{seconds * 1e6:10.2f} µs{seconds / ours:12.1f}× kedge's time")
    return {"kedge": ours, **others}


def exact_blotto(repeats: int) -> dict:
    game, n = blotto(10, 3), 20_000
    algorithm = PiKLHedge(LAM, Constant(ETA))
    ours = best(lambda: solve(game, algorithm, n, threads=1), repeats) / n
    slow = n // 10
    others = {"numpy": best(lambda: numpy_exact(game.payoffs, slow), repeats) / slow}
    np.testing.assert_allclose(
        solve(game, algorithm, slow).policies, numpy_exact(game.payoffs, slow), atol=1e-10
    )
    if numba:
        first, second = game.payoffs[0].copy(), game.payoffs[1].T.copy()
        for name, options in (("numba", {}), ("numba, fastmath", {"fastmath": True})):
            compiled = numba.njit(**options)(_loop_exact)
            compiled(first, second, 10, LAM, ETA)
            others[name] = best(lambda f=compiled: f(first, second, n, LAM, ETA), repeats) / n
    table = game.payoffs
    weights = np.full(66, 1 / 66)
    products = best(lambda: [(table[0] @ weights, weights @ table[1]) for _ in range(n)], repeats)
    others["numpy, its two products alone"] = products / n
    return report("Blotto(10, 3), exact feedback", ours, others)


def sampled_blotto(repeats: int) -> dict:
    game, n = blotto(10, 3), 50_000
    algorithm = PiKLHedge(LAM, Constant(ETA))
    ours = best(lambda: solve(game, algorithm, n, feedback="sampled", threads=1), repeats) / n
    slow = n // 20
    others = {"numpy": best(lambda: numpy_sampled(game.payoffs, slow, 0), repeats) / slow}
    same = solve(game, algorithm, 200, feedback="sampled", seed=0)
    np.testing.assert_allclose(same.policies, numpy_sampled(game.payoffs, 200, 0), atol=1e-10)
    return report("Blotto(10, 3), sampled actions", ours, others)


def seven_players(repeats: int) -> dict:
    players, actions, n = 7, 30, 512
    source = _core.HashedUtilities([[actions] * players], 3)
    algorithm = PiKLHedge(LAM, Constant(ETA))
    options = {"feedback": "sampled", "threads": 1}
    ours = best(lambda: solve(source, algorithm, n, **options), 5 * repeats) / n
    others = {"numpy": best(lambda: numpy_hashed(players, actions, n, 3), repeats) / n}
    same = solve(source, algorithm, n, feedback="sampled", seed=3)
    np.testing.assert_allclose(same.policies, numpy_hashed(players, actions, n, 3), atol=1e-10)
    games = 64
    batch = _core.HashedUtilities([[actions] * players] * games, 3)
    for threads, name in ((1, "kedge, batch of 64"), (0, "kedge, batch of 64, all cores")):
        seconds = best(
            lambda threads=threads: next(
                batch_iterates(
                    batch, algorithm, feedback="sampled", checkpoints=[n], threads=threads
                )
            ),
            repeats,
        )
        others[name] = seconds / (n * games)
    return report("7 players × 30 actions × 512 sampled iterations, hashed oracle", ours, others)


def large_tensor(repeats: int) -> dict:
    payoffs = np.random.default_rng(0).random((2, 3000, 3000))
    algorithm = PiKLHedge(LAM, Constant(ETA))
    n = 20
    ours = best(lambda: solve(payoffs, algorithm, n), repeats)
    ours = (ours - best(lambda: solve(payoffs, algorithm, 0), repeats)) / n  # less the range check
    weights = np.full(3000, 1 / 3000)
    others = {
        "numpy (BLAS, its threads)": best(
            lambda: (payoffs[0] @ weights, weights @ payoffs[1]), repeats
        ),
        "limit: one pass, np.sum (one core)": best(lambda: payoffs.sum(), repeats),
    }
    return report("3000 × 3000 payoffs (144 MB), exact feedback, all cores", ours, others)


def openspiel_matching(repeats: int) -> dict | None:
    try:
        from open_spiel.python.algorithms.regret_matching import regret_matching
    except ImportError:
        print("\nOpenSpiel is not installed: no comparison with its regret matching")
        return None
    game = blotto(10, 3)
    tables = [game.payoffs[0], game.payoffs[1]]
    n, slow = 20_000, 500
    ours = best(lambda: solve(game, RegretMatching(), n, threads=1), repeats) / n
    seconds = best(lambda: regret_matching(tables, iterations=slow), repeats) / slow
    return report("Blotto(10, 3), regret matching", ours, {"OpenSpiel": seconds})


def from_the_shell() -> dict:
    kedge = str(Path(sys.executable).with_name("kedge"))
    commands = {
        "kedge --help": [kedge, "--help"],
        "kedge solve … --iterations 100000": [
            kedge, "solve", "blotto(coins=10,fields=3)", "--iterations", "100000"
        ],
    }  # fmt: skip
    print("\nFrom the shell")
    times = {}
    for name, command in commands.items():
        times[name] = best(lambda c=command: subprocess.run(c, capture_output=True, check=True), 5)
        print(f"  {name:<34}{times[name]:10.2f} s")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the seconds to this file")
    options = parser.parse_args()
    results = {
        "exact": exact_blotto(options.repeats),
        "sampled": sampled_blotto(options.repeats),
        "seven players": seven_players(options.repeats),
        "large tensor": large_tensor(options.repeats),
        "openspiel": openspiel_matching(options.repeats),
        "shell": from_the_shell(),
    }
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()

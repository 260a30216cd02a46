"""How often scorers of Go find the recorded winner, and how fast, on games that were counted.

    python benchmarks/go_scorers.py games.tsv.xz [--games 60] [--scorer katago:PROGRAM,NETWORK]

Games are drawn from even games of people whose record has a margin and komi. Many records leave out
the last moves of no value, so a scorer must also handle these. One scorer works at a time.
"""

import argparse
import re
import time

import numpy as np

from kedge.errors import InputError
from kedge.evaluation.go.scorers import check_scorer, score_games, scorer_name
from kedge.games.go import GoState
from kedge.records import GoGame, read_go_games
from kedge.records.go.games import split_of
from kedge.records.go.positions import legal_length


def counted_games(path: str, count: int, seed: int) -> list[GoGame]:
    games = [
        game
        for game in read_go_games(path)
        if split_of(game) in ("train", "test")
        and game.komi is not None
        and re.fullmatch(r"[BW]\+[\d.]+", game.result)
        and legal_length(game) == len(game)
    ]
    order = np.random.default_rng(seed).permutation(len(games))
    return [games[number] for number in order[:count]]


def last_state(game: GoGame) -> GoState:
    state = GoState(komi=game.komi or 0.0, superko="simple")
    for move in game.moves.tolist():
        if not state.is_terminal():
            state.apply_action(move)
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--scorer", action="append", help="one more scorer than GNU Go and playouts"
    )
    options = parser.parse_args()
    games = counted_games(options.data, options.games, options.seed)
    states = [last_state(game) for game in games]
    margins = [float(game.result[2:]) * (game.black_return or 0.0) for game in games]
    print(f"{'scorer':<12}{'games':>8}{'winner':>9}{'exact':>9}{'games/s':>10}")
    for name in [*(options.scorer or []), "gnugo", "playouts"]:
        scorer = scorer_name(name)
        try:
            check_scorer(scorer)
        except InputError as error:
            print(f"{error}; skipped")
            continue
        start = time.perf_counter()
        scored_games = score_games(scorer, states)
        rate = len(games) / (time.perf_counter() - start)
        pairs = [
            (scored.score, margin)
            for scored, margin in zip(scored_games, margins, strict=True)
            if not scored.failures
        ]
        winner = np.mean([np.sign(score) == np.sign(margin) for score, margin in pairs])
        exact = np.mean([score == margin for score, margin in pairs])
        short = scorer.partition(":")[0]
        print(f"{short:<12}{len(pairs):>8,}{winner:>9.1%}{exact:>9.1%}{rate:>10.2f}")


if __name__ == "__main__":
    main()

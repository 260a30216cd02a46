"""How well chess models judge positions: their values beside an engine's evaluations.

    python benchmarks/chess_judges.py GAMES… [--model SPEC] [--without SOURCE] [--most N] [--test]

The games need evaluations, as Lichess writes them. They are those of people by whom
`kedge train chess` chooses models; with --test, of people whom it keeps for testing. See
`kedge.evaluation.chess.value_accuracy` for the columns.
"""

import argparse
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from kedge.agents.board.networks import network
from kedge.evaluation.chess.value_accuracy import value_accuracy
from kedge.records import ChessGame, read_chess_games
from kedge.records.chess.filters import parts_of_sides
from kedge.records.splits import CHOOSE, TEST


def held_out(options: argparse.Namespace) -> Iterator[ChessGame]:
    """Yield the games of held-out people that have evaluations."""
    for game in chain.from_iterable(map(read_chess_games, options.games)):
        parts = parts_of_sides(game)
        is_kept = TEST in parts if options.test else CHOOSE in parts and TEST not in parts
        if is_kept and game.evals is not None and game.source not in options.without:
            yield game


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="+", type=Path)
    parser.add_argument("--model", action="append", help="default: chess and chess-large")
    parser.add_argument("--without", action="append", default=[], help="leave out this source")
    parser.add_argument("--most", type=int, default=1000, help="games")
    parser.add_argument("--test", action="store_true", help="people kept for testing")
    options = parser.parse_args()
    games = list(islice(held_out(options), options.most))
    print(
        f"{len(games):,} games\n{'model':24} {'positions':>9} {'correlation':>11} {'error':>6} "
        f"{'of changes':>10} {'blunders':>8} {'seen':>6} {'others':>6} {'ranked':>6}"
    )
    for name in options.model or ("chess", "chess-large"):
        accuracy = value_accuracy(games, network(name))
        print(
            f"{name:24} {accuracy.positions:9,} {accuracy.correlation:11.3f} {accuracy.error:6.3f} "
            f"{accuracy.change_correlation:10.3f} {accuracy.blunders:8,} "
            f"{accuracy.blunders_seen:6.1%} {accuracy.others_seen:6.1%} {accuracy.ranked:6.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()

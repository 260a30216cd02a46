"""kedge's chess models beside Maia: who predicts held-out people better, and when?

    python benchmarks/chess_people.py GAMES… --maia FOLDER [--maia FOLDER] [--positions 20000]

Positions are Maia's (rated, from the eleventh half-move on, 30 seconds left), of people whom
`kedge train chess` keeps for testing, at most 20 games of one person. Each row is a sample of one
rating bucket, speed or FIDE rating. The Maias within 300 points of its rating, or all of them for a
speed, predict all of it, and the best one is chosen on the row itself, which favours Maia a little.
kedge's models take the players as input. Differences are paired, with standard errors clustered by
game.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from kedge.agents import Agent, make_agent
from kedge.evaluation.board.players import Players, predict_players, with_players
from kedge.evaluation.chess.ratings import players_of
from kedge.evaluation.prediction import Prediction, clustered, predict
from kedge.records import ChessGame, ChessPosition, read_chess_games
from kedge.records.chess.filters import MAIA_BY_NAME, bucket_of, held_out_moves
from kedge.records.chess.positions import boards_of
from kedge.records.sieve import chosen_plies
from kedge.specs import Spec, parse

OURS = ("chess", "chess-large")
MOST_OF_ONE = 20
SPEEDS = ("bullet", "blitz", "rapid", "classical")
Sample = list[ChessPosition]


def rows_of(game: ChessGame) -> Iterator[str]:
    """Yield the rows that a game belongs to."""
    bucket = bucket_of(game)
    if game.scale == "fide":
        if bucket is not None and 2200 <= bucket < 2800:
            yield f"FIDE {bucket}"
    elif game.rated:
        if game.time_class in SPEEDS:
            yield game.time_class
        if bucket is not None and 1000 <= bucket < 2300 and game.time_class != "bullet":
            yield f"Lichess {bucket}"


def samples(files: Sequence[Path], without: Sequence[str], positions: int) -> dict[str, Sample]:
    """Draw whole games for each row until they have enough positions."""
    filters = [MAIA_BY_NAME[name] for name in ("by bots", "too short", "short of time")]
    games: dict[str, list[ChessGame]] = {}
    played: Counter[str] = Counter()
    for game in chain.from_iterable(map(read_chess_games, files)):
        names = [name for name in (game.white, game.black) if name]
        if game.source in without or not held_out_moves(game).any():
            continue
        if any(played[name] >= MOST_OF_ONE for name in names):
            continue
        played.update(names)
        for row in rows_of(game):
            games.setdefault(row, []).append(game)
    drawn: dict[str, Sample] = {}
    for row, candidates in games.items():
        sample: Sample = []
        for number in np.random.default_rng(0).permutation(len(candidates)):
            game = candidates[number]
            plies = chosen_plies(game, [*filters, held_out_moves])
            sample += [ChessPosition(game, ply) for ply in plies]
            if len(sample) >= positions:
                break
        drawn[row] = sample
    return dict(sorted(drawn.items(), key=lambda item: _order(item[0])))


def _order(row: str) -> tuple[int, str, int]:
    scale, _, rating = row.partition(" ")
    speed = SPEEDS.index(scale) if scale in SPEEDS else 0
    return ("Lichess", "FIDE").index(scale) if rating else 2, "", int(rating or speed)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="+", type=Path)
    parser.add_argument("--maia", action="append", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--without", action="append", default=[], help="leave out this source")
    parser.add_argument("--positions", type=int, default=20_000, help="positions of a row")
    options = parser.parse_args()
    maias = {
        path.name.partition(".")[0]: make_agent(Spec(str(path)))
        for folder in options.maia
        for path in sorted(folder.glob("maia-*.pb.gz"))
    }
    print(f"{'people':13} {'games':>6} {'positions':>9}  best Maia {'':16}" + "".join(
        f"{name:>14} {'difference':>16} {'nats':>8}" for name in OURS
    ))  # fmt: skip
    for row, sample in samples(options.games, options.without, options.positions).items():
        near = _near(row, list(maias))
        theirs = {name: _sums(predict(sample, maias[name], boards_of)) for name in near}
        best = max(theirs, key=lambda name: float(theirs[name][:, 1].sum()))
        cells = ""
        for name in OURS:
            ours = _sums(predict_players(sample, partial(_agent_for, name), players_of, boards_of))
            difference = ours - theirs[best]
            difference[:, 0] = ours[:, 0]
            one, two = clustered(ours), clustered(difference)
            cells += f" {one['top1']:6.1%} ± {one['top1_se']:4.1%}"
            cells += f" {two['top1']:+7.2%} ± {two['top1_se']:5.2%} {two['cross_entropy']:+8.4f}"
        summary = clustered(theirs[best])
        maia = f"{best:10} {summary['top1']:6.1%} ± {summary['top1_se']:4.1%}"
        counts = f"{summary['games']:6,} {summary['positions']:9,}"
        print(f"{row:13} {counts}  {maia} {cells}", flush=True)


def _agent_for(name: str, players: Players) -> Agent:
    return make_agent(with_players(parse(name), players))


def _near(row: str, maias: list[str]) -> list[str]:
    """The Maias that may be the best of a row: not those of far other ratings."""
    scale, _, rating = row.partition(" ")
    if not rating:
        return maias
    at = min(int(rating), 2200) if scale == "Lichess" else 2200
    return [name for name in maias if abs(int(name.removeprefix("maia-")) - at) <= 300]


def _sums(prediction: Prediction) -> np.ndarray:
    return np.array([game.sums for game in prediction.games])


if __name__ == "__main__":
    main()

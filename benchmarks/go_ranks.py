"""How well moves say the rank of a Go player whom the model never met.

    python benchmarks/go_ranks.py kgs_dan.tsv.xz cwi_pro_games.tsv.xz [--device cuda] [--keep FILE]
    python benchmarks/go_ranks.py FILE.npz

People on KGS are those whom `kedge train go` holds out: one person in fifty for choosing, another
for testing. Professionals are those of games over the board: of 2015 and 2016 for testing, of the
twentieth of later games that are held out for choosing. At most some games of a person at a rank
count. All is weighted so that every rank counts alike, whatever its number of people: that is the
prior of `kedge.evaluation.go.rank_fit`.

The people for choosing fit the two numbers that weaken the likelihoods, by the mean logarithm of
the true rank's probability. Those for testing say how often the true rank lies within the error of
the estimate, and how far the estimate is off; before that, whether the model guesses people best
when it is told their own rank. Standard errors are clustered by person.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.agents.go.ladder import RANKED
from kedge.errors import InputError
from kedge.evaluation.board.players import Players
from kedge.evaluation.go import rank_fit
from kedge.evaluation.go.rank_fit import Moves, known_of, posterior, rank_network, spread
from kedge.games.go.ranks import RANKS, rank_number
from kedge.models.board.backends import Network
from kedge.models.board.conditioning import for_players
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.weights import Weights
from kedge.models.devices import Dtype, is_cpu
from kedge.models.named import load_as
from kedge.records.go.files import read_go_games
from kedge.records.go.games import GoGame, split_of
from kedge.records.go.people import part_of
from kedge.records.go.positions import legal_length
from kedge.records.splits import CHOOSE, TEST

PARTS = {"choose": CHOOSE, "test": TEST}
PRO = rank_number("pro")
LEAST = 20  # moves of a person in a game that counts
SIZES = (1, 3, 10)  # games of a person
DRAWS = 20  # sets of so many games that are drawn from a person's
WEIGHTS = np.geomspace(0.05, 2.0, 40)
MOST_MOVES = np.geomspace(50.0, 20_000.0, 40)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """Someone's games at one rank."""

    part: int
    name: str
    rank: int
    totals: Array
    """Log-likelihood (games, ranks) of the moves of each game."""
    moves: Array


def seats(file: Path) -> Iterator[tuple[int, str, int, GoGame, int]]:
    """Yield part, name and rank of the held-out players of a file's games, and their seats."""
    for game in read_go_games(file):
        if game.size != 19:
            continue
        split = split_of(game)
        for player in (0, 1):
            name, rank = game.name(player), rank_number(game.rating(player))
            if name is None or "BW"[player] in game.bots:
                continue
            if game.server is None:  # `split_of` leaves games of programs out
                part = {"test": TEST, "modern-test": CHOOSE}.get(str(split))
                if part is not None and rank in (0, PRO):
                    yield part, name, PRO, game, player
            elif rank and part_of(game, player) in PARTS.values():
                yield part_of(game, player), f"{game.server} {name}", rank, game, player


def drawn_games(
    files: Sequence[Path], games: int, people: int
) -> dict[tuple[int, str, int], list[tuple[GoGame, int]]]:
    """Return at most `games` games of each of at most `people` people of a rank and part."""
    found: dict[tuple[int, str, int], list[tuple[GoGame, int]]] = defaultdict(list)
    for part, name, rank, game, player in chain.from_iterable(map(seats, files)):
        found[part, name, rank].append((game, player))
    rng = np.random.default_rng(0)
    by_rank: dict[tuple[int, int], list[tuple[int, str, int]]] = defaultdict(list)
    for key in sorted(found):
        by_rank[key[0], key[2]].append(key)
    drawn = {}
    for keys in by_rank.values():
        # People with the games for the last row first: few have them.
        order = sorted(rng.permutation(len(keys)), key=lambda i: -min(games, len(found[keys[i]])))
        for key in (keys[i] for i in order[:people]):
            order_of_games = rng.permutation(len(found[key]))[:games]
            drawn[key] = [found[key][i] for i in order_of_games]
    return drawn


def measured(
    files: Sequence[Path], games: int, people: int, device: str, dtype: Dtype
) -> list[Person]:
    """Compute the likelihoods of people's games, all moves against one rank in large batches."""
    drawn = drawn_games(files, games, people)
    alike: dict[tuple[Any, ...], list[tuple[tuple[int, str, int], Moves]]] = defaultdict(list)
    for key, own in drawn.items():
        for game, player in own:
            plies = [ply for ply in range(legal_length(game)) if game.mover(ply) == player]
            if len(plies) >= LEAST:
                moves = Moves.of(game, np.array(plies))
                alike[tuple(known_of(game, player).items())].append((key, moves))
    network_of = rank_network if is_cpu(device) else OneNetwork(device, dtype)
    sums: dict[tuple[int, str, int], list[tuple[Array, int]]] = defaultdict(list)
    for known, rows in alike.items():
        together = Moves(
            *(
                np.concatenate([getattr(moves, name) for _, moves in rows])
                for name in ("masks", "komi", "legal", "played")
            )
        )
        likelihoods, end = together.likelihoods(dict(known), network_of), 0
        for key, moves in rows:
            start, end = end, end + len(moves.played)
            sums[key].append((likelihoods[start:end].sum(axis=0), end - start))
    return [
        Person(
            part, name, rank, np.array([total for total, _ in own]), np.array([n for _, n in own])
        )
        for (part, name, rank), own in sums.items()
    ]


class OneNetwork:
    """The shipped model on a GPU; other players change its biases in place.

    It is not compiled, which would take longer than all the rest.
    """

    def __init__(self, device: str, dtype: Dtype) -> None:
        self._weights = load_as(Weights, RANKED)
        usual = for_players(self._weights, RANKED)
        self._network = TorchNetwork(usual, device=device, dtype=dtype)

    def __call__(self, players: Players) -> Network:
        import torch

        told = for_players(self._weights, RANKED, **players)
        biases = {
            name: torch.from_numpy(array)
            for name, array in told.arrays.items()
            if self._weights.arrays.get(name) is not array
        }
        self._network.module.load_state_dict(biases, strict=False)
        return self._network


@dataclass(frozen=True)
class Sample:
    """Sets of so many games of people, drawn from theirs."""

    totals: Array
    """(sets, ranks)."""
    moves: Array
    rank: npt.NDArray[np.int64]
    """Number of the true rank, from 0."""
    person: npt.NDArray[np.int64]
    weight: Array
    """Every rank has the same weight, and in a rank every person."""


def sample(people: Sequence[Person], size: int) -> Sample:
    """Draw sets of `size` games of all people who have so many."""
    rng = np.random.default_rng(size)
    rows, by_rank = [], defaultdict(list)
    for number, person in enumerate(people):
        if len(person.moves) >= size:
            by_rank[person.rank].append(number)
    for rank, numbers in by_rank.items():
        for number in numbers:
            person = people[number]
            sets = [rng.permutation(len(person.moves))[:size] for _ in range(DRAWS)]
            weight = 1.0 / len(by_rank) / len(numbers) / DRAWS
            rows += [
                (
                    person.totals[some].sum(axis=0),
                    person.moves[some].sum(),
                    rank - 1,
                    number,
                    weight,
                )
                for some in sets
            ]
    return Sample(*(np.array(column) for column in zip(*rows, strict=True)))


def fitted(people: Sequence[Person]) -> tuple[float, float]:
    """Return the weight of a move and the most moves that make the true ranks likeliest."""
    samples = [sample(people, size) for size in SIZES if any(len(p.moves) >= size for p in people)]

    @cache
    def score(weight: float, most_moves: float) -> float:
        return sum(
            float(each.weight @ np.log(shares_of(each, weight, most_moves)[rows(each)]))
            for each in samples
        )

    grid = [(weight, most) for weight in WEIGHTS for most in MOST_MOVES]
    return max(grid, key=lambda pair: score(*pair))


def rows(drawn: Sample) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.arange(len(drawn.rank)), drawn.rank


def shares_of(drawn: Sample, weight: float, most_moves: float) -> Array:
    return np.maximum(posterior(drawn.totals, drawn.moves, weight, most_moves), 1e-12)


def print_table(people: Sequence[Person], weight: float, most_moves: float) -> None:
    """Print how often the true rank lies within the error, and how far the estimate is off."""
    print("games  people  moves  within error   error   ranks off      bits of 3.46")
    for size in SIZES:
        if not any(len(person.moves) >= size for person in people):
            continue
        drawn = sample(people, size)
        shares = shares_of(drawn, weight, most_moves)
        middle = np.array([np.searchsorted(np.cumsum(each), 0.5) for each in shares])
        error = np.array([spread(each, at) for each, at in zip(shares, middle, strict=True)])
        off = np.abs(middle - drawn.rank)
        bits = np.log2(len(RANKS) * shares[rows(drawn)])
        columns = [with_error(drawn, column) for column in (off <= error, off, bits)]
        (within, within_se), (far, far_se), (said, said_se) = columns
        print(
            f"{size:>5}  {len(set(drawn.person.tolist())):>6}  {drawn.weight @ drawn.moves:>5.0f}"
            f"  {within:>5.1%} ± {within_se:<4.1%}  {drawn.weight @ error:>6.2f}"
            f"   {far:.2f} ± {far_se:.2f}   {said:.2f} ± {said_se:.2f}"
        )
        by_rank = []
        for rank, name in enumerate(RANKS):
            if (own := drawn.rank == rank).any():
                by_rank.append(f"{name} {(off <= error)[own].mean():.0%}, {off[own].mean():.1f}")
        print("       by rank (within error, ranks off): " + "; ".join(by_rank))


def print_told_ranks(people: Sequence[Person]) -> None:
    """Print the loss of people's moves if the model is told their own rank, and any other."""
    print("\npeople for testing: nats a move if the model is told their own rank; if it is told")
    print("another, thousandths of a nat more (last: the best of these, with its standard error)")
    print("rank  people   moves             nats", *(f"{name:>4}" for name in RANKS))
    for rank, name in enumerate(RANKS):
        own = [person for person in people if person.rank == rank + 1]
        if not own:
            continue
        moves = np.array([person.moves.sum() for person in own])
        losses = -np.array([person.totals.sum(axis=0) for person in own])  # (people, ranks)
        more = 1000.0 * (losses - losses[:, [rank]])
        means = more.sum(axis=0) / moves.sum()
        best = min(set(range(len(RANKS))) - {rank}, key=means.item)
        loss, beside = a_move(losses[:, rank], moves), a_move(more[:, best], moves)
        print(
            f"{name:>4}  {len(own):>6}  {moves.sum():>6,.0f}  {loss[0]:.4f} ± {loss[1]:.4f}",
            *(f"{mean:>4.0f}" for mean in means),
            f" {beside[0]:+.1f} ± {beside[1]:.1f} ({RANKS[best]})",
        )


def a_move(totals: Array, moves: Array) -> tuple[float, float]:
    """Return the mean of totals of people a move, and its standard error clustered by person."""
    mean = totals.sum() / moves.sum()
    return float(mean), float(np.sqrt(((totals - mean * moves) ** 2).sum()) / moves.sum())


def with_error(drawn: Sample, values: npt.NDArray[np.generic]) -> tuple[float, float]:
    """Return the weighted mean, and its standard error clustered by person."""
    mean = float(drawn.weight @ values)
    off = drawn.weight * (values - mean)
    by_person = np.bincount(drawn.person, off)
    return mean, float(np.sqrt((by_person**2).sum()))


def saved(people: Sequence[Person], path: Path) -> None:
    """Save the likelihoods, without names."""
    rows = [
        (person.part, number, person.rank, moves, *total)
        for number, person in enumerate(people)
        for moves, total in zip(person.moves, person.totals, strict=True)
    ]
    np.savez_compressed(path, rows=np.array(rows, np.float64))


def loaded(path: Path) -> list[Person]:
    table = np.load(path)["rows"]
    people = []
    for number in np.unique(table[:, 1]):
        own = table[table[:, 1] == number]
        part, rank = int(own[0, 0]), int(own[0, 2])
        people.append(Person(part, str(int(number)), rank, own[:, 4:], own[:, 3]))
    return people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--games", type=int, default=10, help="most games of a person at a rank")
    parser.add_argument("--people", type=int, default=40, help="most people of a rank")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--keep", type=Path, help="save the likelihoods (.npz), to read them again")
    args = parser.parse_args()
    if args.files[0].suffix == ".npz":
        people = loaded(args.files[0])
    else:
        people = measured(args.files, args.games, args.people, args.device, args.dtype)
        if args.keep is not None:
            saved(people, args.keep)
    by_part = {name: [p for p in people if p.part == part] for name, part in PARTS.items()}
    for name, part in by_part.items():
        games = sum(len(person.moves) for person in part)
        print(f"{name}: {len({person.name for person in part})} people, {games:,} games")
    if not all(by_part.values()):
        raise InputError("no people are held out in these files")
    print_told_ranks(by_part["test"])
    weight, most_moves = fitted(by_part["choose"])
    print(f"\nfitted to those for choosing: WEIGHT = {weight:.2g}, MOST_MOVES = {most_moves:.2g}")
    for words, pair in (
        ("as fitted", (weight, most_moves)),
        ("as shipped", (rank_fit.WEIGHT, rank_fit.MOST_MOVES)),
        ("not weakened", (1.0, np.inf)),
    ):
        print(f"\npeople for testing, {words} ({pair[0]:.2g}, {pair[1]:.2g})")
        print_table(by_part["test"], *pair)


if __name__ == "__main__":
    main()

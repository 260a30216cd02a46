"""The players as input of a Go network: both ranks, the server, and the year."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.go.ranks import RANKS, SERVERS, rank_number, server_number
from kedge.models.board.weights import Weights

#: Years are described by how near they are to each of these.
YEARS = np.array([1900.0, 1930.0, 1950.0, 1970.0, 1985.0, 2000.0, 2010.0, 2016.0, 2019.0, 2025.0])
#: How many numbers a network takes: the mover's rank, the opponent's, the server, the year.
WHO = 2 * len(RANKS) + len(SERVERS) + len(YEARS)


def who_features(
    mover: npt.ArrayLike, opponent: npt.ArrayLike, server: npt.ArrayLike, year: npt.ArrayLike
) -> npt.NDArray[np.float32]:
    """The numbers of `kedge.games.go.ranks` and years as (n, WHO) features; unknown is all 0.

    >>> who_features([11], [11], [0], [2013]).nonzero()[1].tolist()
    [10, 21, 32, 33]
    """
    years = np.asarray(year, np.float64)
    known = np.clip(years, YEARS[0], YEARS[-1])
    near = np.stack([np.interp(known, YEARS, each) for each in np.eye(len(YEARS))], axis=1)
    parts = [
        _one_of(mover, len(RANKS)),
        _one_of(opponent, len(RANKS)),
        _one_of(server, len(SERVERS)),
        np.where(years[:, None] > 0, near, 0.0),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def for_ranks(
    weights: Weights,
    name: str,
    *,
    rank: str | None = None,
    opponent: str | None = None,
    server: str | None = None,
    year: int | None = None,
) -> Weights:
    """The network for a player of `rank` alone, which needs no input but the planes.

    The players are a bias of each channel after the input convolution, so they add to that layer's
    own bias exactly. Without arguments professionals play over the board in 2016; with a rank,
    people on KGS. The opponent has the same rank unless it is given.
    """
    if "who.weight" not in weights.arrays:
        if any(given is not None for given in (rank, opponent, server, year)):
            raise InputError(f"{name} takes no ranks")
        return weights
    rank = "pro" if rank is None else rank
    opponent = rank if opponent is None else opponent
    numbers = [_known("rank", rank), _known("opponent", opponent)]
    if server is None:
        server = "" if RANKS[numbers[0] - 1] == "pro" else "KGS"
    if server and not server_number(server):
        raise InputError(f"server: {', '.join(SERVERS)}, not {server}")
    year = 2016 if year is None else year
    who = who_features(numbers[:1], numbers[1:], [server_number(server)], [year])[0]
    arrays = dict(weights.arrays)
    columns = arrays.pop("who.weight")
    if columns.shape[1] != WHO:
        raise InputError(f"{name}: takes {columns.shape[1]} numbers of who plays, not {WHO}")
    shift = columns.astype(np.float64) @ who
    arrays["input.bias"] = (arrays["input.bias"] + shift).astype(np.float32)
    words = f"{rank}-{opponent}-{server}-{year}"
    return replace(weights, arrays=arrays, sha256=f"{weights.sha256}-{words}")


def _known(what: str, rank: str) -> int:
    number = rank_number(rank)
    if not number:
        raise InputError(f"{what}: {', '.join(RANKS)}, not {rank}")
    return number


def _one_of(numbers: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    """One-hot of 1 to `count`; 0 is none of them."""
    return np.eye(count + 1)[np.asarray(numbers, np.int64)][:, 1:]

"""Go players as network inputs: both ranks, the server, and the year."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.go.ranks import RANKS, SERVERS, given_rank, rank_number, server_number
from kedge.models.board.conditioning import Numbers, PlayerInputs, near, one_of

#: Years that dates of records have; any other is a mistake. Those beyond `YEARS` count as its ends.
EARLIEST, LATEST = 1000, 2099
#: Years are encoded by their distance to these.
YEARS = np.array([1900.0, 1930.0, 1950.0, 1970.0, 1985.0, 2000.0, 2010.0, 2016.0, 2019.0, 2025.0])
#: Number of inputs: the mover's rank, the opponent's, the server, the year.
WHO = 2 * len(RANKS) + len(SERVERS) + len(YEARS)


def who_features(
    mover: npt.ArrayLike, opponent: npt.ArrayLike, server: npt.ArrayLike, year: npt.ArrayLike
) -> Numbers:
    """Encode the numbers of `kedge.games.go.ranks` and years as (n, WHO); unknown is all 0.

    >>> who_features([11], [11], [0], [2013]).nonzero()[1].tolist()
    [10, 21, 32, 33]
    """
    years = np.asarray(year, np.float64)
    parts = [
        one_of(mover, len(RANKS)),
        one_of(opponent, len(RANKS)),
        one_of(server, len(SERVERS)),
        near(np.where(years > 0, years, np.nan), YEARS),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


class GoPlayers(PlayerInputs):
    """``go(rank=3d, opponent=1d, server=KGS, year=2016)``.

    Without arguments professionals play over the board in 2016; with a rank, people on KGS. The
    opponent has the same rank unless it is given. A rank may be unknown, a server `board`, and a
    year 0 if it is not known. The model tells years from 1900 to 2025 apart; beyond, it plays as
    at these ends.
    """

    options = ("rank", "opponent", "server", "year")
    count = WHO

    def numbers(
        self, rank: Any = "pro", opponent: Any = None, server: Any = None, year: Any = 2016
    ) -> Numbers:
        other = rank if opponent is None else opponent
        ranks = [
            given_rank("rank", rank, unknown="unknown"),
            given_rank("opponent", other, unknown="unknown"),
        ]
        if server is None:
            server = "board" if rank_number(str(rank)) == rank_number("pro") else "KGS"
        if str(server) != "board" and not server_number(str(server)):
            raise InputError(f"server: {', '.join(SERVERS)} or board, not {server}")
        rows = who_features(ranks[:1], ranks[1:], [server_number(str(server))], [_year(year)])
        return rows.ravel()


def _year(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (value == 0 or EARLIEST <= value <= LATEST):
        return float(value)
    raise InputError(
        f"year: from {EARLIEST} to {LATEST}, or 0 if unknown, not {value}; the model tells years "
        f"from {YEARS[0]:g} to {YEARS[-1]:g} apart"
    )

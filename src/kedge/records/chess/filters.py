"""Filters that select chess positions to predict: those of Maia, as in the paper's tables.

McIlroy-Young et al. (2020) predict rated games, not bullet, from the eleventh half-move on, and
leave out moves after which the mover had less than 30 seconds. A bucket such as 1900 holds games
where both players are rated from 1900 to 1999.
"""

import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records.chess.games import TIME_CLASSES, ChessGame, TimeClass
from kedge.records.sieve import Filter
from kedge.records.splits import CHOOSE, LEARN, TEST, is_one_in


def is_rated(game: ChessGame) -> bool:
    """Keep rated games; drop those that do not say whether they are."""
    return game.rated is True


def no_bots(game: ChessGame) -> bool:
    """Keep games in which neither player has the title BOT."""
    return not game.has_bot


def no_bullet(game: ChessGame) -> bool:
    """Drop bullet and ultrabullet; keep games of unknown time control."""
    return game.time_class not in ("bullet", "ultrabullet")


def has_clocks(game: ChessGame) -> bool:
    """Keep games that record at least some clock times."""
    return game.clocks is not None


def is_for_testing(game: ChessGame) -> bool:
    """Whether a game is held out of training and of the choice of models, for testing.

    Held out are the games of one player in twenty, by a hash of the name, and one game in
    twenty-five without names. Never single positions: training would see their neighbours.
    """
    return TEST in parts_of_sides(game)


def held_out_moves(game: ChessGame) -> npt.NDArray[np.bool_]:
    """Keep the moves of the players that are held out for testing, not of their opponents."""
    movers = (game.first_player + np.arange(len(game))) % 2
    return np.array([part == TEST for part in parts_of_sides(game)])[movers]


def is_player_for_testing(name: str) -> bool:
    return is_one_in(20, name.encode())


def parts_of_sides(game: ChessGame) -> tuple[int, int]:
    """Return what white's and black's moves are for: LEARN, CHOOSE or TEST.

    One player in twenty is for testing, one in fifty for choosing models. Without names, white and
    black belong to the part of the game.
    """
    if not (game.white or game.black):
        moves = game.moves.tobytes()
        part = TEST if is_one_in(25, moves) else CHOOSE if is_one_in(50, _CHOOSE + moves) else LEARN
        return part, part
    return _part_of(game.white), _part_of(game.black)


_CHOOSE = b"choose "


@functools.lru_cache(1 << 16)
def _part_of(name: str | None) -> int:
    if not name:
        return LEARN
    if is_player_for_testing(name):
        return TEST
    return CHOOSE if is_one_in(50, _CHOOSE + name.encode()) else LEARN


def time_classes(*names: TimeClass) -> Filter:
    """Keep games of these time classes."""
    for name in names:
        if name not in TIME_CLASSES:
            raise InputError(f"{name!r} is not a time class: {', '.join(TIME_CLASSES)}")
    return lambda game: game.time_class in names


def time_control(text: str) -> Filter:
    """Keep games of one time control, such as ``"180+2"``."""
    return lambda game: game.time_control == text


def rating_bucket(low: int, width: int = 100) -> Filter:
    """Keep games where both players are rated from `low` to ``low + width − 1``."""
    if width < 1:
        raise InputError(f"rating bucket: width must be at least 1, not {width}")
    if not 0 <= low <= 4000:
        raise InputError(f"rating bucket: must start from 0 to 4000, not at {low}")

    def both_within(game: ChessGame) -> bool:
        return all(
            elo is not None and low <= elo < low + width for elo in (game.white_elo, game.black_elo)
        )

    return both_within


def skip_opening(plies: int = ChessGame.opening) -> Filter:
    """Drop the first half-moves, which people play from memory."""
    return lambda game: np.arange(len(game)) >= plies


def enough_time(seconds: float = 30.0) -> Filter:
    """Keep moves after which the mover still had this much time, as Maia does.

    Moves without a clock are kept: `ChessPosition.groups` shows them, and `has_clocks` drops them.
    """

    def not_in_time_trouble(game: ChessGame) -> bool | npt.NDArray[np.bool_]:
        return True if game.clocks is None else ~(game.clocks < seconds)

    return not_in_time_trouble


#: Maia's filters without the rating bucket, by the name of what they leave out.
MAIA_BY_NAME: Mapping[str, Filter] = {
    "not rated": is_rated,
    "by bots": no_bots,
    "bullet": no_bullet,
    "too short": skip_opening(),
    "short of time": enough_time(),
}
MAIA: tuple[Filter, ...] = tuple(MAIA_BY_NAME.values())


def maia_filter(bucket: int | None = None) -> tuple[Filter, ...]:
    """Return Maia's filters, for one rating bucket or for all ratings."""
    return MAIA if bucket is None else (rating_bucket(bucket), *MAIA)


def bucket_of(game: ChessGame, width: int = 100) -> int | None:
    """Return the lower end of the rating bucket of both players, or None."""
    if game.white_elo is None or game.black_elo is None:
        return None
    low = game.white_elo // width * width
    return low if low <= game.black_elo < low + width else None


__all__ = [
    "MAIA",
    "MAIA_BY_NAME",
    "bucket_of",
    "enough_time",
    "has_clocks",
    "is_rated",
    "maia_filter",
    "no_bots",
    "no_bullet",
    "rating_bucket",
    "skip_opening",
    "time_classes",
    "time_control",
]

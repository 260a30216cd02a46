"""Chess players as network inputs: both ratings and their scale, the speed and the clock."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.chess.ratings import SCALES, SPEEDS, scale_number, speed_number
from kedge.models.board.conditioning import Numbers, PlayerInputs, near, one_of

#: Ratings that people have; any other is a mistake. Those beyond `ONLINE` count as its ends.
LOWEST, HIGHEST = 100, 4000
#: Ratings from which reviews fit a player's.
KNOTS = np.arange(800.0, 2401.0, 200.0)
#: A rating is encoded by its distance to these, one list for online ratings and one for FIDE's.
ONLINE = np.arange(600.0, 2801.0, 200.0)
FIDE = np.arange(1800.0, 2801.0, 200.0)
#: Seconds on the mover's clock, encoded by the distance of their logarithms.
CLOCK = np.array([5.0, 15.0, 45.0, 120.0, 300.0, 900.0])
_RATING = len(ONLINE) + len(FIDE)
#: How many numbers describe the ratings and their scale, and how many the speed and the clock.
RATED, TIMED = 2 * _RATING + len(SCALES), len(SPEEDS) + len(CLOCK)
_FIDE = scale_number("fide")


def player_features(
    mover: npt.ArrayLike,
    opponent: npt.ArrayLike,
    scale: npt.ArrayLike,
    speed: npt.ArrayLike,
    clock: npt.ArrayLike,
) -> Numbers:
    """Encode positions (n) as (n, RATED + TIMED) numbers; what is unknown is all 0.

    `mover` and `opponent` are ratings, `clock` the seconds that the mover has left; `scale` and
    `speed` are numbers of `kedge.games.chess.ratings`. 0 is unknown everywhere but in `clock`,
    where NaN is.

    >>> player_features([1500], [0], [1], [2], [np.nan]).nonzero()[1].tolist()
    [4, 5, 36, 40]
    """
    scale = np.asarray(scale, np.int64)
    parts = [
        *(_rating(each, scale) for each in (mover, opponent)),
        one_of(scale, len(SCALES)),
        one_of(speed, len(SPEEDS)),
        near(np.log(np.clip(np.asarray(clock, np.float64), CLOCK[0], CLOCK[-1])), np.log(CLOCK)),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def nearest_clock(seconds: float) -> int:
    """Return the nearest time of `CLOCK`, so that few networks serve many positions.

    >>> nearest_clock(32.0), nearest_clock(0.0)
    (45, 5)
    """
    return int(CLOCK[np.abs(np.log(CLOCK) - np.log(max(seconds, CLOCK[0]))).argmin()])


class ChessPlayers(PlayerInputs):
    """``chess(elo=1700, opponent=1500, scale=lichess, speed=blitz, clock=40)``.

    Ratings are 100 to 4000. The model tells online ratings from 600 to 2800 apart, and FIDE's from
    1800 to 2800; beyond, it plays as at these ends. `elo` defaults to 1500 and `opponent` to
    `elo`; the scale to Lichess's. Ratings of 0, and a speed and a clock that are not given, are
    unknown.
    """

    options = ("elo", "opponent", "scale", "speed", "clock")
    count = RATED + TIMED

    def numbers(
        self,
        elo: Any = 1500.0,
        opponent: Any = None,
        scale: Any = "lichess",
        speed: Any = None,
        clock: Any = None,
    ) -> Numbers:
        mover, other = _ratings(elo, opponent, FIDE if scale == "fide" else ONLINE)
        for name, value, known in (("scale", scale, SCALES), ("speed", speed, SPEEDS)):
            if value is not None and value not in known:
                raise InputError(f"{name}: one of {', '.join(known)}, not {value}")
        seconds = np.nan if clock is None else _seconds(clock)
        rows = player_features(
            [mover], [other], [scale_number(scale)], [speed_number(speed)], [seconds]
        )
        return rows.ravel()


class RatingPlanes(PlayerInputs):
    """The players of models from before `ChessPlayers`: both ratings, and whether it is bullet."""

    options = ("elo", "opponent", "speed")
    count = 2 * len(KNOTS) + 1

    def numbers(self, elo: Any = 1500.0, opponent: Any = None, speed: Any = None) -> Numbers:
        ratings = np.array(_ratings(elo, opponent, KNOTS))
        mine, theirs = near(np.where(ratings > 0.0, ratings, np.nan), KNOTS)
        return np.array([*mine, *theirs, speed == "bullet"])


def given_rating(name: str, value: Any, known: npt.NDArray[np.float64] = ONLINE) -> float:
    """Return a rating that a user gave as `name`; `InputError` for no such rating.

    `known` are the ratings by which the model encodes it.
    """
    if _is_number(value) and (value == 0 or LOWEST <= value <= HIGHEST):
        return float(value)
    raise InputError(
        f"{name}: a rating from {LOWEST} to {HIGHEST}, or 0 if unknown, not {value}; the model "
        f"tells ratings from {known[0]:g} to {known[-1]:g} apart"
    )


def _ratings(elo: Any, opponent: Any, known: npt.NDArray[np.float64]) -> tuple[float, float]:
    elo = given_rating("elo", elo, known)
    return elo, elo if opponent is None else given_rating("opponent", opponent, known)


def _seconds(value: Any) -> float:
    if not _is_number(value) or not 0.0 <= value < 1e4:
        raise InputError(f"clock: seconds from 0 to 9999, not {value}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rating(ratings: npt.ArrayLike, scale: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    array = np.asarray(ratings, np.float64)
    known = np.where(array > 0.0, array, np.nan)
    online = near(np.where(scale == _FIDE, np.nan, known), ONLINE)
    return np.concatenate([online, near(np.where(scale == _FIDE, known, np.nan), FIDE)], axis=1)

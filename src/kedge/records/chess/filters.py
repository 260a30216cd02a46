"""Which positions to predict: the filters of Maia, which the paper's tables use too.

A filter takes a game and answers for all its positions at once: True or False for the whole game,
or one boolean a half-move. `chosen_plies` keeps what every filter keeps.

McIlroy-Young et al. (2020) predict rated games, not bullet, from the eleventh half-move on, and
leave out moves after which the mover had less than 30 seconds. A bucket such as 1900 holds games
where both players are rated from 1900 to 1999.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records.chess.games import TIME_CLASSES, ChessGame, TimeClass
from kedge.records.report import ReadReport
from kedge.records.splits import is_one_in

Filter = Callable[[ChessGame], "bool | npt.NDArray[np.bool_]"]


def is_rated(game: ChessGame) -> bool:
    """Rated games; not those of which it is unknown."""
    return game.rated is True


def no_bots(game: ChessGame) -> bool:
    """Neither player has the title BOT."""
    return not game.has_bot


def no_bullet(game: ChessGame) -> bool:
    """Neither bullet nor ultrabullet; a game of unknown time control stays."""
    return game.time_class not in ("bullet", "ultrabullet")


def has_clocks(game: ChessGame) -> bool:
    """Games whose record shows the clock, at least now and then."""
    return game.clocks is not None


def is_held_out(game: ChessGame) -> bool:
    """Games that models are not trained on, to be tested on.

    Those of one player in twenty, by a hash of the name; where players are not named, one game in
    twenty-five. Never single positions, whose neighbours would be trained on.
    """
    players = [name for name in (game.white, game.black) if name]
    if not players:
        return is_one_in(25, game.moves.tobytes())
    return any(is_held_out_player(name) for name in players)


def is_held_out_player(name: str) -> bool:
    return is_one_in(20, name.encode())


def time_classes(*names: TimeClass) -> Filter:
    """Games of these time classes."""
    for name in names:
        if name not in TIME_CLASSES:
            raise InputError(f"{name!r} is not a time class: {', '.join(TIME_CLASSES)}")
    return lambda game: game.time_class in names


def time_control(text: str) -> Filter:
    """Games of one time control, such as ``"180+2"``."""
    return lambda game: game.time_control == text


def rating_bucket(low: int, width: int = 100) -> Filter:
    """Games where both players are rated from `low` to ``low + width − 1``."""
    if width < 1:
        raise InputError(f"a rating bucket of width {width} holds nobody")
    if not 0 <= low <= 4000:
        raise InputError(f"a rating bucket starts at a rating, from 0 to 4000, not at {low}")

    def both_within(game: ChessGame) -> bool:
        return all(
            elo is not None and low <= elo < low + width for elo in (game.white_elo, game.black_elo)
        )

    return both_within


def skip_opening(plies: int = ChessGame.opening) -> Filter:
    """All but the first half-moves, which are played from memory."""
    return lambda game: np.arange(len(game)) >= plies


def enough_time(seconds: float = 30.0) -> Filter:
    """Moves after which the mover still had this much time, as Maia reckons it.

    What has no clock stays: tell such games apart by `Position.groups`, or leave them out with
    `has_clocks`.
    """

    def not_in_time_trouble(game: ChessGame) -> bool | npt.NDArray[np.bool_]:
        return True if game.clocks is None else ~(game.clocks < seconds)

    return not_in_time_trouble


#: Maia's filters, less the bucket, by what they leave out.
MAIA_BY_NAME: Mapping[str, Filter] = {
    "not rated": is_rated,
    "by bots": no_bots,
    "bullet": no_bullet,
    "too short": skip_opening(),
    "short of time": enough_time(),
}
MAIA: tuple[Filter, ...] = tuple(MAIA_BY_NAME.values())


def maia(bucket: int | None = None) -> tuple[Filter, ...]:
    """Maia's filters, for one rating bucket or all."""
    return MAIA if bucket is None else (rating_bucket(bucket), *MAIA)


def bucket_of(game: ChessGame, width: int = 100) -> int | None:
    """The bucket that both players are in, by its lower end."""
    if game.white_elo is None or game.black_elo is None:
        return None
    low = game.white_elo // width * width
    return low if low <= game.black_elo < low + width else None


def chosen_plies(game: Any, filters: Iterable[Any]) -> npt.NDArray[np.int64]:
    """The half-moves of a game that every filter keeps."""
    kept = np.ones(len(game), np.bool_)
    for keep in filters:
        answer = keep(game)
        if answer is False:
            return np.empty(0, np.int64)
        kept &= answer
    return np.flatnonzero(kept)


@dataclass
class Sieve:
    """Filters by what they leave out, and how many games each has left nothing of."""

    filters: Mapping[str, Any]  #: `Filter`, or the like of another game
    read: ReadReport = field(default_factory=ReadReport)  #: to be handed to the reader
    left_out: Counter[str] = field(default_factory=Counter)

    def plies(self, game: Any) -> npt.NDArray[np.int64]:
        """The half-moves of a game that every filter keeps; if that is none, it is counted."""
        found = chosen_plies(game, self.filters.values())
        if not len(found):
            self.left_out[self._taker(game)] += 1
        return found

    def _taker(self, game: Any) -> str:
        """The filter that took what was left of a game."""
        kept = np.ones(len(game), np.bool_)
        for name, keep in self.filters.items():
            answer = keep(game)
            kept &= answer
            if answer is not True and not kept.any():
                return name
        return "too short"

    def to_json(self) -> dict[str, Any]:
        first = self.read.broken[0] if self.read.broken else None
        return {
            "games": self.read.games,
            "left_out": dict(self.left_out),
            "broken": self.read.broken_games,
            "first_broken": None if first is None else f"{first.where}: {first.reason}",
        }


def sifted_words(read: Mapping[str, Any]) -> str:
    """What `Sieve.to_json` says, for people.

    >>> sifted_words({"games": 12, "left_out": {"not rated": 3, "bullet": 9}, "broken": 0})
    '12 games read, 9 bullet, 3 not rated'
    """
    parts = [f"{read['games']:,} games read"]
    left_out = sorted(read["left_out"].items(), key=lambda one: -one[1])
    parts += [f"{count:,} {name}" for name, count in left_out]
    if read["broken"]:
        parts.append(f"{read['broken']:,} broken ({read['first_broken']})")
    return ", ".join(parts)


__all__ = [
    "MAIA",
    "MAIA_BY_NAME",
    "Filter",
    "Sieve",
    "bucket_of",
    "chosen_plies",
    "enough_time",
    "has_clocks",
    "is_rated",
    "maia",
    "no_bots",
    "no_bullet",
    "rating_bucket",
    "sifted_words",
    "skip_opening",
    "time_classes",
    "time_control",
]

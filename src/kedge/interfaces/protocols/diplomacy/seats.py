"""Where a bot plays, and under which conditions."""

from dataclasses import dataclass
from typing import Literal

from kedge.games.diplomacy import POWERS


@dataclass(frozen=True)
class NewGame:
    """Settings of a new game."""

    players: int = len(POWERS)
    """Number of seats that must be taken before it starts."""
    deadline: int = 300
    """Seconds per phase."""


@dataclass(frozen=True)
class Seats:
    """Server, game, user and powers to play.

    Parameters
    ----------
    powers
        Names of powers, or ``any`` for one free power, or ``all`` for those that are free or ours.
    new_game
        Settings of the game to create first; None to join an existing game.
    draw
        The answer when others vote for a draw.
    last_year
        Year after which the bot itself votes for a draw.
    patience
        Seconds to try to reconnect when the connection is lost.
    silence
        Seconds without events after which it asks the server for the state of the game.
    timeout
        Seconds that the server may take for an answer.
    """

    host: str
    port: int
    game: str
    user: str
    password: str
    powers: tuple[str, ...] | Literal["any", "all"] = "any"
    new_game: NewGame | None = None
    draw: Literal["yes", "no"] = "yes"
    last_year: int | None = None
    patience: float = 600.0
    silence: float = 30.0
    timeout: float = 30.0

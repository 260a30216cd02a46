"""Games between two agents, and the difference in strength that they show."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from kedge.agents.agent import Analysis, Player, draw
from kedge.games.verbs import how_ended

#: Endings that are not in the rules of the game.
RESIGNATION, MOVE_LIMIT = "resignation", "move limit"
MAX_PLIES = 400
_RESIGN_PLIES = 8  # four moves of each agent must agree
_95_PERCENT = 1.96
_FEW = 20  # games whose spread may be too small by chance


class GameState(Protocol):
    """Methods of a game of two players, with returns 1 (win), 0 (draw) or −1 (loss)."""

    def current_player(self) -> int: ...
    def legal_actions(self) -> list[int]: ...
    def apply_action(self, action: int) -> None: ...
    def is_terminal(self) -> bool: ...
    def returns(self) -> list[float]: ...


@dataclass(frozen=True)
class GameRecord:
    """One finished game between the agents 0 and 1."""

    first: int
    """The agent that had the first player's side: in chess White, in Go Black."""
    moves: tuple[int, ...]
    score: float
    """Score of agent 0: 1 for a win, ½ for a draw."""
    termination: str


def play_games(
    players: tuple[Player[Any], Player[Any]],
    new_state: Callable[[], GameState],
    count: int,
    rng: np.random.Generator,
    *,
    first: int | None = None,
    max_plies: int = MAX_PLIES,
    resign: float | None = None,
) -> list[GameRecord]:
    """Play `count` games side by side: each agent gets all positions where it is to move at once.

    Every move is drawn from the mover's policy with the game's own random stream, so the other
    games do not change it.

    Parameters
    ----------
    first
        The agent that has the first player's side in every game. None: they take turns at it.
    max_plies
        A game as long as this is a draw.
    resign
        Value at which a player resigns: the game is won once both agents have valued the same side
        above this for eight plies. None for never.
    """
    games = [
        _Game(new_state(), number % 2 if first is None else first, stream)
        for number, stream in enumerate(rng.spawn(count))
    ]
    going = games
    while going:
        # One agent after the other: after its first moves all games wait for the same one, and
        # batches are as large as they can be.
        for index, player in enumerate(players):
            waiting = [game for game in going if game.to_move == index]
            if waiting:
                analyses = player.analyse_many([game.state for game in waiting], rng)
                for game, analysis in zip(waiting, analyses, strict=True):
                    game.play(analysis, max_plies, resign)
                going = [game for game in going if game.record is None]
    return [game.record for game in games if game.record is not None]


@dataclass
class _Game:
    state: GameState
    first: int
    rng: np.random.Generator
    moves: list[int] = field(default_factory=list)
    decided: int = 0  # plies in a row that were valued as won; negative if for agent 1
    record: GameRecord | None = None

    @property
    def to_move(self) -> int:
        """Number of the agent to move, not of the side."""
        return self.first ^ self.state.current_player()

    def play(self, analysis: Analysis, max_plies: int, resign: float | None) -> None:
        """Draw a move and make it; set `record` if the game ends."""
        value = analysis.value if self.to_move == 0 else -analysis.value
        action = self.state.legal_actions()[draw(analysis.policy, self.rng)]
        self.state.apply_action(action)
        self.moves.append(action)
        if resign is not None:
            ahead = int(np.sign(value)) if abs(value) > resign else 0
            self.decided = self.decided + ahead if self.decided * ahead > 0 else ahead
        if self.state.is_terminal():
            score = (1.0 + self.state.returns()[self.first]) / 2.0
            self._end(score, how_ended(self.state) or "end of the game")
        elif abs(self.decided) >= _RESIGN_PLIES:
            self._end(float(self.decided > 0), RESIGNATION)
        elif len(self.moves) >= max_plies:
            self._end(0.5, MOVE_LIMIT)

    def _end(self, score: float, termination: str) -> None:
        self.record = GameRecord(self.first, tuple(self.moves), score, termination)


@dataclass(frozen=True)
class MatchScore:
    """Score of agent 0. A draw counts as half a win; games count as independent.

    >>> score = MatchScore(wins=15, draws=2, losses=3)
    >>> round(score.score, 3), round(score.score_se, 3), round(score.elo)
    (0.8, 0.084, 241)
    """

    wins: int
    draws: int
    losses: int

    @classmethod
    def from_results(cls, results: Iterable[Mapping[str, Any]]) -> "MatchScore":
        """Count games that each have agent 0's ``score``."""
        count = Counter(result["score"] for result in results)
        return cls(count[1.0], count[0.5], count[0.0])

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    @property
    def score_se(self) -> float:
        """Standard error of the score; NaN for fewer than two games."""
        if self.games < 2:
            return math.nan
        shares = ((self.wins, 1.0), (self.draws, 0.5), (self.losses, 0.0))
        squares = sum(count * (points - self.score) ** 2 for count, points in shares)
        return math.sqrt(squares / (self.games - 1) / self.games)

    @property
    def elo(self) -> float:
        return elo_difference(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """95 % interval: the Elo of score ± 1.96 standard errors, infinite at 0 and 1.

        Few games, and games that all ended alike, show too little spread. Then it is Wilson's
        interval, which knows only won and lost games.
        """
        score, n, z = self.score, self.games, _95_PERCENT
        centre, reach = score, z * self.score_se
        if n and (n < _FEW or not reach > 0.0):
            centre = (score + z**2 / (2 * n)) / (1 + z**2 / n)
            reach = z * math.sqrt(score * (1 - score) / n + (z / (2 * n)) ** 2) / (1 + z**2 / n)
        # Rounding near 0 and 1 must not leave the score outside.
        low, high = min(score, centre - reach), max(score, centre + reach)
        return elo_difference(low), elo_difference(high)

    def to_json(self) -> dict[str, Any]:
        low, high = self.elo_interval
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.score,
            "score_se": self.score_se,
            "elo": self.elo,
            "elo_low": low,
            "elo_high": high,
        }

    def __str__(self) -> str:
        error = "" if math.isnan(self.score_se) else f" ± {100 * self.score_se:.1f}"
        low, high = map(_signed, self.elo_interval)
        return (
            f"+{self.wins} ={self.draws} −{self.losses}, score {100 * self.score:.1f}{error} %, "
            f"Elo {_signed(self.elo)} (95 %: {low} … {high})"
        )


def elo_difference(score: float) -> float:
    """Return the rating difference at which this share of points is expected."""
    if score <= 0.0 or score >= 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def _signed(elo: float) -> str:
    return f"{elo:+.0f}".replace("-", "−").replace("inf", "∞")

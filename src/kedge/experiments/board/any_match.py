"""A match in any game of two players who move in turn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.evaluation.board.matches import play_games
from kedge.experiments.board.match import Match, game_json
from kedge.games import load_game


@dataclass(frozen=True, kw_only=True)
class AnyMatch(Match):
    """Base of matches in games that have OpenSpiel's verbs and no rules of their own for matches.

    A subclass names its game: ``game: Literal["connect-four"] = "connect-four"``.
    """

    colours: ClassVar[tuple[str, str]] = ("first", "second")
    cpu_chunk: ClassVar[int] = 8

    game: str

    def play(
        self,
        players: tuple[Player[Any], Player[Any]],
        games: int,
        rng: np.random.Generator,
    ) -> list[dict[str, Any]]:
        records = play_games(
            players,
            load_game(self.game).initial_state,
            games,
            rng,
            max_plies=self.max_plies,
            resign=self.resign,
        )
        return [game_json(record, map(str, record.moves)) for record in records]

"""A match of chess between two agents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from kedge.agents import Player
from kedge.evaluation.board.matches import MOVE_LIMIT, RESIGNATION, play_games
from kedge.experiments.board.match import Match, game_json, played_games, score_of_first
from kedge.experiments.experiment import Output
from kedge.experiments.options import RECORD, chunk_option
from kedge.games.chess import START_FEN, ChessState
from kedge.records import ChessGame, write_pgn


@dataclass(frozen=True, kw_only=True)
class ChessMatch(Match):
    """Play a chess match, and report the score of A against B and the difference in Elo.

    Each agent has white equally often. Agents draw their moves from their policies, so games
    differ. A draw counts as half a win. Games end by the rules of chess, and draws are claimed.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge match chess "puct(chess, c_puct=2, playouts=50)" chess --games 20`
    - `kedge match chess "puct(maia-1900, c_puct=0.5)" maia-1900 -n 1000 -t 0.3 --device cuda`
    - `kedge match chess "chess(elo=1900)" "chess(elo=1100)" --pgn match.pgn --json`
    """

    colours: ClassVar[tuple[str, str]] = ("white", "black")
    cpu_chunk: ClassVar[int] = 8
    outputs: ClassVar[tuple[Output, ...]] = (Output("pgn", RECORD, write_pgn),)

    chunk: Annotated[int | None, chunk_option("8; 256 on a GPU", 2)] = None
    game: Literal["chess"] = "chess"

    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_chess(players, games, rng, max_plies=self.max_plies, resign=self.resign)

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[ChessGame]:
        names = (self.a, self.b)
        adjudicated = (RESIGNATION, MOVE_LIMIT)
        for number, game in enumerate(played_games(results), 1):
            yield ChessGame(
                moves=np.array(
                    ChessState.from_fen(START_FEN, game["moves"].split()).history, np.uint16
                ),
                result={1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[score_of_first(game)],
                white=names[game["first"]],
                black=names[1 - game["first"]],
                # PGN's own words.
                termination="adjudication" if game["termination"] in adjudicated else "normal",
                event="kedge match",
                round=str(number),
            )


def play_chess(
    players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator, **rules: Any
) -> list[dict[str, Any]]:
    """Play games and return them as `Match.play` does, with UCI moves.

    `rules` are options of `play_games`.
    """
    return [
        game_json(record, map(ChessState.uci, record.moves))
        for record in play_games(players, ChessState, games, rng, **rules)
    ]

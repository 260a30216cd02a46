"""How well an agent predicts people in chess."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from kedge.evaluation.chess.ratings import players_of
from kedge.experiments.board.predict import BoardPredict
from kedge.experiments.options import agent_option, data_option
from kedge.options import Option
from kedge.records import ChessGame, ChessPosition, ReadReport, read_chess_games
from kedge.records.chess.filters import MAIA_BY_NAME, held_out_moves, rating_bucket
from kedge.records.chess.positions import boards_of
from kedge.records.sieve import Filter, Sieve
from kedge.records.splits import NOT_FOR_TESTING


@dataclass(frozen=True, kw_only=True)
class ChessPredict(BoardPredict):
    """Predict people's chess moves, and report top-1, top-5 and cross-entropy.

    The report also groups moves by rating, time control and phase. Positions are those of the
    paper and of Maia: rated games, no bullet, no bots, after ten plies, with thirty seconds left
    where clocks are known. Standard errors are clustered by game.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge predict chess lichess_2024-01.pgn.zst --agent maia-1900 --bucket 1900 --limit 20000`
    - `kedge predict chess games.pgn --agent "puct(chess, c_puct=2, playouts=50)"`
    - `kedge predict chess games.pgn --agent chess --told-ratings --json`
    """

    advice: ClassVar[Mapping[str, str]] = {
        "not rated": "--unrated keeps what does not say that it is rated"
    }

    example = "chess"
    position = ChessPosition
    boards_of = boards_of
    players_of = players_of

    agent: Annotated[str, agent_option("chess")]
    data: Annotated[tuple[str, ...], data_option("PGN or JSON lines")]
    game: Literal["chess"] = "chess"
    bucket: Annotated[
        int | None, Option("Use only games whose players are both rated N to N + 99.", metavar="N")
    ] = None
    source: Annotated[str | None, Option("Use only games of this source (JSON lines).")] = None
    held_out: Annotated[
        bool, Option("Use only the moves of people that `kedge train` keeps for testing.")
    ] = False
    unrated: Annotated[
        bool, Option("Also use games that are not marked as rated, such as those of chess.com.")
    ] = False
    told_ratings: Annotated[
        bool,
        Option(
            "Pass the players to the model in every position: ratings, speed and clock. The agent "
            "must be `chess`, `chess-large`, a model that you trained, or a search over one."
        ),
    ] = False

    @property
    def passes_players(self) -> bool:
        return self.told_ratings

    def sieve(self) -> Sieve:
        filters: dict[str, Filter] = {}
        if self.source is not None:
            filters["of other sources"] = lambda game: game.source == self.source
        if self.held_out:
            filters[NOT_FOR_TESTING] = held_out_moves
        if self.bucket is not None:
            filters["outside the bucket"] = rating_bucket(self.bucket)
        filters |= MAIA_BY_NAME
        if self.unrated:
            del filters["not rated"]
        return Sieve(filters)

    def read(self, report: ReadReport, threads: int) -> Iterator[ChessGame]:
        """Yield the games of the data; only chess has a reader with threads."""
        for path in self.data:
            yield from read_chess_games(path, report, threads=threads)

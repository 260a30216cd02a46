"""A match of Go between two agents."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from kedge.agents import Player
from kedge.agents.board.puct import ModelAgent
from kedge.evaluation.board.matches import RESIGNATION, GameRecord, play_games
from kedge.evaluation.go.scorers import check_scorer, score_games, scorer_files, scorer_name
from kedge.experiments.board.match import Match, game_json, played_games, score_of_first
from kedge.experiments.experiment import Experiment, Output
from kedge.experiments.fingerprints import file_hashes
from kedge.experiments.options import RECORD, chunk_option
from kedge.games.go import BLACK, GoState, format_gtp, format_score, parse_gtp
from kedge.machine import cores
from kedge.models.devices import is_cpu
from kedge.models.go.encoding import GO
from kedge.options import DEVICE, Option
from kedge.records import GoGame, write_sgf_file
from kedge.records.go.games import KOMI

GO_MAX_PLIES = 722  #: Two for each point of the board, as in AlphaGo Zero.
HANDICAP_KOMI = 0.5  #: In handicap games komi only prevents draws.


# The field `judge` and the keys "judge", "judge_files", "failures" and "unasked" of results keep
# their names, so that old runs can still be read.
@dataclass(frozen=True, kw_only=True)
class Scored(Experiment):
    """An experiment with games of Go, whose results depend on the scorer."""

    device: Annotated[str, DEVICE] = "cpu"
    judge: Annotated[
        str | None,
        Option(
            "Scores finished games: `gnugo`, `katago:PROGRAM,NETWORK`, or `playouts`.",
            flags=("--scorer", "--judge"),
            default="GNU Go where it is installed, else playouts",
        ),
    ] = None
    """Scorer of finished games: see `scorer_name`. None becomes what this machine has."""

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        object.__setattr__(self, "judge", scorer_name(self.judge))

    def inputs(self) -> dict[str, Any]:
        return {**super().inputs(), "judge_files": file_hashes(scorer_files(str(self.judge)))}

    def check(self) -> None:
        super().check()
        check_scorer(str(self.judge))

    def scoring(self) -> dict[str, Any]:
        """Return the arguments of `play_go` for scoring.

        On a CPU, games are scored one at a time: other tasks have the other cores.
        """
        return {"scorer": self.judge, "at_once": 1 if is_cpu(self.device) else cores()}


@dataclass(frozen=True, kw_only=True)
class GoMatch(Scored, Match):
    """Play a match of Go, and report the score of A against B and the difference in Elo.

    Each agent has black equally often; with handicap stones, B always has. A game ends with two
    passes in a row. Models that learned from people pass before the board can be counted by rule.
    So a scorer decides which stones are dead, and territory is counted by Japanese rules. No board
    position may repeat. After two failures of a scorer, kedge's own scores the game; the report
    says how often.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge match go "puct(go, c_puct=2, playouts=50)" go --games 20 --sgf match.sgf`
    - `kedge match go "puct(go, c_puct=0.5)" go -n 1000 -t 0.3 --device cuda`
    - `kedge match go "puct(go, c_puct=0.5)" go --size 9 --komi 7`
    - `kedge match go "go-large(rank=9d)" "go-large(rank=3d)" --handicap 4`
    - `kedge match go go "go(temperature=0.3)" --scorer katago:./katago,b15.bin.gz --json`
    """

    colours: ClassVar[tuple[str, str]] = ("black", "white")
    cpu_chunk: ClassVar[int] = 2  # a game with search takes minutes
    outputs: ClassVar[tuple[Output, ...]] = (Output("sgf", RECORD, write_sgf_file),)
    newer: ClassVar[tuple[str, ...]] = ("handicap",)

    chunk: Annotated[int | None, chunk_option("2; 256 on a GPU", 2)] = None
    game: Literal["go"] = "go"
    max_plies: Annotated[int, Option("A game of this length ends.", min=1)] = GO_MAX_PLIES
    komi: Annotated[
        float | None,
        Option(
            "White's bonus in points.",
            min=-60,
            max=60,
            default=f"{KOMI}; {HANDICAP_KOMI} with handicap stones",
        ),
    ] = None
    """None becomes the default."""
    handicap: Annotated[
        int, Option("Stones for B on the star points; B then always has black.", max=9)
    ] = 0
    size: Annotated[int, Option("Side of the board.", min=2, max=19)] = GO.side

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.komi is None:
            object.__setattr__(self, "komi", HANDICAP_KOMI if self.handicap else KOMI)

    def beginning(self) -> GoState:
        """Return the position before the first move."""
        assert self.komi is not None
        return GoState(self.size, self.komi, handicap=self.handicap)

    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_go(
            players,
            games,
            rng,
            self.beginning,
            black=1 if self.handicap else None,
            max_plies=self.max_plies,
            resign=self.resign,
            **self.scoring(),
        )

    def check(self) -> None:
        super().check()
        state = self.beginning()
        for player in self.players:
            if isinstance(player, ModelAgent):
                player.on_board_of(state)

    def notes(self, games: Sequence[Mapping[str, Any]]) -> list[str]:
        stones = [f"{self.b} had black and {self.handicap} stones"] if self.handicap else []
        return [*stones, *scoring_notes(games)]

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[GoGame]:
        names = (self.a, self.b)
        stones = np.flatnonzero(np.array(self.beginning().colours()) == BLACK).tolist()
        for number, game in enumerate(played_games(results), 1):
            black_won = score_of_first(game) > 0.5
            yield GoGame(
                moves=np.array(
                    [parse_gtp(move, self.size) for move in game["moves"].split()], np.int16
                ),
                size=self.size,
                komi=self.komi,
                rules="Japanese",
                handicap=self.handicap,
                black_stones=tuple(stones),
                result=format_score(game["margin"]) if "margin" in game else f"{'WB'[black_won]}+R",
                black=names[game["first"]],
                white=names[1 - game["first"]],
                event=f"kedge match, game {number}",
                ai=True,
            )


def even_game() -> GoState:
    """Return the beginning of a game on the full board, with the paper's komi."""
    return GoState(GO.side, KOMI)


def play_go(
    players: tuple[Player[Any], Player[Any]],
    games: int,
    rng: np.random.Generator,
    new_state: Callable[[], GoState] = even_game,
    *,
    scorer: str,
    black: int | None = None,
    at_once: int = 1,
    max_plies: int = GO_MAX_PLIES,
    resign: float | None = None,
) -> list[dict[str, Any]]:
    """Play games from `new_state` and return them as `Match.play` does, with GTP moves.

    `black` is the agent that always has black; None if the agents take turns. Games that were not
    resigned also have ``judge`` (the name of the scorer) and ``margin`` (Black's lead in points).
    ``failures`` and ``unasked`` list scorers' errors and the scorers that were given up.
    """
    records = play_games(
        players, new_state, games, rng, first=black, max_plies=max_plies, resign=resign
    )
    states = [_replayed(record, new_state()) for record in records]
    results = [
        game_json(record, (format_gtp(move, state.size) for move in record.moves))
        for record, state in zip(records, states, strict=True)
    ]
    played_out = [i for i, game in enumerate(results) if game["termination"] != RESIGNATION]
    scored_games = score_games(scorer, [states[i] for i in played_out], at_once)
    for i, scored in zip(played_out, scored_games, strict=True):
        game = results[i]
        of_black = float(np.sign(scored.score)) / 2 + 0.5
        game["score"] = of_black if game["first"] == 0 else 1.0 - of_black
        game |= {"margin": scored.score, "judge": scored.scorer}
        for key, names in (("failures", scored.failures), ("unasked", scored.unasked)):
            if names:
                game[key] = list(names)
    return results


def scoring_notes(games: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return lines that say which scorers were used, and how often they failed."""
    scorers = Counter(game["judge"] for game in games if "judge" in game)
    failures = [reason for game in games for reason in game.get("failures", ())]
    notes = ["scorers: " + ", ".join(f"{name} {n:,}" for name, n in scorers.most_common())]
    if failures:
        common, _ = Counter(failures).most_common(1)[0]
        notes.append(f"a scorer failed {len(failures):,} times, most often: {common}")
    for name, n in Counter(name for game in games for name in game.get("unasked", ())).items():
        notes.append(f"{name} failed in three games in a row and was not asked in {n:,} after them")
    return notes if scorers else []


def _replayed(record: GameRecord, state: GoState) -> GoState:
    """Make the moves of a game in `state`, its beginning; return it."""
    for move in record.moves:
        state.apply_action(move)
    return state

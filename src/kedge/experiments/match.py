"""A match between two agents, played in chunks that are kept as they finish."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents import Player
from kedge.agents.puct import check_temperature
from kedge.errors import InputError
from kedge.evaluation.matches import (
    MAX_PLIES,
    MOVE_LIMIT,
    RESIGNATION,
    MatchScore,
    play_games,
)
from kedge.experiments.experiment import Experiment, Task
from kedge.experiments.fingerprints import weights_of
from kedge.experiments.players import player_on
from kedge.experiments.report import Column, Report, Table
from kedge.games.chess import START_FEN, ChessState
from kedge.models.backends import Dtype
from kedge.records import ChessGame
from kedge.specs import parse

#: Games in a task. On a CPU larger batches gain nothing; a GPU wants them.
CHUNK, GPU_CHUNK = 8, 256


@dataclass(frozen=True, kw_only=True)
class Match(Experiment):
    """`games` games between the agents `a` and `b`; each has the first move equally often."""

    name: ClassVar[str] = "match"

    game: Literal["chess"] = "chess"
    a: str
    b: str
    games: int = 100
    temperature: float | None = None
    """At which both draw their moves; None leaves each its own."""
    max_plies: int = MAX_PLIES
    resign: float | None = None
    device: str = "cpu"
    dtype: Dtype = "float32"
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        for name in ("a", "b"):  # spaces in a spec do not make it another match
            object.__setattr__(self, name, str(parse(getattr(self, name))))
        if self.games < 1:
            raise InputError(f"games: at least 1, not {self.games}")
        if self.chunk < 2 or self.chunk % 2:
            raise InputError(f"chunk: an even number, for fair colours, not {self.chunk}")
        if self.max_plies < 1:
            raise InputError(f"max_plies: at least 1, not {self.max_plies}")
        if self.resign is not None and not 0.0 < self.resign < 1.0:
            raise InputError(f"resign: a value between 0 and 1, not {self.resign:g}")
        if self.temperature is not None:
            check_temperature(self.temperature)

    def inputs(self) -> dict[str, Any]:
        return {"weights": weights_of(self.a, self.b)}

    def tasks(self) -> list[Task]:
        return match_tasks(self.games, self.chunk)

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        games = task.params["games"]
        rules = {"max_plies": self.max_plies, "resign": self.resign}
        return {"games": play_chunk(self.players(), games, rng, **rules)}

    def players(self) -> tuple[Player, Player]:
        """The two agents; an `InputError` if one does not play."""
        return match_players(self.a, self.b, self.temperature, self.device, self.dtype)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = _games(results)
        score = MatchScore.from_results(games)
        colours = {
            colour: MatchScore.from_results(game for game in games if game["first"] == first)
            for first, colour in enumerate(("white", "black"))
        }
        rows = [
            {"as": name, **one.to_json()}
            for name, one in {**colours, "both": score}.items()
            if one.games
        ]
        plies = float(np.mean([len(game["moves"].split()) for game in games]))
        endings = dict(Counter(game["termination"] for game in games).most_common())
        notes = [
            f"{plies:.0f} plies a game; "
            + ", ".join(f"{name} {count:,}" for name, count in endings.items())
        ]
        different = len({game["moves"] for game in games})
        if different < len(games):
            notes.append(f"only {different:,} games differ: the errors are larger than they say")
        return Report(
            title=f"{self.a} – {self.b}: {score}",
            table=Table(
                [
                    Column("as"),
                    Column("games", format=","),
                    Column("wins", format=","),
                    Column("draws", format=","),
                    Column("losses", format=","),
                    Column("score", format=".3f", error="score_se"),
                    Column("elo", "Elo", "+.0f"),
                ],
                rows,
            ),
            notes=notes,
            data={
                "game": self.game,
                "a": self.a,
                "b": self.b,
                **score.to_json(),
                **{f"as_{colour}": one.to_json() for colour, one in colours.items()},
                "different_games": different,
                "mean_plies": plies,
                "terminations": endings,
                "temperature": self.temperature,
                "seed": self.seed,
            },
        )

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[ChessGame]:
        """The games in the order of their numbers, to be written as PGN."""
        names = (self.a, self.b)
        adjudicated = (RESIGNATION, MOVE_LIMIT)
        for number, game in enumerate(_games(results), 1):
            yield ChessGame(
                moves=np.array(
                    ChessState.from_fen(START_FEN, game["moves"].split()).history, np.uint16
                ),
                result=_result(game),
                white=names[game["first"]],
                black=names[1 - game["first"]],
                # PGN's own words.
                termination="adjudication" if game["termination"] in adjudicated else "normal",
                event="kedge match",
                round=str(number),
            )


def match_tasks(games: int, chunk: int = CHUNK, label: str = "", **params: Any) -> list[Task]:
    """A match as tasks of at most `chunk` games, their number in ``params["games"]``."""
    return [
        Task(
            f"{label} games {first + 1}-{min(first + chunk, games)}".strip(),
            {**params, "games": min(chunk, games - first)},
        )
        for first in range(0, games, chunk)
    ]


def match_players(
    a: str,
    b: str,
    temperature: float | None = None,
    device: str = "cpu",
    dtype: Dtype = "float32",
    states: type = ChessState,
) -> tuple[Player, Player]:
    """The agents of a match; both draw their moves at `temperature`, unless it is None."""
    one, other = (player_on(device, dtype, spec, states) for spec in (a, b))
    return _at(one, temperature), _at(other, temperature)


def play_chunk(
    players: tuple[Player, Player], games: int, rng: np.random.Generator, **rules: Any
) -> list[dict[str, Any]]:
    """Games of chess as JSON: ``first`` (the agent that has white), ``moves``, ``score`` of agent
    0, ``termination``. `rules` are those of `play_games`.
    """
    return [
        {
            "first": record.first,
            "moves": " ".join(map(ChessState.uci, record.moves)),
            "score": record.score,
            "termination": record.termination,
        }
        for record in play_games(players, ChessState, games, rng, **rules)
    ]


def _at(player: Any, temperature: float | None) -> Player:
    if temperature is not None:
        player = dataclasses.replace(player, temperature=temperature)
    return player  # type: ignore[no-any-return]


def _games(results: Mapping[str, Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [game for chunk in results.values() for game in chunk["games"]]


def _result(game: Mapping[str, Any]) -> str:
    """As PGN has it: white's points before black's."""
    white = game["score"] if game["first"] == 0 else 1.0 - game["score"]
    return {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[white]

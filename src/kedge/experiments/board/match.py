"""A match between two agents, played in chunks that are kept as they finish."""

import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.agents import Player
from kedge.agents.board.networks import is_cpu
from kedge.agents.board.puct import ModelAgent, check_temperature
from kedge.errors import InputError
from kedge.evaluation.board.matches import (
    MAX_PLIES,
    MOVE_LIMIT,
    RESIGNATION,
    GameRecord,
    MatchScore,
    play_games,
)
from kedge.evaluation.go.scorers import check_judge, judge_files, judge_games, judge_name
from kedge.experiments.experiment import Experiment, Task
from kedge.experiments.fingerprints import files_of, weights_of
from kedge.experiments.players import player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.games.chess import START_FEN, ChessState
from kedge.games.go import GoState, format_gtp, format_score, parse_gtp
from kedge.machine import cores
from kedge.models.board.backends import Dtype
from kedge.models.board.encoding import GO
from kedge.records import ChessGame, GoGame
from kedge.records.go.games import KOMI
from kedge.specs import parse

GPU_CHUNK = 256  #: Games in a task on a GPU, which wants large batches.
GO_MAX_PLIES = 722  #: Two for each point of the board, as AlphaGo Zero has it.


@dataclass(frozen=True, kw_only=True)
class Match(Experiment):
    """`games` games between the agents `a` and `b`; each has the first move equally often."""

    name: ClassVar[str] = "match"
    states: ClassVar[type]
    colours: ClassVar[tuple[str, str]]
    """Who moves first, and who second."""
    cpu_chunk: ClassVar[int]
    """Games in a task on a CPU, where larger batches gain nothing."""

    a: str
    b: str
    games: int = 100
    temperature: float | None = None
    """At which both draw their moves; None leaves each its own."""
    max_plies: int = MAX_PLIES
    resign: float | None = None
    device: str = "cpu"
    dtype: Dtype = "float32"
    chunk: int | None = None
    """Games in a task; None becomes what suits the device."""

    @abstractmethod
    def play(
        self, players: tuple[Player, Player], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Games as JSON: ``first`` (the agent that has the first move), ``moves``, ``score`` of
        agent 0, ``termination``.
        """

    @abstractmethod
    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[Any]:
        """The games in the order of their numbers, to be written into a file."""

    def __post_init__(self) -> None:
        for name in ("a", "b"):  # spaces in a spec do not make it another match
            object.__setattr__(self, name, str(parse(getattr(self, name))))
        if self.chunk is None:
            chunk = self.cpu_chunk if is_cpu(self.device) else GPU_CHUNK
            object.__setattr__(self, "chunk", chunk)
        assert self.chunk is not None
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
        assert self.chunk is not None
        return match_tasks(self.games, self.chunk)

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"games": self.play(self.players(), task.params["games"], rng)}

    def check(self) -> None:
        self.players()

    def players(self) -> tuple[Player, Player]:
        """The two agents; an `InputError` if one does not play."""
        return match_players(self.a, self.b, self.temperature, self.device, self.dtype, self.states)

    def notes(self, games: Sequence[Mapping[str, Any]]) -> list[str]:
        """What else a reader must know."""
        return []

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = _games(results)
        score = MatchScore.from_results(games)
        colours = {
            colour: MatchScore.from_results(game for game in games if game["first"] == first)
            for first, colour in enumerate(self.colours)
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
        notes += self.notes(games)
        return Report(
            title=f"{self.a} – {self.b}: {score}",
            table=Table([Column("as"), *score_columns(".3f")], rows),
            notes=notes,
            data={
                "game": self.config()["game"],
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


@dataclass(frozen=True, kw_only=True)
class ChessMatch(Match):
    """Chess, draws claimed."""

    states: ClassVar[type] = ChessState
    colours: ClassVar[tuple[str, str]] = ("white", "black")
    cpu_chunk: ClassVar[int] = 8

    game: Literal["chess"] = "chess"

    def play(
        self, players: tuple[Player, Player], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_chess(players, games, rng, max_plies=self.max_plies, resign=self.resign)

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[ChessGame]:
        names = (self.a, self.b)
        adjudicated = (RESIGNATION, MOVE_LIMIT)
        for number, game in enumerate(_games(results), 1):
            yield ChessGame(
                moves=np.array(
                    ChessState.from_fen(START_FEN, game["moves"].split()).history, np.uint16
                ),
                result={1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[_score_of_first(game)],
                white=names[game["first"]],
                black=names[1 - game["first"]],
                # PGN's own words.
                termination="adjudication" if game["termination"] in adjudicated else "normal",
                event="kedge match",
                round=str(number),
            )


@dataclass(frozen=True, kw_only=True)
class Judged(Experiment):
    """What experiments with games of Go have besides: a judge, by whom runs differ."""

    device: str = "cpu"
    judge: str | None = None
    """As `judge_name` has it; None becomes what there is on this machine."""

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        object.__setattr__(self, "judge", judge_name(self.judge))

    def inputs(self) -> dict[str, Any]:
        return {**super().inputs(), "judge_files": files_of(judge_files(str(self.judge)))}

    def check(self) -> None:
        super().check()
        check_judge(str(self.judge))

    def judging(self) -> dict[str, Any]:
        """Who, for `play_go`, and how many at once: on a CPU other tasks have the other cores."""
        return {"judge": self.judge, "at_once": 1 if is_cpu(self.device) else cores()}


@dataclass(frozen=True, kw_only=True)
class GoMatch(Judged, Match):
    """Go; a judge scores what was not resigned."""

    states: ClassVar[type] = GoState
    colours: ClassVar[tuple[str, str]] = ("black", "white")
    cpu_chunk: ClassVar[int] = 2  # a game with search takes minutes

    game: Literal["go"] = "go"
    max_plies: int = GO_MAX_PLIES
    komi: float = KOMI
    size: int = GO.side

    def play(
        self, players: tuple[Player, Player], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        return play_go(
            players,
            games,
            rng,
            komi=self.komi,
            size=self.size,
            max_plies=self.max_plies,
            resign=self.resign,
            **self.judging(),
        )

    def check(self) -> None:
        super().check()
        state = GoState(self.size, self.komi)
        for player in self.players():
            if isinstance(player, ModelAgent):
                player.on_board_of(state)

    def notes(self, games: Sequence[Mapping[str, Any]]) -> list[str]:
        return judged_words(games)

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[GoGame]:
        names = (self.a, self.b)
        for number, game in enumerate(_games(results), 1):
            black_won = _score_of_first(game) > 0.5
            yield GoGame(
                moves=np.array(
                    [parse_gtp(move, self.size) for move in game["moves"].split()], np.int16
                ),
                size=self.size,
                komi=self.komi,
                rules="Japanese",
                result=format_score(game["margin"]) if "margin" in game else f"{'WB'[black_won]}+R",
                black=names[game["first"]],
                white=names[1 - game["first"]],
                event=f"kedge match, game {number}",
                ai=True,
            )


def match_tasks(games: int, chunk: int, label: str = "", **params: Any) -> list[Task]:
    """A match as tasks of at most `chunk` games, their number in ``params["games"]``."""
    return [
        Task(
            f"{label} games {first + 1}-{min(first + chunk, games)}".strip(),
            {**params, "games": min(chunk, games - first)},
        )
        for first in range(0, games, chunk)
    ]


def score_columns(format: str, *beside: Column) -> list[Column]:
    """Of a table whose rows have a `MatchScore`; other scores stand `beside` its own."""
    return [
        *(Column(name, format=",") for name in ("games", "wins", "draws", "losses")),
        Column("score", format=format, error="score_se"),
        *beside,
        Column("elo", "Elo", "+.0f"),
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


def play_chess(
    players: tuple[Player, Player], games: int, rng: np.random.Generator, **rules: Any
) -> list[dict[str, Any]]:
    """Games as `Match.play` has them, moves in UCI's words. `rules` are those of `play_games`."""
    return [
        _told(record, map(ChessState.uci, record.moves))
        for record in play_games(players, ChessState, games, rng, **rules)
    ]


def play_go(
    players: tuple[Player, Player],
    games: int,
    rng: np.random.Generator,
    *,
    judge: str,
    at_once: int = 1,
    komi: float = KOMI,
    size: int = GO.side,
    max_plies: int = GO_MAX_PLIES,
    resign: float | None = None,
) -> list[dict[str, Any]]:
    """Games as `Match.play` has them, moves in GTP's words.

    Those that were not resigned have ``judge``, who it was, ``margin``, what Black is ahead, and
    where judges failed or are given up, ``failures`` and ``unasked``.
    """
    records = play_games(
        players, lambda: GoState(size, komi), games, rng, max_plies=max_plies, resign=resign
    )
    states = [_replayed(record, size, komi) for record in records]
    told = [
        _told(record, (format_gtp(move, state.size) for move in record.moves))
        for record, state in zip(records, states, strict=True)
    ]
    played_out = [i for i, game in enumerate(told) if game["termination"] != RESIGNATION]
    verdicts = judge_games(judge, [states[i] for i in played_out], at_once)
    for i, verdict in zip(played_out, verdicts, strict=True):
        black = float(np.sign(verdict.score)) / 2 + 0.5
        told[i]["score"] = black if told[i]["first"] == 0 else 1.0 - black
        told[i] |= {"margin": verdict.score, "judge": verdict.judge}
        for word in ("failures", "unasked"):
            if found := getattr(verdict, word):
                told[i][word] = list(found)
    return told


def judged_words(games: Iterable[Mapping[str, Any]]) -> list[str]:
    """Who scored the games, and how often that failed."""
    judges = Counter(game["judge"] for game in games if "judge" in game)
    failures = [reason for game in games for reason in game.get("failures", ())]
    words = ["judges: " + ", ".join(f"{name} {n:,}" for name, n in judges.most_common())]
    if failures:
        common, _ = Counter(failures).most_common(1)[0]
        words.append(f"a judge failed {len(failures):,} times, most often so: {common}")
    for name, n in Counter(name for game in games for name in game.get("unasked", ())).items():
        words.append(f"{name} failed in three games in a row and was not asked in {n:,} after them")
    return words if judges else []


def _told(record: GameRecord, moves: Iterable[str]) -> dict[str, Any]:
    return {
        "first": record.first,
        "moves": " ".join(moves),
        "score": record.score,
        "termination": record.termination,
    }


def _replayed(record: GameRecord, size: int, komi: float) -> GoState:
    state = GoState(size, komi)
    for move in record.moves:
        state.apply_action(move)
    return state


def _at(player: Any, temperature: float | None) -> Player:
    if temperature is not None:
        player = dataclasses.replace(player, temperature=temperature)
    return player  # type: ignore[no-any-return]


def _games(results: Mapping[str, Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [game for chunk in results.values() for game in chunk["games"]]


def _score_of_first(game: Mapping[str, Any]) -> float:
    """Of who had the first move."""
    return float(game["score"] if game["first"] == 0 else 1.0 - game["score"])

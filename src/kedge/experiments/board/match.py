"""A match between two agents, played in chunks that are kept as they finish."""

import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kedge.agents import Player
from kedge.agents.board.puct import check_temperature
from kedge.errors import InputError
from kedge.evaluation.board.matches import (
    MAX_PLIES,
    GameRecord,
    MatchScore,
)
from kedge.experiments.experiment import Experiment, FromFiles, Task
from kedge.experiments.fingerprints import weight_hashes
from kedge.experiments.options import GAMES, PLAYED_SEED, chunk_option
from kedge.experiments.played_games import few_different, match_tasks
from kedge.experiments.players import player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.models.devices import Dtype, is_cpu
from kedge.options import DEVICE, DTYPE, Option
from kedge.specs import parse

GPU_CHUNK = 256  #: Games in a task on a GPU, which wants large batches.


@dataclass(frozen=True, kw_only=True)
class Match(Experiment):
    """`games` games between the agents `a` and `b`; each has the first move equally often."""

    name: ClassVar[str] = "match"
    colours: ClassVar[tuple[str, str]]
    """Names of the first and the second player."""
    cpu_chunk: ClassVar[int]
    """Games in a task on a CPU, where larger batches gain nothing."""

    game: str
    seed: Annotated[int, PLAYED_SEED] = 0
    a: Annotated[str, Option("The agent whose score is reported.", is_argument=True)]
    b: Annotated[str, Option("The second agent, its opponent.", is_argument=True)]
    games: Annotated[int, GAMES] = 100
    temperature: Annotated[
        float | None,
        Option(
            "Sampling temperature of both agents.",
            flags=("--temperature", "-t"),
            default="each agent's own",
        ),
    ] = None
    max_plies: Annotated[int, Option("A game of this length is a draw.", min=1)] = MAX_PLIES
    resign: Annotated[
        float | None,
        Option(
            "End a game as won when both agents have put its value beyond ±X for four moves.",
            metavar="X",
            default="play on",
        ),
    ] = None
    device: Annotated[str, DEVICE] = "cpu"
    dtype: Annotated[Dtype, DTYPE] = "float32"
    chunk: Annotated[int | None, chunk_option("suits the device", 2)] = None
    """Games in a task; None becomes what suits the device."""

    @abstractmethod
    def play(
        self, players: tuple[Player[Any], Player[Any]], games: int, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Play games and return them as JSON.

        Keys: ``first`` (the agent with the first move), ``moves``, ``score`` of agent 0, and
        ``termination``.
        """

    def __post_init__(self) -> None:
        for name in ("a", "b"):  # spaces in a spec must not change the run
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
        return {"weights": weight_hashes(self.a, self.b)}

    def tasks(self) -> list[Task]:
        assert self.chunk is not None
        return match_tasks(self.games, self.chunk)

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"games": self.play(self.players, task.params["games"], rng)}

    def check(self) -> None:
        _ = self.players

    @FromFiles
    def players(self) -> tuple[Player[Any], Player[Any]]:
        """The two agents; raises an `InputError` if one does not play the game."""
        return match_players(
            self.a, self.b, self.temperature, self.device, self.dtype, game=self.game
        )

    def notes(self, games: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return further notes for the report."""
        return []

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = played_games(results)
        score = MatchScore.from_results(games)
        colours = {
            colour: MatchScore.from_results(game for game in games if game["first"] == first)
            for first, colour in enumerate(self.colours)
        }
        rows = [
            {"as": name, **own.to_json()}
            for name, own in {**colours, "both": score}.items()
            if own.games
        ]
        plies = float(np.mean([len(game["moves"].split()) for game in games]))
        endings = dict(Counter(game["termination"] for game in games).most_common())
        notes = [
            f"{plies:.0f} plies a game; "
            + ", ".join(f"{name} {count:,}" for name, count in endings.items())
        ]
        different = len({game["moves"] for game in games})
        if different < len(games):
            notes.append(few_different(different))
        notes += self.notes(games)
        return Report(
            title=f"{self.a} – {self.b}: {score}",
            table=Table([Column("as"), *score_columns(".3f")], rows),
            notes=notes,
            data={
                "game": self.game,
                "a": self.a,
                "b": self.b,
                **score.to_json(),
                **{f"as_{colour}": own.to_json() for colour, own in colours.items()},
                "different_games": different,
                "mean_plies": plies,
                "terminations": endings,
                "temperature": self.temperature,
                "seed": self.seed,
            },
        )


def score_columns(format: str, *beside: Column) -> list[Column]:
    """Return the columns of a `MatchScore`, with further columns `beside` its score."""
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
    *,
    game: str,
) -> tuple[Player[Any], Player[Any]]:
    """Return the agents of a match; `temperature` replaces their own, unless it is None."""
    first, second = (player_on(device, dtype, spec, game) for spec in (a, b))
    return _at(first, temperature), _at(second, temperature)


def game_json(record: GameRecord, moves: Iterable[str]) -> dict[str, Any]:
    return {
        "first": record.first,
        "moves": " ".join(moves),
        "score": record.score,
        "termination": record.termination,
    }


def _at(player: Any, temperature: float | None) -> Player[Any]:
    if temperature is not None:
        player = dataclasses.replace(player, temperature=temperature)
    return player  # type: ignore[no-any-return]


def played_games(results: Mapping[str, Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [game for chunk in results.values() for game in chunk["games"]]


def score_of_first(game: Mapping[str, Any]) -> float:
    """Return the score of the agent that had the first move."""
    return float(game["score"] if game["first"] == 0 else 1.0 - game["score"])

"""A tournament of Diplomacy, played in chunks of games that are kept as they finish."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent
from kedge.errors import InputError
from kedge.evaluation.diplomacy.tournaments import (
    TournamentGame,
    drawn_from_pool,
    one_against_six,
    play_tournament,
    recorded,
    standing,
)
from kedge.experiments.experiment import Experiment, FromFiles, Output, Task
from kedge.experiments.fingerprints import weight_hashes
from kedge.experiments.options import GAMES, PLAYED_SEED, RECORD, chunk_option
from kedge.experiments.played_games import few_different, match_tasks
from kedge.experiments.players import player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.models.devices import Dtype, is_cpu
from kedge.options import DEVICE, DTYPE, Option
from kedge.records.diplomacy.files import write_diplomacy_games
from kedge.records.diplomacy.games import DiplomacyGame
from kedge.specs import Spec, parse, parse_list
from kedge.words import counted

Seating = Literal["1v6", "pool"]
#: Games in a task: each of seven seats once; on a GPU, which wants larger batches, three times.
CHUNK, GPU_CHUNK = 7, 21


@dataclass(frozen=True, kw_only=True)
class Tournament(Experiment):
    """Play Diplomacy, one agent against six or from a pool, and report each agent's mean share.

    With `--one` and `--six`, the first agent has each power in turn, and the second has the other
    six. With `--pool`, an agent is drawn for every power. Shares are Sum of Squares: centres
    squared, or everything after a solo. Equal agents have 1/7 each. Standard errors are by game.
    `kedge replay diplomacy` reads the file that `--jsonl` writes.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge tournament diplomacy --one "pikl-hedge(diplomacy)" --six diplomacy --games 70`
    - `kedge tournament diplomacy --pool "diplomacy, rm(diplomacy), hedge(diplomacy)" -n 100`
    - `kedge tournament diplomacy --one diplomacy --six "rm(diplomacy)" --jsonl games.jsonl.gz`
    """

    name: ClassVar[str] = "tournament"
    outputs: ClassVar[tuple[Output, ...]] = (Output("jsonl", RECORD, write_diplomacy_games),)

    seed: Annotated[int, PLAYED_SEED] = 0
    game: Literal["diplomacy"] = "diplomacy"
    agents: tuple[Spec | str, ...]
    """Specs; kept as text in canonical form, so that the same agents are the same run."""
    seating: Seating = "1v6"
    games: Annotated[int, GAMES] = 100
    last_year: Annotated[
        int, Option("A game without a winner after this year is a draw.", min=1901, max=9999)
    ] = 1935
    quiet_years: Annotated[
        int, Option("A game is a draw after this many years with the same centres.", min=1)
    ] = 5
    device: Annotated[str, DEVICE] = "cpu"
    dtype: Annotated[Dtype, DTYPE] = "float32"
    chunk: Annotated[int | None, chunk_option("7; 21 on a GPU")] = None
    """Games in a task; None becomes what suits the device."""

    @classmethod
    def from_command(
        cls,
        *,
        one: Annotated[
            str | None, Option("Agent that has one power, each of the seven in turn.", metavar="A")
        ] = None,
        six: Annotated[str | None, Option("Agent that has the other six.", metavar="B")] = None,
        pool: Annotated[
            str | None, Option("Agents; one is drawn for every power.", metavar="A,B,…")
        ] = None,
        **options: Any,
    ) -> "Tournament":
        if pool is not None and one is None and six is None:
            return cls(agents=tuple(parse_list(pool)), seating="pool", **options)
        if pool is None and one is not None and six is not None:
            return cls(agents=(one, six), seating="1v6", **options)
        raise InputError("agents: give either --one A --six B, or --pool A,B,…")

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", tuple(map(str, self._specs)))
        if self.chunk is None:
            object.__setattr__(self, "chunk", CHUNK if is_cpu(self.device) else GPU_CHUNK)
        assert self.chunk is not None
        if self.seating not in get_args(Seating):
            raise InputError(f"seating: one of {', '.join(get_args(Seating))}, not {self.seating}")
        if self.seating == "1v6" and len(self.agents) != 2:
            raise InputError(f"agents: one against six takes two agents, not {len(self.agents)}")
        if self.seating == "pool" and len(set(self.agents)) < max(2, len(self.agents)):
            raise InputError("agents: a pool needs two or more different agents")
        if self.games < 1:
            raise InputError(f"games: at least 1, not {self.games}")
        if self.chunk < 1:
            raise InputError(f"chunk: at least 1, not {self.chunk}")
        if self.seating == "1v6" and self.chunk % len(POWERS):
            raise InputError(f"chunk: a multiple of 7, for fair seats, not {self.chunk}")
        if self.last_year < 1901:
            raise InputError(f"last_year: 1901 or later, not {self.last_year}")
        self.rules()

    @cached_property
    def _specs(self) -> list[Spec]:
        return [spec if isinstance(spec, Spec) else parse(spec) for spec in self.agents]

    def rules(self) -> Diplomacy:
        """Return the rules, which say when a game without a winner is a draw."""
        return Diplomacy(last_year=self.last_year, quiet_years=self.quiet_years)

    def inputs(self) -> dict[str, Any]:
        return {"weights": weight_hashes(*self._specs)}

    def tasks(self) -> list[Task]:
        assert self.chunk is not None
        return match_tasks(self.games, self.chunk)

    def check(self) -> None:
        _ = self.players

    @FromFiles
    def players(self) -> list[OrdersAgent]:
        """The agents; raises an `InputError` if one does not play Diplomacy."""
        return [player_on(self.device, self.dtype, spec, self.game) for spec in self._specs]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        games = task.params["games"]
        seatings = (
            one_against_six(games)
            if self.seating == "1v6"
            else drawn_from_pool(games, len(self.agents), rng)
        )
        played = play_tournament(self.players, seatings, self.rules(), rng)
        return {"games": played}

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[DiplomacyGame]:
        """Yield the games as records, in order."""
        agents = tuple(map(str, self.agents))
        for number, game in enumerate(games_of(results), 1):
            yield recorded(game, agents, f"{self.name}-{self.digest}-{number}")

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = games_of(results)
        agents = [
            {
                "agent": spec,
                **standing(games, number),
                "powers": {power: standing(games, number, [power]) for power in POWERS},
            }
            for number, spec in enumerate(self.agents)
        ]
        rows = [{**agent, "power": "all"} for agent in agents]
        if self.seating == "1v6":
            one, six = rows
            powers = [{"agent": "", "power": power, **row} for power, row in one["powers"].items()]
            rows = [one, *(row for row in powers if row["games"]), six]
        solos = sum(game.is_solo for game in games)
        years = float(np.mean([game.last_year - 1900 for game in games]))
        ends = f"{counted(solos, 'solo')}, {counted(len(games) - solos, 'draw')}"
        notes = [f"{years:.1f} years a game; {ends}"]
        notes.append("agents of equal strength would each have 1/7 = 14.3 % of a game")
        if self.seating == "1v6" and len(games) % len(POWERS):
            notes.append("not a multiple of 7 games: powers were not played equally often")
        different = len({str(game.orders) for game in games})
        if different < len(games):
            notes.append(few_different(different))
        one_on_six = " – 6 × ".join(map(str, self.agents))
        return Report(
            title=one_on_six if self.seating == "1v6" else f"a pool of {len(self.agents)} agents",
            table=Table(_COLUMNS, rows),
            notes=notes,
            data={
                "game": self.game,
                "seating": self.seating,
                "games": len(games),
                "agents": agents,
                "solos": solos,
                "draws": len(games) - solos,
                "mean_years": years,
                "different_games": different,
                "seed": self.seed,
            },
        )


_COLUMNS = (
    Column("agent"),
    Column("power"),
    Column("games", format=","),
    Column("mean", "share of a game", ".2%", error="se"),
    Column("wins", "solos", ","),
    Column("draws", format=","),
    Column("eliminations", "eliminated", ","),
    Column("centres", format=".1f"),
)


def games_of(results: Mapping[str, Mapping[str, Any]]) -> list[TournamentGame]:
    """Return the games in order."""
    return [TournamentGame.from_json(game) for chunk in results.values() for game in chunk["games"]]

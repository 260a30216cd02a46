"""Agents of Hanabi at one table, in chunks of games that are kept as they finish."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from kedge.agents.hanabi.players import HanabiAgent
from kedge.errors import InputError
from kedge.evaluation.hanabi.selfplay import (
    PERFECT,
    TableGame,
    dealt,
    histogram,
    play,
    recorded,
    seatings,
    standing,
)
from kedge.experiments.composite import Composite
from kedge.experiments.experiment import Experiment, FromFiles, Output, Task
from kedge.experiments.fingerprints import weight_hashes
from kedge.experiments.options import GAMES, RECORD, chunk_option
from kedge.experiments.players import player_on
from kedge.experiments.reports.report import Column, Report, Table
from kedge.games.hanabi import Bomb, Hanabi
from kedge.models.devices import Dtype, is_cpu
from kedge.options import DEVICE, DTYPE, Option
from kedge.records import HanabiGame, write_hanabi_games, write_live_games
from kedge.specs import parse, parse_list

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Games in a task; a GPU wants larger batches.
CHUNK, GPU_CHUNK = 4, 64
_BAR = 40  # characters


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Experiment):
    """Play Hanabi with agents at one table, and report mean score, perfect games and bombs.

    Several agents change seats from game to game. Game 7 of a seed has the same deck for all
    agents, so runs compare game by game. `kedge replay hanabi` reads the file that `--jsonl`
    writes.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge selfplay hanabi --agents hanabi --games 200`
    - `kedge selfplay hanabi --agents "sparta(hanabi, lambda=0.5, rollouts=300), hanabi" -n 8
      --bomb stack --hanab-live watch/`
    - `kedge selfplay hanabi --agents "hanabi, conventions" --cross --games 200 --bomb stack`
    """

    name: ClassVar[str] = "selfplay"
    outputs: ClassVar[tuple[Output, ...]] = (
        Output("jsonl", replace(RECORD, flags=("--jsonl", "--games-file")), write_hanabi_games),
        Output(
            "hanab_live",
            Option(
                "Write each game to a file that hanab.live shows as a replay.", metavar="FOLDER"
            ),
            write_live_games,
            is_folder=True,
        ),
    )

    seed: Annotated[
        int, Option("The same seed deals the same decks to any agents.", min=0, is_general=True)
    ] = 0
    game: Literal["hanabi"] = "hanabi"
    agents: tuple[str, ...]
    players: Annotated[int, Option("Seats at the table.", min=2, max=5)] = 2
    bomb: Annotated[
        Bomb, Option("Score of a game whose last life is lost: 0, or the cards in the stacks.")
    ] = "zero"
    games: Annotated[int, GAMES] = 100
    device: Annotated[str, DEVICE] = "cpu"
    dtype: Annotated[Dtype, DTYPE] = "float32"
    chunk: Annotated[int | None, chunk_option("4; 64 on a GPU")] = None
    """Games in a task; None becomes what suits the device."""

    @classmethod
    def from_command(
        cls,
        *,
        agents: Annotated[
            str,
            Option(
                "Agents at the table: one has all seats, several take turns around the table.",
                flags=("--agents", "-a"),
                metavar="A[,B…]",
            ),
        ] = "sparta(hanabi, lambda=1, rollouts=1000)",
        cross: Annotated[
            bool, Option("Play every pair of agents, and each agent with itself: a matrix.")
        ] = False,
        **options: Any,
    ) -> "SelfPlay | CrossPlay":
        table = tuple(map(str, parse_list(agents)))
        if not cross:
            return cls(agents=table, **options)
        if options.pop("players", 2) != 2:
            raise InputError("--cross: tables have two seats; leave out --players")
        return CrossPlay(agents=table, **options)

    def __post_init__(self) -> None:
        agents = tuple(str(parse(spec)) for spec in self.agents)
        object.__setattr__(self, "agents", agents[:1] if len(set(agents)) == 1 else agents)
        if self.chunk is None:
            object.__setattr__(self, "chunk", CHUNK if is_cpu(self.device) else GPU_CHUNK)
        self.rules()
        if not self.agents:
            raise InputError("agents: at least one")
        if len(self.agents) > self.players:
            raise InputError(f"agents: {len(agents)} agents for {self.players} seats")
        for name in ("games", "chunk"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: at least 1, not {getattr(self, name)}")

    def rules(self) -> Hanabi:
        return Hanabi(self.players, bomb=self.bomb)

    def inputs(self) -> dict[str, Any]:
        return {"weights": weight_hashes(*self.agents)}

    def check(self) -> None:
        for spec, agent in zip(self.agents, self.table, strict=True):
            try:
                agent.check(self.rules())
            except InputError as error:
                raise InputError(f"{spec}: {error}") from None

    @FromFiles
    def table(self) -> list[HanabiAgent]:
        """The agents; raises an `InputError` if one does not play Hanabi."""
        return [player_on(self.device, self.dtype, spec, self.game) for spec in self.agents]

    def tasks(self) -> list[Task]:
        assert self.chunk is not None
        starts = range(0, self.games, self.chunk)
        ends = [min(first + self.chunk, self.games) for first in starts]
        return [
            Task(f"games {first + 1}-{end}", {"first": first, "end": end})
            for first, end in zip(starts, ends, strict=True)
        ]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        rules, seats = self.rules(), seatings(self.agents, self.players)
        tables = [
            (seats[number % len(seats)], dealt(rules, self.seed, number))
            for number in range(task.params["first"], task.params["end"])
        ]
        played = play(self.table, tables, rules, rng)
        return {"played": [dataclasses.asdict(game) for game in played]}

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[HanabiGame]:
        """Yield the games as records, in order."""
        for number, game in enumerate(table_games(results), 1):
            name = f"{self.name}-{self.digest}-{number}"
            yield recorded(game, self.agents, self.rules(), name)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        games = table_games(results)
        total, counts = standing(games), histogram(games)
        tables = [
            {
                "seats": [self.agents[agent] for agent in seats],
                **standing([game for game in games if game.seats == seats]),
            }
            for seats in seatings(self.agents, self.players)
        ]
        rows = [{**total, "at": "all"}]
        if len(tables) > 1:
            rows += [{**table, "at": " – ".join(table["seats"])} for table in tables]
        return Report(
            title=" – ".join(self.agents),
            table=Table(
                [
                    Column("at", "seats"),
                    Column("games", format=","),
                    Column("mean", "score", ".2f", error="se"),
                    Column("perfect", format=","),
                    Column("bombs", format=","),
                    Column("moves", "moves a game", ".1f"),
                ],
                rows,
            ),
            notes=[*_bars(counts), bomb_note(self.bomb), *_lost(total, self.bomb)],
            data={
                "game": self.game,
                "players": self.players,
                **total,
                "agents": [{"agent": spec, **total} for spec in self.agents],
                "seatings": tables,
                "histogram": counts,
                "seed": self.seed,
            },
        )


def table_games(results: Mapping[str, Mapping[str, Any]]) -> list[TableGame]:
    """Return the games in order."""
    return [TableGame.from_json(game) for chunk in results.values() for game in chunk["played"]]


def _bars(counts: Sequence[int]) -> list[str]:
    """Return a bar per score, from the lowest score of a game to the highest."""
    reached = [score for score, count in enumerate(counts) if count]
    return [
        f"{score:2} {'█' * round(_BAR * counts[score] / max(counts)):{_BAR}} {counts[score]:,}"
        for score in range(reached[0], reached[-1] + 1)
    ]


@dataclass(frozen=True, kw_only=True)
class CrossPlay(Composite):
    """Every two of `agents` at a table, and each with itself; they share runs of `SelfPlay`."""

    name: ClassVar[str] = "crossplay"

    agents: tuple[str, ...]
    bomb: Bomb = "zero"
    games: int = 100
    device: str = "cpu"
    dtype: Dtype = "float32"
    chunk: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", tuple(str(parse(spec)) for spec in self.agents))
        if len(set(self.agents)) < max(2, len(self.agents)):
            raise InputError("agents: --cross needs two or more different agents")
        self.parts()

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs of agents, by number."""
        return list(combinations_with_replacement(range(len(self.agents)), 2))

    def parts(self) -> Mapping[str, SelfPlay]:
        return {
            f"{first + 1} with {second + 1}": SelfPlay(
                agents=(self.agents[first], self.agents[second]),
                bomb=self.bomb,
                games=self.games,
                device=self.device,
                dtype=self.dtype,
                chunk=self.chunk,
                seed=self.seed,
            )
            for first, second in self.pairs()
        }

    def gist(self, result: dict[str, Any]) -> dict[str, Any]:
        return scores_alone(result)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        cells: dict[tuple[int, int], dict[str, Any]] = {}
        parts = self.by_part(results).values()
        for (first, second), played in zip(self.pairs(), parts, strict=True):
            cells[first, second] = cells[second, first] = standing(table_games(played))
        everyone = range(len(self.agents))
        rows = [
            {
                "agent": f"{first + 1}  {self.agents[first]}",
                **{f"with {second + 1}": cells[first, second]["mean"] for second in everyone},
                **{f"with {second + 1} se": cells[first, second]["se"] for second in everyone},
            }
            for first in everyone
        ]
        means = np.array(
            [[cells[first, second]["mean"] for second in everyone] for first in everyone]
        )
        return Report(
            title=f"{len(self.agents)} agents, each with each",
            table=Table(
                [
                    Column("agent"),
                    *(
                        Column(f"with {second + 1}", format=".2f", error=f"with {second + 1} se")
                        for second in everyone
                    ),
                ],
                rows,
            ),
            notes=[
                f"Mean scores of {self.games:,} games per pair, in both orders of seats; all pairs "
                f"share the same decks.",
                bomb_note(self.bomb),
            ],
            data={
                "game": "hanabi",
                "games": self.games,
                "agents": self.agents,
                "pairs": [
                    {"agents": [self.agents[first], self.agents[second]], **cells[first, second]}
                    for first, second in self.pairs()
                ],
                "seed": self.seed,
            },
            draw=lambda figure: _draw_matrix(figure, self.agents, means),
            figure_size=(3.2 + 0.9 * len(means), 1.6 + 0.7 * len(means)),
        )


def bomb_note(bomb: Bomb) -> str:
    score = "0" if bomb == "zero" else "what was built"
    return f"a bomb, the last life lost, scores {score}"


def _lost(total: Mapping[str, Any], bomb: Bomb) -> list[str]:
    if bomb == "stack" or 2 * total["bombs"] < total["games"]:
        return []
    return ["most games are lost; --bomb stack counts what was built in them"]


def scores_alone(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without decks and actions, as composites keep it."""
    return {"played": [{**game, "deck": [], "actions": []} for game in result["played"]]}


def _draw_matrix(figure: "Figure", agents: Sequence[str], means: npt.NDArray[np.float64]) -> None:
    """Draw one square per pair; darker is better."""
    axes, places = figure.subplots(), range(len(agents))
    axes.imshow(means, cmap="Blues", vmin=0.0, vmax=PERFECT)
    for (row, column), mean in np.ndenumerate(means):
        colour = "white" if mean > 0.6 * PERFECT else "black"
        axes.text(column, row, f"{mean:.1f}", ha="center", va="center", color=colour)
    axes.set_xticks(places, [str(place + 1) for place in places])
    axes.set_yticks(places, [f"{place + 1}  {agents[place]}" for place in places])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title("Mean score of each with each", loc="left", fontsize=10)

"""Measure the stops of a game's dial, and write them to its ``dial.json``.

python docs/make_dial.py blotto     (a second)
python docs/make_dial.py chess      (this and the others need KEDGE_DATA and are slow)
python docs/make_dial.py go --played inf 2 0.5    (games only at these stops: minutes each)
python docs/make_dial.py go --device cuda         (uses the results of `make_results.py go`)
python docs/make_dial.py diplomacy                (uses those of `make_results.py diplomacy`)
python docs/make_dial.py hanabi                   (uses those of `make_results.py hanabi`)

Finished tasks are kept: interrupt it, and it goes on from there.
"""

import argparse
import json
import os
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import make_results

from kedge import catalogue
from kedge.agents import make_agent
from kedge.agents.dial import spec_of
from kedge.experiments import Experiment, run
from kedge.experiments.board.match import Match
from kedge.experiments.chess.match import ChessMatch
from kedge.experiments.chess.predict import ChessPredict
from kedge.experiments.diplomacy.tournament import Tournament
from kedge.experiments.go.match import GoMatch
from kedge.games.normal_form import blotto, exploitability
from kedge.models.devices import is_cpu
from kedge.paper.diplomacy.published import IL, pikl
from kedge.paper.diplomacy.tradeoff import DiplomacyTradeoff
from kedge.paper.go.strength import GoTradeoff
from kedge.paper.hanabi.published import IL as NO_SEARCH
from kedge.paper.hanabi.tradeoff import HanabiTradeoff
from kedge.regularize import kl_divergence

CHESS_GAMES = "data/chess/lichess_games.jsonl.xz"
SIX = "diplomacy(temperature=0.5)"  # the opponents of the paper's agents
SCORE = "score against the bare model, draws as half"

Table = TypeVar("Table", bound=Experiment)
Settings = dict[str, float]
Card = dict[str, Any]


@dataclass(frozen=True)
class Ladder:
    """The stops of a game: its anchor, and searches at growing distance from it."""

    anchor: Settings
    search: Settings
    number: str
    values: tuple[float, ...]
    positions: int = 0
    games: int = 0
    """Games per stop, by default."""

    def stops(self) -> list[Settings]:
        searches = [{self.number: value, **self.search, **self.anchor} for value in self.values]
        return [self.anchor, *searches]


LADDERS = {
    "chess": Ladder(
        {"elo": 1500, "temperature": 1},
        {"playouts": 50},
        "c_puct",
        (10, 5, 2, 1, 0.5),
        positions=2000,
        games=200,
    ),
    "go": Ladder(
        {"temperature": 1}, {"playouts": 50}, "c_puct", (10, 5, 2, 1, 0.5), positions=200, games=20
    ),
    "diplomacy": Ladder({}, {"iterations": 512}, "lambda", (0.1, 0.01, 0.001), games=105),
    "hanabi": Ladder({}, {"rollouts": 1000}, "lambda", (5, 2, 1, 0.5)),
    "blotto": Ladder({}, {"iterations": 10_000}, "lambda", (1, 0.3, 0.1, 0.03, 0.01)),
}


@dataclass(frozen=True)
class Measuring:
    """Measures the stops of a game: two methods per game, from a stop's settings to a card."""

    ladder: Ladder
    positions: int
    games: int
    device: str

    def chess_likeness(self, settings: Settings) -> Card:
        spec, bucket = spec_of("chess", settings), int(settings["elo"])
        prediction = ChessPredict(
            agent=spec,
            data=(str(Path(os.environ["KEDGE_DATA"]) / CHESS_GAMES),),
            limit=self.positions,
            bucket=bucket,
            held_out=True,
            device=self.device,
        )
        return card(
            f"top-1 on held-out moves of people rated {bucket} to {bucket + 99}",
            self.report(prediction).data,
            ("top1", "top1_se", "positions"),
            "positions",
            f'kedge predict chess "$KEDGE_DATA/{CHESS_GAMES}" --held-out --bucket {bucket} '
            f'--limit {self.positions} --agent "{spec}"{self.where()}',
        )

    def chess_strength(self, settings: Settings) -> Card:
        return self.score("chess", ChessMatch, settings)

    def go_likeness(self, settings: Settings) -> Card:
        table, command = self.go()
        rows = self.report(table.accuracy()).table.rows
        return card(
            "top-1 on professionals' moves of 2015 and 2016, which the model has not seen",
            next(row for row in rows if row["c_puct"] == settings.get("c_puct")),
            ("top1", "top1_se", "positions"),
            "positions",
            command,
        )

    def go_strength(self, settings: Settings) -> Card:
        if "c_puct" not in settings:
            return self.score("go", GoMatch, settings)
        table, command = self.go()
        rows = self.report(table).table.rows
        return card(
            SCORE,
            next(row for row in rows if row["c_puct"] == settings["c_puct"]),
            ("score", "score_se", "games"),
            "games",
            command,
        )

    def diplomacy_likeness(self, settings: Settings) -> Card:
        table, command = self.diplomacy()
        agent = pikl(settings["lambda"]) if "lambda" in settings else IL
        return card(
            "top-1 on people's orders, unit by unit, of games that the model has not seen",
            self.report(table.predictions()[f"orders by {agent}"]).data,
            ("top1", "top1_se", "positions"),
            "orders",
            command,
        )

    def diplomacy_strength(self, settings: Settings) -> Card:
        table, command = self.diplomacy()
        if "lambda" in settings:
            tournament = table.tournament(pikl(settings["lambda"]), IL)
        else:  # the table has it only at temperature 0.5
            one = spec_of("diplomacy", settings)
            tournament = Tournament(agents=(one, SIX), games=self.games, device=self.device)
            command = f'kedge tournament diplomacy --one "{one}" --six "{SIX}" --games {self.games}'
        return card(
            "share of a game among six of the human model at temperature 0.5; equals have 1/7",
            self.report(tournament).data["agents"][0],
            ("mean", "se", "games"),
            "games",
            command,
        )

    def hanabi_likeness(self, settings: Settings) -> Card:
        table, command = self.hanabi()
        [moves] = table.sweep().values()
        rows = self.report(moves).table.rows
        return card(
            "top-1 on moves of people whom the model has not seen",
            next(row for row in rows if row["lambda"] == settings.get("lambda", NO_SEARCH)),
            ("top1", "top1_se", "positions"),
            "moves",
            command,
        )

    def hanabi_strength(self, settings: Settings) -> Card:
        table, command = self.hanabi()
        lam = settings.get("lambda", NO_SEARCH)
        cell = next(cell for cell in table.cells() if cell.lam == lam)
        return card(
            "points of 25 with itself, two players; a bombed game counts the cards in its stacks",
            self.report(table.tables()[cell.label]).data,
            ("mean", "se", "games"),
            "games",
            command,
            is_share=False,
        )

    def blotto_likeness(self, settings: Settings) -> Card:
        return self.solved(
            "KL from the uniform anchor in nats, less is closer",
            settings,
            kl_divergence(blotto_policies(settings)[0], blotto_policies({})[0]),
        )

    def blotto_strength(self, settings: Settings) -> Card:
        return self.solved(
            "exploitability in games of ±1, less is stronger",
            settings,
            exploitability(blotto(), blotto_policies(settings)),
        )

    def score(self, game: str, match: type[Match], settings: Settings) -> Card:
        one, other = spec_of(game, settings), spec_of(game, self.ladder.anchor)
        command = f'kedge match {game} "{one}" "{other}" --games {self.games}{self.where()}'
        keys = ("score", "score_se", "games")
        if one == other:  # no game has to be played
            even = dict(zip(keys, (0.5, 0.0, 1), strict=True))
            return card(SCORE, even, keys, "model that meets itself", command)
        result = self.report(match(a=one, b=other, games=self.games, device=self.device)).data
        return card(SCORE, result, keys, "games", command)

    def go(self) -> tuple[GoTradeoff, str]:
        """The table with the measurements, on a GPU that of docs/results, and its command."""
        fields = {"positions": self.positions, "games": self.games, "c_puct": self.numbers()}
        if not is_cpu(self.device):
            fields = make_results.GO | make_results.GO_MOVES | make_results.GO_GAMES
        return self.tabled(GoTradeoff, fields)

    def diplomacy(self) -> tuple[DiplomacyTradeoff, str]:
        """The table of docs/results with the measurements, and its command."""
        fields = make_results.DIPLOMACY | make_results.PREDICTED
        table = DiplomacyTradeoff(**fields, device=self.device)
        return table, self.paper(table.name, fields)

    def hanabi(self) -> tuple[HanabiTradeoff, str]:
        """The table of docs/results with the measurements, and its command."""
        return self.tabled(HanabiTradeoff, make_results.TRADEOFF | self.ladder.search)

    def tabled(self, kind: type[Table], fields: dict[str, Any]) -> tuple[Table, str]:
        """The table on the device, and its command."""
        settings = {name: value for name, value in fields.items() if name != "device"}
        return kind(**settings, device=self.device), self.paper(kind.name, settings)

    def solved(self, metric: str, settings: Settings, value: float) -> Card:
        """A card of a computed value, without sampling error."""
        options = " ".join(f"--{name} {number}" for name, number in settings.items())
        command = f"kedge solve blotto {options or '--lambda inf'}"
        result = {"value": value, "error": 0.0, "sample": 1}
        keys = ("value", "error", "sample")
        return card(metric, result, keys, "run", command, is_share=False)

    def report(self, experiment: Experiment) -> Any:
        engine = "local" if is_cpu(self.device) else "inline"
        return run(experiment, engine=engine).report()

    def numbers(self) -> tuple[float, ...]:
        return tuple(map(float, self.ladder.values))

    def paper(self, name: str, fields: dict[str, Any]) -> str:
        """The command of a table."""
        settings = (
            f"{key}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
            for key, value in fields.items()
        )
        options = " ".join(f"--set {setting}" for setting in settings)
        return f"kedge paper {name} {options}{self.where()}"

    def where(self) -> str:
        return "" if self.device == "cpu" else f" --device {self.device}"


def blotto_policies(settings: Settings) -> list[Any]:
    agent, state = make_agent(spec_of("blotto", settings)), blotto().initial_state()
    return [agent.policy(state, player) for player in (0, 1)]


def card(
    metric: str,
    result: dict[str, Any],
    keys: tuple[str, str, str],
    counted: str,
    command: str,
    *,
    is_share: bool = True,
) -> Card:
    value, error, sample = (result[key] for key in keys)
    return {
        "metric": metric,
        "is_share": is_share,
        "value": float(f"{value:.5g}"),
        "error": float(f"{error:.3g}"),
        "sample": sample,
        "counted": counted,
        "command": command,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=LADDERS)
    parser.add_argument("--positions", type=int, help="positions to predict at each stop")
    parser.add_argument("--games", type=int, help="games to play at each stop")
    parser.add_argument(
        "--played", type=float, nargs="*", help="c_puct or λ of stops that play; inf: the anchor"
    )
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    ladder = LADDERS[options.game]
    measuring = Measuring(
        ladder, options.positions or ladder.positions, options.games or ladder.games, options.device
    )
    settings = ladder.stops()
    measured: dict[str, list[Card | None]] = {"likeness": [], "strength": []}
    for kind, cards in measured.items():
        measure = getattr(measuring, f"{options.game}_{kind}")
        for at in settings:
            is_played = options.played is None or at.get(ladder.number, inf) in options.played
            cards.append(measure(at) if kind == "likeness" or is_played else None)
            print(at, cards[-1], flush=True)
    stops = [
        {
            "x": round(number / (len(settings) - 1), 2),
            "settings": at,
            "likeness": measured["likeness"][number],
            "strength": measured["strength"][number],
        }
        for number, at in enumerate(settings)
    ]
    cards = Path(str(catalogue.find(options.game).load("dial").cards))
    cards.write_text(json.dumps(stops, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":  # the local pool's workers import this file
    main()

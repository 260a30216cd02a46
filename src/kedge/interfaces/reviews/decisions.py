"""A report of decisions in words: tables for a terminal, and games with it in JSON."""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionReport, DecisionsReport, Option
from kedge.experiments.jsonable import plain, strict
from kedge.games.diplomacy import POWERS
from kedge.interfaces.reviews.games import STYLES, annotated, percent
from kedge.records import DiplomacyGame, HanabiGame
from kedge.records.diplomacy.files import saved_game
from kedge.records.hanabi.files import live_game, live_notes

_MOMENTS = 5  # a game
_SMALL = 0.005  # of whatever is counted: nothing is said of it
_RARE = 0.05  # orders that fewer people give are told of


def annotated_record(report: GameReport | DecisionsReport) -> str:
    """Any game with its review: PGN, SGF or JSON."""
    return annotated(report) if isinstance(report, GameReport) else with_review(report)


def with_review(report: DecisionsReport) -> str:
    """The game with what there is to say of its decisions: JSON that is still read as the game."""
    game = report.game
    if isinstance(game, HanabiGame):
        return json.dumps(_live_game(report, game)) + "\n"
    return json.dumps(_saved_game(report, game)) + "\n"


def _live_game(report: DecisionsReport, game: HanabiGame) -> dict[str, Any]:
    """With notes as hanab.live has them, and all of it where only kedge looks."""
    found = live_game(game)
    comments = [f"turn {one.turn + 1}: {comment(report, one)}" for one in report.decisions]
    found["kedge"]["review"] = _json(report.to_json())
    return {**found, "notes": live_notes(game, comments)}


def _saved_game(report: DecisionsReport, game: DiplomacyGame) -> dict[str, Any]:
    """With the decisions of each phase beside its orders, and the rest beside the phases."""
    found, whole = saved_game(game), _json(report.to_json())
    del whole["decisions"]
    by_phase: dict[str, dict[str, Any]] = {}
    for one in report.decisions:
        of_phase = by_phase.setdefault(report.turns[one.turn], {})
        of_phase[POWERS[one.player]] = _json(one.to_json())
    for phase in found["phases"]:
        if phase["name"] in by_phase:
            phase["review"] = by_phase[phase["name"]]
    return {**found, "review": whole}


def _json(found: dict[str, Any]) -> Any:
    return strict(plain(found))


def comment(report: DecisionsReport, one: DecisionReport) -> str:
    """What there is to say of a decision."""
    words = [f"{percent(one.played.anchor)} of people"]
    if one.played.move != one.people[0].move:
        words.append(f"most {_likely(one.people[0], one.people[0].anchor)}")
    if one.choice.move == one.played.move:
        words.append("search too")
    else:
        words.append(f"search {_likely(one.choice, one.choice.policy)}")
        if one.loss >= _SMALL:
            words.append(f"{amount(one.loss)} {report.scale.unit} better")
    rare = [f"{part.name} {percent(part.anchor)}" for part in one.parts if part.anchor < _RARE]
    return "; ".join([*words, *([f"rare: {', '.join(rare)}"] if rare else [])])


def _likely(option: Option, share: float) -> str:
    return f"{option.name} ({percent(share)})"


def amount(number: float) -> str:
    return "-" if isnan(number) else f"{number:.2f}"


def print_decisions(report: DecisionsReport, number: int, *, brief: bool) -> None:
    console = Console()
    console.print(
        Text.assemble((f"{number}. {report.game.id}", "bold"), (f"  {report.agent}", "dim")),
        soft_wrap=True,
    )
    if report.decisions and not brief:
        console.print(_decisions_table(report))
        console.print()
    console.print(_players_table(report))
    far = [report.decisions[i] for i in report.disagreements[:_MOMENTS]]
    _print_moments(console, report, "Where search and people disagree most", far)
    worst = sorted((report.decisions[i] for i in report.mistakes), key=lambda one: -one.loss)
    _print_moments(console, report, "Mistakes", worst[:_MOMENTS])
    console.print()


def _decisions_table(report: DecisionsReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("turn", "player", "decided", "people", "rank", "loss"):
        is_text = heading in ("turn", "player", "decided")
        table.add_column(
            heading,
            justify="left" if is_text else "right",
            no_wrap=heading != "decided",
            overflow="fold",
        )
    for one in report.decisions:
        table.add_row(
            report.turns[one.turn],
            report.names[one.player],
            Text(f"{one.played.name} {one.mark}".strip(), style=STYLES[one.mark]),
            percent(one.played.anchor),
            str(one.rank),
            amount(one.loss) if one.loss >= _SMALL else "",
        )
    return table


def _players_table(report: DecisionsReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in ("decisions", "top-1", "likely", "nats", "loss", "?", "??"):
        table.add_column(heading, justify="right", no_wrap=True)
    for player in report.players:
        table.add_row(
            player.name,
            str(player.decisions),
            percent(player.top1),
            percent(player.probability),
            amount(player.cross_entropy),
            amount(player.loss),
            str(player.mistakes),
            str(player.blunders),
        )
    return table


def _print_moments(
    console: Console, report: DecisionsReport, heading: str, found: Sequence[DecisionReport]
) -> None:
    if not found:
        return
    console.print(f"\n[bold]{heading}[/bold]")
    for one in found:
        who = f"{report.turns[one.turn]} {report.names[one.player]}: {one.played.name}{one.mark}"
        console.print(
            Text.assemble("  ", (who, STYLES[one.mark]), f"  {comment(report, one)}"),
            soft_wrap=True,
        )

"""Reports of decisions as text: tables for a terminal, and annotated games as JSON."""

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

_MOMENTS = 5  # shown per game and kind
_SMALL = 0.005  # losses below this are not shown, in any unit
_RARE = 0.05  # comments name orders that fewer people give


def annotated_record(report: GameReport | DecisionsReport) -> str:
    """Return any game with its review as PGN, SGF or JSON."""
    return annotated(report) if isinstance(report, GameReport) else with_review(report)


def with_review(report: DecisionsReport) -> str:
    """Return the game with its review as JSON, which readers of games still accept."""
    game = report.game
    if isinstance(game, HanabiGame):
        return json.dumps(_live_game(report, game)) + "\n"
    return json.dumps(_saved_game(report, game)) + "\n"


def _live_game(report: DecisionsReport, game: HanabiGame) -> dict[str, Any]:
    """Return the game with notes for hanab.live, and the whole review under kedge's own key."""
    document = live_game(game)
    comments = [
        f"turn {decision.turn + 1}: {comment(report, decision)}" for decision in report.decisions
    ]
    document["kedge"]["review"] = _json(report.to_json())
    return {**document, "notes": live_notes(game, comments)}


def _saved_game(report: DecisionsReport, game: DiplomacyGame) -> dict[str, Any]:
    """Return the game with decisions beside the orders of a phase, and the rest at the top."""
    document, rest = saved_game(game), _json(report.to_json())
    del rest["decisions"]
    by_phase: dict[str, dict[str, Any]] = {}
    for decision in report.decisions:
        by_power = by_phase.setdefault(report.turns[decision.turn], {})
        by_power[POWERS[decision.player]] = _json(decision.to_json())
    for phase in document["phases"]:
        if phase["name"] in by_phase:
            phase["review"] = by_phase[phase["name"]]
    return {**document, "review": rest}


def _json(document: dict[str, Any]) -> Any:
    return strict(plain(document))


def comment(report: DecisionsReport, decision: DecisionReport) -> str:
    """Return the comment on a decision."""
    played, choice, favourite = decision.played, decision.choice, decision.people[0]
    words = [f"{percent(played.anchor)} of people"]
    if played.move != favourite.move:
        words.append(f"most {_likely(favourite, favourite.anchor)}")
    if choice.move == played.move:
        words.append("search too")
    else:
        words.append(f"search {_likely(choice, choice.policy)}")
        if decision.loss >= _SMALL:
            words.append(f"{amount(decision.loss)} {report.scale.unit} better")
    rare = [f"{part.name} {percent(part.anchor)}" for part in decision.parts if part.anchor < _RARE]
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
    mistakes = [report.decisions[i] for i in report.mistakes]
    worst = sorted(mistakes, key=lambda decision: -decision.loss)
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
    for decision in report.decisions:
        mark = decision.mark
        table.add_row(
            report.turns[decision.turn],
            report.names[decision.player],
            Text(f"{decision.played.name} {mark}".strip(), style=STYLES[mark]),
            percent(decision.played.anchor),
            str(decision.rank),
            amount(decision.loss) if decision.loss >= _SMALL else "",
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
    console: Console, report: DecisionsReport, heading: str, decisions: Sequence[DecisionReport]
) -> None:
    if not decisions:
        return
    console.print(f"\n[bold]{heading}[/bold]")
    for decision in decisions:
        turn, name = report.turns[decision.turn], report.names[decision.player]
        played = f"{turn} {name}: {decision.played.name}{decision.mark}"
        style, words = STYLES[decision.mark], comment(report, decision)
        console.print(Text.assemble("  ", (played, style), f"  {words}"), soft_wrap=True)

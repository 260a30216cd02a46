"""Reviews of decisions as text: tables for a terminal, and comments."""

from collections.abc import Sequence
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kedge.evaluation.decision_reports import DecisionOption, DecisionReport, DecisionsReport
from kedge.evaluation.ranks import is_rarer
from kedge.interfaces.reviews.anchor_words import AnchorWords, percent
from kedge.interfaces.reviews.board import STYLES

_MOMENTS = 5  # shown per game and kind
_SMALL = 0.005  # losses below this are not shown, in any unit
_RARE = 0.05  # comments name orders that fewer people give


def comment(report: DecisionsReport, decision: DecisionReport) -> str:
    """Return the comment on a decision."""
    played, choice, favourite = decision.played, decision.choice, decision.people[0]
    words = [AnchorWords(report.is_human).share(played.anchor)]
    if played.move != favourite.move and is_rarer(played.anchor, favourite.anchor):
        prefers = "most" if report.is_human else "it prefers"
        words.append(f"{prefers} {_likely(favourite, favourite.anchor)}")
    if choice.move == played.move:
        words.append("search chooses it too")
    else:
        words.append(f"search {_likely(choice, choice.policy)}")
        if decision.loss >= _SMALL:
            words.append(f"{amount(decision.loss)} {report.scale.unit} better")
    rare = [f"{part.name} {percent(part.anchor)}" for part in decision.parts if part.anchor < _RARE]
    return "; ".join([*words, *([f"rare: {', '.join(rare)}"] if rare else [])])


def _likely(option: DecisionOption, share: float) -> str:
    return f"{option.name} ({percent(share)})"


def amount(number: float) -> str:
    return "-" if isnan(number) else f"{number:.2f}"


def print_decisions(report: DecisionsReport, number: int, *, brief: bool) -> None:
    """Print the review of game `number`; if `brief`, without the table of decisions."""
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
    _print_moments(console, report, AnchorWords(report.is_human).disagreements_heading, far)
    mistakes = [report.decisions[i] for i in report.mistakes]
    worst = sorted(mistakes, key=lambda decision: -decision.loss)
    _print_moments(console, report, "Mistakes", worst[:_MOMENTS])
    console.print()


def _decisions_table(report: DecisionsReport) -> Table:
    table = Table(box=None, pad_edge=False)
    anchor = AnchorWords(report.is_human).heading
    for heading in ("turn", "player", "decided", anchor, "rank", "loss"):
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

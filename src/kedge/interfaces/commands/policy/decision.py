"""The table of an agent's moves, which the commands of ``kedge policy`` share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.output import print_json, svg_file
from kedge.words import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kedge.agents.agent import Analysis, Row
    from kedge.specs import Spec

_BAR = 20

Agent = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        metavar="SPEC",
        help="Who plays: a model, or a search such as `puct(MODEL, c_puct=2, playouts=50)`.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the agent's random draws.")]
Svg = Annotated[
    Path | None,
    typer.Option(callback=svg_file, help="Draw the position with the likeliest moves to a file."),
]
Top = Annotated[int, typer.Option(min=1, help="How many moves the table shows.")]


@dataclass(frozen=True)
class AgentDecision:
    """An agent's decision in a position."""

    spec: "Spec"
    """Names the agent."""
    imitates_people: bool
    """Whether the agent's anchor is a model of people's moves."""
    state: Any
    analysis: "Analysis"
    rows: "list[Row]"
    """The moves, best first."""


def decide(agent: str, state: Any, game: str, *, quiet: bool) -> AgentDecision:
    """Return the agent's decision in a state of `game`; show how far its search is."""
    from kedge.agents import make_player
    from kedge.interfaces.progress import counting_playouts
    from kedge.specs import parse

    spec = parse(agent)
    player = make_player(spec, game)
    with counting_playouts(quiet=quiet) as show:
        for analysis in player.analyse(state, state.current_player()):
            show(analysis.progress)
    imitates_people = getattr(player, "imitates_people", False)
    return AgentDecision(spec, imitates_people, state, analysis, analysis.rows())


def print_moves_json(decision: AgentDecision, position: dict[str, Any]) -> None:
    """Print the agent, facts about the position, the value and all moves, best first, as JSON."""
    from kedge.games.verbs import written

    state = decision.state
    moves = [
        {
            "move": written(state, row.action),
            "name": state.action_to_string(row.action),
            "anchor": row.anchor,
            "policy": row.policy,
            "smooth": row.smooth,
            "q": row.q,
            "visits": row.visits,
        }
        for row in decision.rows
    ]
    agent, value = str(decision.spec), decision.analysis.value
    print_json({"agent": agent, **position, "value": value, "moves": moves})


def print_table(decision: AgentDecision, position: "Text", top: int, svg: Path | None) -> None:
    """Print the agent, the position, the first `top` moves, and the value."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, rows, visits = Console(emoji=False), decision.rows, decision.analysis.visits
    console.print(Text(str(decision.spec), style="bold"), soft_wrap=True)
    console.print(position, soft_wrap=True)
    searched = visits is not None
    table = Table(box=None, pad_edge=False)
    headings = ["move", "anchor", "policy", *(["q", "visits"] if searched else []), ""]
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("move", "") else "right")
    most = max(max(row.policy, row.anchor) for row in rows[:top])
    for row in rows[:top]:
        q = "-" if row.q is None else f"{row.q:+.3f}"
        table.add_row(
            decision.state.action_to_string(row.action),
            f"{row.anchor:.1%}",
            f"{row.policy:.1%}",
            *([q, str(row.visits)] if searched else []),
            bar(row, most),
        )
    console.print(table)
    print_rest(console, rows, top)
    if visits is not None:
        total, anchor = int(visits.sum()), "people" if decision.imitates_people else "anchor"
        playouts = f"{counted(total + 1, 'playout')}: the root and {counted(total, 'visit')}"
        console.print(f"[dim]█ search ░ {anchor}; {playouts}[/dim]", highlight=False)
    console.print(f"\n[bold]value[/bold] {decision.analysis.value:+.4f}", highlight=False)
    if svg is not None:
        typer.echo(str(svg))


def bar(row: "Row", most: float, cells: int = _BAR) -> str:
    """Draw a move's probability; the probability `most` has all `cells`."""
    search = round(cells * row.policy / most)
    anchor = round(cells * row.anchor / most)
    # The dim end of the bar is the probability that search took from people's move.
    return f"[cyan]{'█' * search}[/cyan][dim]{'░' * max(0, anchor - search)}[/dim]"


def print_rest(console: "Console", rows: "list[Row]", top: int) -> None:
    """Count the moves that a table of the first `top` leaves out."""
    if more := rows[top:]:
        rest = max(0.0, 1.0 - sum(row.policy for row in rows[:top]))
        console.print(f"[dim]and {counted(len(more), 'more move')}, {rest:.1%} together[/dim]")


def play_moves(state: Any, moves: str, parse: Callable[[str], int]) -> None:
    """Play moves that are separated by spaces, also past a draw that nobody claimed."""
    from kedge.games.verbs import play_on

    for number, name in enumerate(moves.split(), 1):
        try:
            play_on(state, parse(name))
        except InputError as error:
            raise InputError(f"move {number}: {error}") from None

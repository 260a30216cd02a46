"""``kedge policy chess``: what an agent would play in a position, and why."""

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json

if TYPE_CHECKING:
    from kedge.agents import Analysis, Player
    from kedge.games.chess import ChessState

policy_app = typer.Typer(no_args_is_help=True, help="What an agent would play in a position.")

_BAR = 20


@policy_app.callback()
def _policy() -> None:
    pass  # so that `chess` stays a subcommand while it is the only one


@policy_app.command("chess")
def chess_policy(
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            "-a",
            metavar="SPEC",
            help="Who plays: a model, or `puct(MODEL, c_puct=2, playouts=50)`.",
        ),
    ] = "puct(chess)",
    fen: Annotated[
        str | None,
        typer.Option(help="The position. [default: the start of the game]", show_default=False),
    ] = None,
    moves: Annotated[
        str,
        typer.Option(
            metavar='"e4 e5 …"',
            help="Moves that were made from there, SAN or UCI; networks see what came before.",
            show_default=False,
        ),
    ] = "",
    svg: Annotated[
        Path | None,
        typer.Option(help="Draw the board with the likeliest moves to this file."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many moves the table shows.")] = 10,
    as_json: Json = False,
) -> None:
    """The moves that an agent would play, each beside how often people play it.

    **Examples**

    - `kedge policy chess --agent "chess(elo=1200)"`
    - `kedge policy chess --moves "e4 e5 Nf3" --agent "puct(maia-1900, c_puct=2)" --svg it.svg`
    - `kedge policy chess --fen "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1" --agent maia-1900 --json`
    """
    from kedge.agents import make_player
    from kedge.games.chess import START_FEN, ChessState
    from kedge.specs import parse

    state = ChessState.from_fen(START_FEN if fen is None else fen, moves.split())
    spec = parse(agent)
    found = _analysed(make_player(spec, ChessState), state, quiet=as_json)
    rows = _rows(state, found)
    if svg is not None:
        from kedge.files import write_atomic
        from kedge.interfaces.chess_picture import draw

        write_atomic(svg, draw(state, rows))
    if as_json:
        print_json({"agent": str(spec), "fen": state.fen(), "value": found.value, "moves": rows})
    else:
        _print(str(spec), state, found, rows[:top], len(rows))
        if svg is not None:
            typer.echo(str(svg))


def _analysed(agent: "Player", state: "ChessState", *, quiet: bool) -> "Analysis":
    """What the agent finds; on a terminal, playouts are counted while it searches."""
    from kedge.agents.puct import PuctAgent

    if quiet or not sys.stderr.isatty() or not isinstance(agent, PuctAgent):
        return agent.analyse_many([state])[0]
    from rich.console import Console
    from rich.progress import track

    steps = track(
        agent.search(state),
        "playouts",
        total=agent.settings.playouts,
        console=Console(stderr=True),
        transient=True,
    )
    [found] = deque(steps, maxlen=1)
    return found()


def _rows(state: "ChessState", found: "Analysis") -> list[dict[str, Any]]:
    """One a legal move, best first: by visits, then by probability, then the lower action."""
    smooth = found.policy if found.smooth is None else found.smooth
    visits = None if found.visits is None else found.visits.tolist()
    rows = [
        {
            "move": state.uci(action),
            "san": state.san(action),
            "anchor": float(found.anchor[i]),
            "policy": float(found.policy[i]),
            "smooth": float(smooth[i]),
            "q": None if visits is None or not visits[i] else float(found.q[i]),
            "visits": None if visits is None else visits[i],
        }
        for i, action in enumerate(state.board.legal_actions())
    ]
    return sorted(rows, key=lambda row: (-(row["visits"] or 0), -row["policy"], -row["anchor"]))


def _print(
    agent: str, state: "ChessState", found: "Analysis", rows: list[dict[str, Any]], count: int
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(agent, style="bold"), soft_wrap=True)
    console.print(Text(state.fen(), style="dim"), soft_wrap=True)
    searched = found.visits is not None
    table = Table(box=None, pad_edge=False)
    headings = ["move", "anchor", "policy", *(["q", "visits"] if searched else []), ""]
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("move", "") else "right")
    most = max(max(row["policy"], row["anchor"]) for row in rows)
    for row in rows:
        search = round(_BAR * row["policy"] / most)
        anchor = round(_BAR * row["anchor"] / most)
        # What search took from people's play is left as a dim end of the bar.
        bar = f"[cyan]{'█' * search}[/cyan][dim]{'░' * max(0, anchor - search)}[/dim]"
        q = "-" if row["q"] is None else f"{row['q']:+.3f}"
        table.add_row(
            row["san"],
            f"{row['anchor']:.1%}",
            f"{row['policy']:.1%}",
            *([q, str(row["visits"])] if searched else []),
            bar,
        )
    console.print(table)
    if count > len(rows):
        rest = max(0.0, 1.0 - sum(row["policy"] for row in rows))
        console.print(f"[dim]and {count - len(rows)} more moves, {rest:.1%} together[/dim]")
    if found.visits is not None:
        visits = int(found.visits.sum())
        playouts = f"{visits + 1:,} playouts: the root and {visits:,} visits"
        console.print(f"[dim]█ search ░ people; {playouts}[/dim]", highlight=False)
    console.print(f"\n[bold]value[/bold] {found.value:+.4f}", highlight=False)

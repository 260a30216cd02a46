"""``kedge policy``: what an agent would play in a position, and why."""

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, svg_file
from kedge.interfaces.output import print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kedge.agents import Analysis
    from kedge.games.go import GoState

policy_app = typer.Typer(no_args_is_help=True, help="What an agent would play in a position.")

_BAR = 20
_MARKED = 9  # moves on a board in a terminal
_WOODEN = ("256", "truecolor")  # where stones of both colours show on wood

_Agent = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        metavar="SPEC",
        help="Who plays: a model, or `puct(MODEL, c_puct=2, playouts=50)`.",
    ),
]
_Svg = Annotated[
    Path | None,
    typer.Option(callback=svg_file, help="Draw the board with the likeliest moves to this file."),
]
_Top = Annotated[int, typer.Option(min=1, help="How many moves the table shows.")]


@policy_app.command("chess")
def chess_policy(
    agent: _Agent = "puct(chess)",
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
    svg: _Svg = None,
    top: _Top = 10,
    as_json: Json = False,
) -> None:
    """The moves that an agent would play, each beside how often people play it.

    **Examples**

    - `kedge policy chess --agent "chess(elo=1200)"`
    - `kedge policy chess --moves "e4 e5 Nf3" --agent "puct(maia-1900, c_puct=2)" --svg it.svg`
    - `kedge policy chess --fen "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1" --agent maia-1900 --json`
    """
    from rich.text import Text

    from kedge.games.chess import START_FEN, ChessState

    state = ChessState.from_fen(START_FEN if fen is None else fen, moves.split())
    spec, found, rows = _asked(agent, state, quiet=as_json)
    if svg is not None:
        from kedge.files import write_atomic
        from kedge.interfaces.pictures.chess import draw

        write_atomic(svg, draw(state, rows))
    if as_json:
        print_json({"agent": spec, "fen": state.fen(), "value": found.value, "moves": rows})
    else:
        _print(spec, Text(state.fen(), style="dim"), found, rows, top, svg)


@policy_app.command("go")
def go_policy(
    agent: _Agent = "puct(go)",
    sgf: Annotated[
        Path | None,
        typer.Option(help="A recorded game. [default: an empty board]", show_default=False),
    ] = None,
    move: Annotated[
        int | None,
        typer.Option(
            "--move",
            min=0,
            metavar="N",
            help="The record after so many moves. [default: all]",
            show_default=False,
        ),
    ] = None,
    number: Annotated[
        int, typer.Option("--game", min=1, metavar="N", help="Which game of the file.")
    ] = 1,
    moves: Annotated[
        str,
        typer.Option(
            metavar='"Q16 D4 …"',
            help="Moves that were made from there, or `pass`; networks see what came before.",
            show_default=False,
        ),
    ] = "",
    size: Annotated[
        int | None, typer.Option(help="Of the board, without --sgf. [default: 19]")
    ] = None,
    komi: Annotated[
        float | None,
        typer.Option(help="[default: the record's, 6.5 where it has none, 7.5 without --sgf]"),
    ] = None,
    handicap: Annotated[
        int | None, typer.Option(help="Stones on their customary points, without --sgf.")
    ] = None,
    svg: _Svg = None,
    top: _Top = 10,
    as_json: Json = False,
) -> None:
    """The moves of Go that an agent would play, each beside how often people play it.

    On the board, 1 is the agent's first choice, and the last move stands in brackets.

    **Examples**

    - `kedge policy go --agent go`
    - `kedge policy go --sgf game.sgf --move 40 --svg it.svg`
    - `kedge policy go --moves "Q16 D4 Q3" --agent "puct(go, c_puct=2, playouts=100)" --json`
    """
    if sgf is None:
        from kedge.games.go import GoState

        if move is not None or number != 1:
            raise InputError("--move, --game: of a record; name it with --sgf")
        start = 7.5 if komi is None else komi
        state = GoState(19 if size is None else size, start, handicap=handicap or 0)
    else:
        if size is not None or handicap is not None:
            raise InputError("--size, --handicap: the record says so itself; leave them out")
        state = _recorded(sgf, number, move, komi)
    for count, name in enumerate(moves.split(), 1):
        try:
            state.apply_action(state.parse_gtp(name))
        except InputError as error:
            raise InputError(f"move {count}: {error}") from None
    spec, found, rows = _asked(agent, state, quiet=as_json)
    if svg is not None:
        from kedge.files import write_atomic
        from kedge.interfaces.pictures.go import draw

        write_atomic(svg, draw(state, rows))
    if as_json:
        position = {
            "size": state.size,
            "komi": state.komi,
            "player": ("black", "white")[state.current_player()],
            "history": [state.gtp(action) for action in state.history],
        }
        print_json({"agent": spec, **position, "value": found.value, "moves": rows})
    else:
        _print(spec, _board(state, rows[:top]), found, rows, top, svg)


def _recorded(file: Path, number: int, move: int | None, komi: float | None) -> "GoState":
    """A record's position, with another komi if so asked."""
    from dataclasses import replace

    from kedge.records import ReadReport, numbered_game, read_go_games

    read = ReadReport()
    game = numbered_game(read_go_games(file, read), read, file, number)
    if move is not None and move > len(game):
        raise InputError(f"{file}: has {len(game)} moves, and no move {move}")
    try:
        return replace(game, komi=game.komi if komi is None else komi).state(move)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _board(state: "GoState", rows: list[dict[str, Any]]) -> "Text":
    from rich.console import Console
    from rich.text import Text

    from kedge.interfaces.pictures.go import board_text
    from kedge.models.go.encoding import GO

    marked = [state.parse_gtp(row["move"]) for row in rows[:_MARKED] if row["policy"] > 0.0]
    board = board_text(state, marked, coloured=Console().color_system in _WOODEN)
    to_move = ("Black", "White")[state.current_player()]
    black, white = state.board.prisoners
    facts = f"{to_move} to move, komi {state.komi:g}; captured: {black} black, {white} white"
    if state.size != GO.side:
        facts += f"\nmodels learn on {GO.side}×{GO.side}, and have seen nobody play on this board"
    return Text.assemble("\n", board, "\n", (facts, "dim"), "\n")


def _asked(agent: str, state: Any, *, quiet: bool) -> "tuple[str, Analysis, list[dict[str, Any]]]":
    """The agent's spec, what it finds, and its moves."""
    from kedge.agents import make_player
    from kedge.catalogue import of_state
    from kedge.specs import parse

    spec = parse(agent)
    found = _analysed(make_player(spec, of_state(type(state)).name), state, quiet=quiet)
    return str(spec), found, _rows(state, found)


def _analysed(agent: Any, state: Any, *, quiet: bool) -> "Analysis":
    """What the agent finds; on a terminal, playouts are counted while it searches."""
    import numpy as np

    from kedge.agents.board.puct import PuctAgent

    if quiet or not sys.stderr.isatty() or not isinstance(agent, PuctAgent):
        analysis: Analysis = agent.analyse_many([state], np.random.default_rng(0))[0]
        return analysis
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


def _rows(state: Any, found: "Analysis") -> list[dict[str, Any]]:
    """One row per legal move, best first."""
    return [
        {
            "move": state.protocol_name(row.action),
            "name": state.action_to_string(row.action),
            "anchor": row.anchor,
            "policy": row.policy,
            "smooth": row.smooth,
            "q": row.q,
            "visits": row.visits,
        }
        for row in found.rows()
    ]


def _print(
    agent: str,
    position: "Text",
    found: "Analysis",
    everything: list[dict[str, Any]],
    top: int,
    svg: Path | None,
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, rows = Console(), everything[:top]
    console.print(Text(agent, style="bold"), soft_wrap=True)
    console.print(position, soft_wrap=True)
    searched = found.visits is not None
    table = Table(box=None, pad_edge=False)
    headings = ["move", "anchor", "policy", *(["q", "visits"] if searched else []), ""]
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("move", "") else "right")
    most = max(max(row["policy"], row["anchor"]) for row in rows)
    for row in rows:
        q = "-" if row["q"] is None else f"{row['q']:+.3f}"
        table.add_row(
            row["name"],
            f"{row['anchor']:.1%}",
            f"{row['policy']:.1%}",
            *([q, str(row["visits"])] if searched else []),
            bar(row, most),
        )
    console.print(table)
    print_rest(console, everything, top)
    if found.visits is not None:
        visits = int(found.visits.sum())
        playouts = f"{visits + 1:,} playouts: the root and {visits:,} visits"
        console.print(f"[dim]█ search ░ people; {playouts}[/dim]", highlight=False)
    console.print(f"\n[bold]value[/bold] {found.value:+.4f}", highlight=False)
    if svg is not None:
        typer.echo(str(svg))


def bar(row: dict[str, Any], most: float, cells: int = _BAR) -> str:
    """How likely a move is, beside the `most` that any is to anyone, which has all `cells`."""
    search = round(cells * row["policy"] / most)
    anchor = round(cells * row["anchor"] / most)
    # What search took from people's play is left as a dim end of the bar.
    return f"[cyan]{'█' * search}[/cyan][dim]{'░' * max(0, anchor - search)}[/dim]"


def print_rest(console: "Console", everything: list[dict[str, Any]], top: int) -> None:
    """What a table of the first `top` leaves out."""
    if more := everything[top:]:
        rest = max(0.0, 1.0 - sum(row["policy"] for row in everything[:top]))
        console.print(f"[dim]and {len(more)} more moves, {rest:.1%} together[/dim]")

"""``kedge policy chess``."""

import re
from typing import Annotated

import typer

from kedge.interfaces.commands.policy.decision import (
    Agent,
    Svg,
    Top,
    decide,
    play_moves,
    print_moves_json,
    print_table,
)
from kedge.interfaces.options import Json
from kedge.interfaces.output import write_picture


def chess_policy(
    agent: Agent = "puct(chess)",
    fen: Annotated[
        str | None,
        typer.Option(help="The position. [default: the start of the game]", show_default=False),
    ] = None,
    moves: Annotated[
        str,
        typer.Option(
            metavar='"e4 e5 …"',
            help="Moves made from there, in SAN or UCI. Networks see the earlier positions.",
            show_default=False,
        ),
    ] = "",
    svg: Svg = None,
    top: Top = 10,
    as_json: Json = False,
) -> None:
    """Show the chess moves that an agent would play, beside how often people play them.

    **Examples**

    - `kedge policy chess --agent "chess(elo=1200)"`
    - `kedge policy chess --moves "e4 e5 Nf3" --agent "puct(maia-1900, c_puct=2)" --svg it.svg`
    - `kedge policy chess --fen "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1" --agent maia-1900 --json`
    """
    from rich.text import Text

    from kedge.games.chess import ChessState

    state = ChessState() if fen is None else ChessState.from_fen(fen)
    unnumbered = re.sub(r"(^|\s)\d+\.+", " ", moves)  # as records of games number them
    play_moves(state, unnumbered, state.parse_move)
    decision = decide(agent, state, "chess", quiet=as_json)
    if svg is not None:
        from kedge.interfaces.pictures.chess import draw

        write_picture(svg, draw(state, decision.rows))
    if as_json:
        print_moves_json(decision, {"fen": state.fen()})
    else:
        print_table(decision, Text(state.fen(), style="dim"), top, svg)

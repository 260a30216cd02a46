"""``kedge policy`` of games that have no command of their own."""

from typing import Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.policy.decision import (
    Agent,
    Svg,
    Top,
    decide,
    print_moves_json,
    print_table,
)
from kedge.interfaces.options import Json
from kedge.interfaces.output import write_picture


def any_game_policy(
    context: typer.Context,
    agent: Agent = "puct(uniform)",
    moves: Annotated[
        str,
        typer.Option(
            metavar='"MOVE MOVE …"',
            help="Moves made from the start, as the table names them.",
            show_default=False,
        ),
    ] = "",
    svg: Svg = None,
    top: Top = 10,
    as_json: Json = False,
) -> None:
    """Show the moves that an agent would play, beside how likely its anchor finds them.

    **Examples**, where GAME is the name of a game

    - `kedge policy GAME`
    - `kedge policy GAME --agent "puct(uniform, playouts=400)" --json`
    """
    from rich.text import Text

    from kedge.games import load_game

    game = str(context.info_name)
    state = load_game(game).initial_state()
    played = _play(state, moves)
    if state.is_terminal():
        raise InputError("--moves: the game is over; leave out the last move")
    if state.current_player() < 0:
        raise InputError(f"{game}: players do not move in turn; try kedge solve {game}")
    if svg is not None and not hasattr(state, "to_svg"):
        raise InputError(f"--svg: {game} draws no pictures")
    decision = decide(agent, state, game, quiet=as_json)
    if svg is not None:
        write_picture(svg, state.to_svg())
    if as_json:
        position = {"game": game, "player": state.current_player(), "history": played}
        print_moves_json(decision, position)
    else:
        print_table(decision, Text(f"{state}\n", style="dim"), top, svg)


def _play(state: Any, moves: str) -> list[str]:
    """Play `moves` and return their names."""
    played: list[str] = []
    rest = moves.strip(", ")
    while rest:
        try:
            action, length = _first_move(state, rest)
        except InputError as error:
            raise InputError(f"move {len(played) + 1}: {error}") from None
        played.append(state.action_to_string(action))
        state.apply_action(action)
        rest = rest[length:].lstrip(", ")
    return played


def _first_move(state: Any, text: str) -> tuple[int, int]:
    """Return the move that `text` begins with, and the length of its name."""
    from kedge.games.verbs import move_parser

    word = text.replace(",", " ").split()[0]
    if (parse := move_parser(state)) is not None:
        return parse(word), len(word)
    names = {state.action_to_string(action): action for action in state.legal_actions()}
    fitting = [name for name in names if f"{text} ".replace(",", " ").startswith(f"{name} ")]
    if not fitting:
        known = ", ".join(list(names)[:10]) or "none, the game is over"
        raise InputError(f"{word!r} is not a legal move; legal: {known}")
    name = max(fitting, key=len)
    return names[name], len(name)

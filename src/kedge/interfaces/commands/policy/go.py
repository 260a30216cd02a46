"""``kedge policy go``."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.policy.decision import (
    Agent,
    Svg,
    Top,
    decide,
    play_moves,
    print_moves_json,
    print_table,
)
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import write_picture
from kedge.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from kedge.agents.agent import Row
    from kedge.games.go import GoState

_MARKED = 9  # moves on a board in a terminal
_WOODEN = ("256", "truecolor")  # where stones of both colours show on wood


@dataclass(frozen=True)
class PositionOptions:
    """A position of a record, or of a board that `moves` fill."""

    sgf: Annotated[
        Path | None,
        typer.Option(help="A recorded game. [default: an empty board]", show_default=False),
    ] = None
    move: Annotated[
        int | None,
        typer.Option(
            "--move",
            min=0,
            metavar="N",
            help="Show the record after N moves. [default: all]",
            show_default=False,
        ),
    ] = None
    number: Annotated[
        int, typer.Option("--game", min=1, metavar="N", help="Which game of the file.")
    ] = 1
    size: Annotated[
        int | None, typer.Option(help="Side of the board, without --sgf. [default: 19]")
    ] = None
    komi: Annotated[
        float | None,
        typer.Option(help="[default: the record's, 6.5 where it has none, 7.5 without --sgf]"),
    ] = None
    handicap: Annotated[
        int | None, typer.Option(help="Stones on the customary points, without --sgf.")
    ] = None

    def state(self) -> "GoState":
        """Return the position."""
        if self.sgf is not None:
            if self.size is not None or self.handicap is not None:
                raise InputError("--size, --handicap: the record has its own; leave them out")
            return self._recorded(self.sgf)
        from kedge.games.go import GoState

        if self.move is not None or self.number != 1:
            raise InputError("--move, --game: there is no record; give one with --sgf")
        komi = 7.5 if self.komi is None else self.komi
        return GoState(19 if self.size is None else self.size, komi, handicap=self.handicap or 0)

    def _recorded(self, file: Path) -> "GoState":
        """Return a position of a record; `komi` replaces the record's."""
        from kedge.records import ReadReport, numbered_game, read_go_games

        report, move = ReadReport(), self.move
        game = numbered_game(read_go_games(file, report), report, file, self.number)
        if move is not None and move > len(game):
            raise InputError(f"{file}: has {counted(len(game), 'move')}, no move {move}")
        try:
            return replace(game, komi=game.komi if self.komi is None else self.komi).state(move)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None


@unfolded
def go_policy(
    position: PositionOptions,
    agent: Agent = "puct(go)",
    moves: Annotated[
        str,
        typer.Option(
            metavar='"Q16 D4 …"',
            help="Moves made from there, or `pass`. Networks see the earlier positions.",
            show_default=False,
        ),
    ] = "",
    svg: Svg = None,
    top: Top = 10,
    as_json: Json = False,
) -> None:
    """Show the Go moves that an agent would play, beside how often people play them.

    On the board, 1 marks the agent's first choice, and brackets mark the last move.

    **Examples**

    - `kedge policy go --agent go`
    - `kedge policy go --sgf game.sgf --move 40 --svg it.svg`
    - `kedge policy go --moves "Q16 D4 Q3" --agent "puct(go, c_puct=2, playouts=100)" --json`
    """
    state = position.state()
    play_moves(state, moves, state.parse_gtp)
    decision = decide(agent, state, "go", quiet=as_json)
    if svg is not None:
        from kedge.interfaces.pictures.go import draw

        write_picture(svg, draw(state, decision.rows))
    if as_json:
        facts = {
            "size": state.size,
            "komi": state.komi,
            "player": ("black", "white")[state.current_player()],
            "history": [state.gtp(action) for action in state.history],
        }
        print_moves_json(decision, facts)
    else:
        print_table(decision, _board(state, decision.rows[:top]), top, svg)


def _board(state: "GoState", rows: "Sequence[Row]") -> "Text":
    """Return the position for a terminal, with the first of the moves marked."""
    from rich.console import Console
    from rich.text import Text

    from kedge.interfaces.pictures.go import board_text
    from kedge.models.go.encoding import GO

    marked = [row.action for row in rows[:_MARKED] if row.policy > 0.0]
    board = board_text(state, marked, coloured=Console().color_system in _WOODEN)
    to_move = ("Black", "White")[state.current_player()]
    black, white = state.board.prisoners
    facts = f"{to_move} to move, komi {state.komi:g}; captured: {black} black, {white} white"
    if state.size != GO.side:
        facts += f"\nmodels learned on {GO.side}×{GO.side} and saw no games on this board"
    return Text.assemble("\n", board, "\n", (facts, "dim"), "\n")

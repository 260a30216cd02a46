"""``kedge policy diplomacy``: what an agent would order, and why."""

import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.policy.decision import Seed, print_rest
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import print_json, svg_file, write_picture

if TYPE_CHECKING:
    from kedge.agents.agent import Row
    from kedge.games.diplomacy import DiplomacyState

_COLUMN, _ORDER = 8, 26  # characters of a number and what follows it; of the longest order


@dataclass(frozen=True)
class PositionOptions:
    """The start of the game, a position of a file, or a phase of a recorded game."""

    file: Annotated[
        str | None,
        typer.Argument(
            metavar="STATE.json",
            help="A JSON object with `name` (S1901M), `units`, `centers`, `dislodged` in R phases, "
            "and optional `previous_orders`; or, with `--phase`, a game. `-` is standard input. "
            "[default: the start of the game]",
            show_default=False,
        ),
    ] = None
    phase: Annotated[
        str | None,
        typer.Option(metavar="S1901M", help="Phase of a recorded game.", show_default=False),
    ] = None

    def state(self) -> "DiplomacyState":
        """Return the position."""
        from kedge.games.diplomacy import Diplomacy
        from kedge.records.diplomacy.positions import read_phase, read_positions

        if self.file is None:
            if self.phase is not None:
                raise InputError("--phase: there is no game; name its file")
            return Diplomacy().initial_state()
        source = sys.stdin.buffer if self.file == "-" else self.file
        if self.phase is not None:
            return read_phase(source, self.phase.upper())
        positions = read_positions(source)
        state, _ = next(positions)
        if next(positions, None) is not None:
            raise InputError(f"{self.file}: holds several positions; keep one")
        return state


@unfolded
def orders_policy(
    power: Annotated[str, typer.Option("--power", "-p", help="Power that orders: FRANCE, …")],
    position: PositionOptions,
    agent: Annotated[
        str,
        typer.Option("--agent", "-a", metavar="SPEC", help="Who plays: a model or a search."),
    ] = "pikl-hedge(diplomacy)",
    seed: Seed = 0,
    svg: Annotated[
        Path | None,
        typer.Option(callback=svg_file, help="Draw the map with the likeliest orders to a file."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many joint orders the table shows.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the orders that an agent would give, beside how often people give them.

    A move is all orders of the power in the phase.

    **Examples**

    - `kedge policy diplomacy --power FRANCE --agent diplomacy`
    - `kedge policy diplomacy position.json -p TURKEY -a "pikl-hedge(diplomacy)" --svg map.svg`
    - `kedge policy diplomacy game.json --phase F1903M -p ITALY`
    """
    import numpy as np

    from kedge.agents import make_player
    from kedge.games.diplomacy import format_orders, player
    from kedge.interfaces.progress import waiting
    from kedge.specs import parse

    spec, name = parse(agent), power.upper()
    number, orders_agent = player(name), make_player(spec, "diplomacy")
    state = position.state()
    if not state.orders(name):
        raise InputError(f"{name} has nothing to order in {state.phase}")
    with waiting("searching", quiet=as_json):
        [analysis] = orders_agent.analyse_many([(state, number)], np.random.default_rng(seed))
    rows = analysis.rows()
    if svg is not None:
        write_picture(svg, state.to_svg({name: format_orders(rows[0].action)}))
    if as_json:
        facts = {"phase": state.phase, "power": name}
        print_json(
            {"agent": str(spec), **facts, "value": analysis.value, "moves": _json_rows(rows)}
        )
    else:
        _print_orders(f"{spec}: {name}, {state.phase}", analysis.value, rows, top, svg)


def _json_rows(rows: "list[Row]") -> list[dict[str, Any]]:
    from kedge.games.diplomacy import format_orders

    return [
        {
            "move": format_orders(row.action),
            "anchor": row.anchor,
            "policy": row.policy,
            "q": row.q,
            "visits": row.visits,
        }
        for row in rows
    ]


def _print_orders(title: str, value: float, rows: "list[Row]", top: int, svg: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kedge.games.diplomacy import format_orders

    console = Console()
    console.print(Text(title, style="bold"), soft_wrap=True)
    searched = any(row.q is not None for row in rows)
    table = Table(box=None, pad_edge=False)
    for heading in ("anchor", "policy", *(["q"] if searched else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("orders")
    width = max(_ORDER, console.width - _COLUMN * len(table.columns[:-1]))
    for row in rows[:top]:
        q = "-" if row.q is None else f"{row.q:.4f}"
        table.add_row(
            f"{row.anchor:.1%}",
            f"{row.policy:.1%}",
            *([q] if searched else []),
            _wrapped(format_orders(row.action), width),
        )
    console.print(table)
    print_rest(console, rows, top)
    console.print(f"\n[bold]value[/bold] {value:.4f} of a game", highlight=False)
    if svg is not None:
        typer.echo(str(svg))


def _wrapped(orders: list[str], width: int) -> str:
    """Orders between commas, none of them broken over two lines."""
    unbroken = ", ".join(order.replace(" ", "\N{NO-BREAK SPACE}") for order in orders)
    return fill(unbroken, width).replace("\N{NO-BREAK SPACE}", " ")

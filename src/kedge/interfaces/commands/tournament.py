"""``kedge tournament``: what share of games of seven an agent gets."""

from pathlib import Path
from typing import Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.options import HERE, Device, Dtype, Json, Running, unfolded
from kedge.interfaces.output import finished, print_json

tournament_app = typer.Typer(
    no_args_is_help=True, help="Games of seven: what share does an agent get?"
)


@tournament_app.callback()
def _root() -> None:
    """One command a game."""


@tournament_app.command()
@unfolded
def diplomacy(
    one: Annotated[
        str | None,
        typer.Option(metavar="A", help="An agent that has one power, each of the seven in turn."),
    ] = None,
    six: Annotated[
        str | None, typer.Option(metavar="B", help="The agent that has the other six.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Agents, of which one is drawn for every power."),
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, max=10**6, help="How many.")] = 100,
    last_year: Annotated[
        int, typer.Option(min=1901, max=9999, help="After it a game is a draw.")
    ] = 1935,
    quiet_years: Annotated[
        int,
        typer.Option(min=1, help="So many years without a centre changing hands are a draw."),
    ] = 5,
    jsonl: Annotated[
        Path | None,
        typer.Option(help="Write the games to this file; .gz and the like compress it."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed plays the same games.")] = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games side by side in one task. [default: 7; 21 on a GPU]",
            show_default=False,
        ),
    ] = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """One agent among six of another, or seats drawn from a pool: the mean share of a game.

    Shares are Sum of Squares: centres squared, or all for a solo. Equals have 1/7 each. Standard
    errors go by game. `kedge replay diplomacy` reads what `--jsonl` writes.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge tournament diplomacy --one "pikl-hedge(diplomacy)" --six diplomacy --games 70`
    - `kedge tournament diplomacy --pool "diplomacy, rm(diplomacy), hedge(diplomacy)" -n 100`
    - `kedge tournament diplomacy --one diplomacy --six "rm(diplomacy)" --jsonl games.jsonl.gz`
    """
    from kedge.experiments.diplomacy.tournament import Tournament
    from kedge.files import check_writable
    from kedge.records import write_diplomacy_games
    from kedge.specs import parse_list

    if pool is not None and one is None and six is None:
        agents = tuple(map(str, parse_list(pool)))
    elif pool is None and one is not None and six is not None:
        agents = (one, six)
    else:
        raise InputError("who plays? --one A --six B, or --pool A,B,…")
    tournament = Tournament(
        agents=agents,
        seating="1v6" if pool is None else "pool",
        games=games,
        last_year=last_year,
        quiet_years=quiet_years,
        device=device,
        dtype=dtype,
        chunk=chunk,
        seed=seed,
    )
    if jsonl is not None:
        check_writable(jsonl)
    done, _ = finished(tournament, running)
    if jsonl is not None:
        write_diplomacy_games(tournament.records(done.results), jsonl)
    if as_json:
        print_json({**(done.report().data or {}), "folder": done.folder, "jsonl": jsonl})
        return
    typer.echo(done.report().text(), nl=False)
    typer.echo(f"{jsonl or done.folder}")

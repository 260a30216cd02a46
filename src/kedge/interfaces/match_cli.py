"""``kedge match``: which of two agents is stronger, and by how much."""

from pathlib import Path
from typing import Annotated

import typer

from kedge.interfaces.options import Address, Device, Dtype, Engine, Folder, Json, Workers
from kedge.interfaces.output import print_json, resumable

match_app = typer.Typer(no_args_is_help=True, help="Games between two agents: who is stronger?")


@match_app.callback()
def _root() -> None:
    """One command a game."""


@match_app.command()
def chess(
    a: Annotated[str, typer.Argument(help="An agent for chess: the score is its.")],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    games: Annotated[int, typer.Option("--games", "-n", min=1, max=10**6, help="How many.")] = 100,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            "-t",
            help="Both draw their moves at this one. [default: each at its own]",
            show_default=False,
        ),
    ] = None,
    pgn: Annotated[
        Path | None,
        typer.Option(help="Write the games to this file; .gz and the like compress it."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed plays the same games.")] = 0,
    max_plies: Annotated[int, typer.Option(min=1, help="A game as long as this is a draw.")] = 400,
    resign: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="A game is won once both agents have put its value beyond ±X for four moves. "
            "[default: play on]",
            show_default=False,
        ),
    ] = None,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Games side by side in one task. [default: 8; 256 on a GPU]",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """A match: the score of A against B, its standard error, and the difference in Elo.

    Each has white equally often. Agents draw their moves from their policies, so that games differ;
    draws count as half a win. Games end by the rules of chess, draws claimed.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge match chess "puct(chess, c_puct=2, playouts=50)" chess --games 20`
    - `kedge match chess "puct(maia-1900, c_puct=0.5)" maia-1900 -n 1000 -t 0.3 --device cuda`
    - `kedge match chess "chess(elo=1900)" "chess(elo=1100)" --pgn games.pgn --json`
    """
    from kedge.experiments import run
    from kedge.experiments.match import CHUNK, GPU_CHUNK, Match
    from kedge.files import check_writable
    from kedge.records import write_pgn

    on_cpu = device == "cpu"
    match = Match(
        a=a,
        b=b,
        games=games,
        temperature=temperature,
        max_plies=max_plies,
        resign=resign,
        device=device,
        dtype=dtype,
        chunk=chunk or (CHUNK if on_cpu else GPU_CHUNK),
        seed=seed,
    )
    if engine != "ray":  # whose workers may have a device, and models, that are not here
        match.players()
    if pgn is not None:
        check_writable(pgn)
    if engine == "local" and not on_cpu:
        workers = workers or 1
    with resumable():
        done = run(match, engine=engine, workers=workers, address=address, folder=folder)
    done.write_report()
    if pgn is not None:
        write_pgn(match.records(done.results), pgn)
    if as_json:
        print_json({**(done.report().data or {}), "folder": done.folder, "pgn": pgn})
        return
    typer.echo(done.report().text(), nl=False)
    typer.echo(f"{pgn or done.folder}")

"""``kedge predict``: how well an agent predicts people."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kedge.interfaces.output import print_json, resumable

predict_app = typer.Typer(no_args_is_help=True, help="How well an agent predicts what people play.")


@predict_app.callback()
def _root() -> None:
    """One command a game."""


@predict_app.command()
def chess(
    data: Annotated[list[Path], typer.Argument(help="PGN or JSON lines, plain or compressed.")],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for chess.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many positions.", show_default=False)
    ] = None,
    bucket: Annotated[
        int | None,
        typer.Option(help="Only games of two players within 100 points above.", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only games of this source (JSON lines).", show_default=False)
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Only games that `kedge train` does not train on.")
    ] = False,
    unrated: Annotated[
        bool,
        typer.Option(
            "--unrated",
            help="Also games that do not say that they are rated, such as chess.com's.",
        ),
    ] = False,
    told_ratings: Annotated[
        bool,
        typer.Option(
            "--told-ratings",
            help="Tell `chess`, or `puct(chess, …)`, both players' ratings in every position.",
        ),
    ] = False,
    device: Annotated[str, typer.Option(help="`cpu`, `cuda`, `cuda:1`, …")] = "cpu",
    dtype: Annotated[
        Literal["float32", "bfloat16"], typer.Option(help="What a GPU computes in.")
    ] = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games in one task. [default: 32 after a few small ones, 1024 on a GPU; more if "
            "there are very many]",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "ray", "inline"],
        typer.Option(help="Processes here, a Ray cluster, or this very process."),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tasks at once. [default: all cores; 1 on a GPU]", show_default=False
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster: `auto` or HOST:PORT. Without it, one is started."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where to keep the run. [default: under kedge's home, by the config's hash]",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """Top-1, top-5 and cross-entropy on human moves, by rating, time control and phase.

    Positions are those of the paper and of Maia: rated games, no bullet, no bots, after ten plies,
    with thirty seconds left where clocks are known. Standard errors are clustered by game.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge predict chess lichess_2024-01.pgn.zst --agent maia-1900 --bucket 1900 --limit 20000`
    - `kedge predict chess games.pgn --agent "puct(chess, c_puct=2, playouts=50)"`
    - `kedge predict chess games.pgn --agent chess --told-ratings --json`
    """
    from kedge.experiments import run
    from kedge.experiments.predict import Predict

    prediction = Predict(
        agent=agent,
        data=tuple(map(str, data)),
        limit=limit,
        bucket=bucket,
        source=source,
        held_out=held_out,
        unrated=unrated,
        told_ratings=told_ratings,
        device=device,
        dtype=dtype,
        chunk=chunk,
    )
    if engine != "ray":  # whose workers may have a device, and models, that are not here
        prediction.player()
    if engine == "local" and device != "cpu":
        workers = workers or 1
    with resumable():
        done = run(prediction, engine=engine, workers=workers, address=address, folder=folder)
    done.write_report()
    if as_json:
        print_json({**(done.report().data or {}), "folder": done.folder})
        return
    typer.echo(done.report().text(), nl=False)
    typer.echo(f"{done.folder}")

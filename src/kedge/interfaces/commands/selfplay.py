"""``kedge selfplay``: what agents score together."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import HERE, Bomb, Device, Dtype, Json, Running, unfolded
from kedge.interfaces.output import finished, print_json

selfplay_app = typer.Typer(
    no_args_is_help=True, help="Agents at one table: what do they score together?"
)


@selfplay_app.callback()
def _root() -> None:
    """One command a game."""


@selfplay_app.command()
@unfolded
def hanabi(
    agents: Annotated[
        str,
        typer.Option(
            "--agents",
            "-a",
            metavar="A[,B…]",
            help="Who sits at the table: one has all seats, several take turns around it.",
        ),
    ] = "sparta(hanabi, lambda=1, rollouts=1000)",
    games: Annotated[int, typer.Option("--games", "-n", min=1, max=10**6, help="How many.")] = 100,
    players: Annotated[int, typer.Option(min=2, max=5, help="Seats at the table.")] = 2,
    bomb: Bomb = "zero",
    cross: Annotated[
        bool,
        typer.Option("--cross", help="Every two of the agents, and each with itself: a matrix."),
    ] = False,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            "--jsonl",
            "--games-file",
            help="Write the games to this file; .gz and the like compress it.",
        ),
    ] = None,
    hanab_live: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write each game to a file that hanab.live shows as a replay."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="The same seed deals the same decks, whoever plays.")
    ] = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games side by side in one task. [default: 4; 64 on a GPU]",
            show_default=False,
        ),
    ] = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """The mean score of agents at one table, perfect games, bombs, and how scores spread.

    Several agents change seats from game to game. Game 7 of a seed has the same deck whoever plays,
    so that runs compare game by game. `kedge replay hanabi` reads what `--jsonl` writes.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge selfplay hanabi --agents hanabi --games 200`
    - `kedge selfplay hanabi --agents "sparta(hanabi, lambda=0.5, rollouts=300), hanabi" -n 8
      --bomb stack --hanab-live watch/`
    - `kedge selfplay hanabi --agents "hanabi, conventions" --cross --games 200 --bomb stack`
    """
    from kedge.experiments.hanabi.selfplay import CrossPlay, SelfPlay
    from kedge.files import check_writable, make_folder
    from kedge.records import write_hanabi_games, write_live_games
    from kedge.specs import parse_list

    table = tuple(map(str, parse_list(agents)))
    told: dict[str, Any] = {
        "bomb": bomb,
        "games": games,
        "device": device,
        "dtype": dtype,
        "chunk": chunk,
        "seed": seed,
    }
    if cross and (players != 2 or jsonl is not None or hanab_live is not None):
        raise InputError("--cross: pairs of agents, whose games are not written")
    experiment = (
        CrossPlay(agents=table, **told)
        if cross
        else SelfPlay(agents=table, players=players, **told)
    )
    if jsonl is not None:
        check_writable(jsonl)
    if hanab_live is not None:
        make_folder(hanab_live)
    done, _ = finished(experiment, running)
    if isinstance(experiment, SelfPlay):
        if jsonl is not None:
            write_hanabi_games(experiment.records(done.results), jsonl)
        if hanab_live is not None:
            write_live_games(experiment.records(done.results), hanab_live)
    if as_json:
        written = {"jsonl": jsonl, "hanab_live": hanab_live, "folder": done.folder}
        print_json({**(done.report().data or {}), **written})
        return
    typer.echo(done.report().text(), nl=False)
    for place in (jsonl, hanab_live, done.folder):
        if place is not None:
            typer.echo(str(place))

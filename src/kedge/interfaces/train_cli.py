"""``kedge train``: human models from human games."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Device, Json
from kedge.interfaces.output import print_json, resumable

train_app = typer.Typer(no_args_is_help=True, help="Train human models from human games.")


@train_app.callback()
def _root() -> None:
    """One command a model."""


@train_app.command()
def chess(
    data: Annotated[
        list[Path],
        typer.Argument(help="PGN or JSON lines, plain or compressed: a Lichess month, say."),
    ],
    folder: Annotated[
        Path, typer.Option(help="Where the checkpoint and the model go; the same folder goes on.")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="FIELD=VALUE",
            help="Change the recipe: filters, blocks, steps, batch, learning_rate, …",
            show_default=False,
        ),
    ] = None,
    device: Device = "cpu",
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop after this long; run again to go on.", show_default=False),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(
            help="A larger model's checkpoint to learn from as well (see teacher_weight).",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read only so many games.", show_default=False)
    ] = None,
) -> None:
    """A chess model conditioned on both players' ratings, from their games.

    It needs the `[train]` extra. torchrun trains in several processes, each on a GPU of its own
    and with its share of every batch; checkpoints do not depend on how many there are.

    **Examples**

    - `kedge train chess month.pgn.zst --folder big -s filters=128 -s blocks=12 --device cuda`
    - `kedge train chess month.pgn.zst --folder small -s blocks=8 -s teacher_weight=0.7
      --teacher big/checkpoint.pt --device cuda --seconds 540`
    - `torchrun --nproc-per-node=8 -m kedge train chess month.pgn.zst --folder big --device cuda`
    """
    try:
        from kedge.training.distributed import joined
    except ImportError:
        raise InputError("training needs torch: pip install 'kedge[train]'") from None
    from itertools import chain, islice

    from kedge.files import make_folder
    from kedge.interfaces.inputs import fields_of
    from kedge.records import read_games
    from kedge.training.chess import table_of, train
    from kedge.training.imitation import Recipe

    recipe = dataclasses.replace(Recipe(), **fields_of(Recipe, "the recipe", settings or []))
    with joined(device) as rank, resumable():
        make_folder(folder)
        games = chain.from_iterable(read_games(path) for path in data)
        table = table_of(islice(games, limit))
        told = f"{len(table):,} games, {int(table.held_out.sum()):,} of them held out"
        if rank.is_first:
            typer.echo(told, err=True)
        limit_seconds = float("inf") if seconds is None else seconds
        for report in train(
            table, folder, recipe, rank=rank, seconds=limit_seconds, teacher=teacher
        ):
            if rank.is_first:
                typer.echo(
                    f"step {report['step']:,} of {recipe.steps:,}  loss {report['loss']:.3f}  "
                    f"top-1 {report['top1']:.1%}  held out {report['held_out_top1']:.1%}  "
                    f"{report['seconds']:.0f} s"
                )


@train_app.command("move-times")
def move_times(
    data: Annotated[list[Path], typer.Argument(help="Chess games with clocks: PGN or JSON lines.")],
    model: Annotated[str, typer.Option(help="Which tells how open a choice was.")] = "chess",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read only so many games.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """How long people take for a chess move: the numbers behind `HumanTime` of `kedge uci`.

    The logarithm of the seconds is fitted by least squares, at most twenty games a player, and
    scored on one player in twenty beside a constant share of the clock.

    **Example**

    - `kedge train move-times lichess_2024-01.pgn.zst --limit 20000`
    """
    from itertools import chain, islice

    from kedge.agents.move_times import FEATURES
    from kedge.agents.networks import network
    from kedge.records import read_games
    from kedge.training.move_times import fit, fit_share, score, timed_moves

    games = chain.from_iterable(read_games(path) for path in data)
    moves = timed_moves(islice(games, limit), network(model))
    times, share = fit(moves), fit_share(moves)
    found: dict[str, Any] = {
        "moves": len(moves),
        "players": moves.players,
        "weights": dict(zip(FEATURES, times.weights, strict=True)),
        "spread": times.spread,
        "held_out": {
            "moves": int(moves.held_out.sum()),
            "fitted": score(times, moves),
            "share": score(share, moves),
        },
    }
    if as_json:
        print_json(found)
        return
    typer.echo(f"{found['moves']:,} moves of {found['players']:,} players")
    for name, weight in found["weights"].items():
        typer.echo(f"{name:>10} {weight:+.3f}")
    typer.echo(f"{'spread':>10} {times.spread:.3f}")
    typer.echo(f"\nheld out: {found['held_out']['moves']:,} moves")
    for name in ("fitted", "share"):
        one = found["held_out"][name]
        typer.echo(
            f"{name:>10}  log-likelihood {one['log_likelihood']:.3f}  "
            f"error of log seconds {one['log_error']:.3f}"
        )
        for speed, median in one["medians"].items():
            typer.echo(
                f"{'':>12}{speed}: median {median['model']:.1f} s, people {median['people']:.1f} s "
                f"({median['moves']:,} moves)"
            )

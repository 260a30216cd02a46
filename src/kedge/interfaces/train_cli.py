"""``kedge train``: human models from human games."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from kedge.errors import InputError

train_app = typer.Typer(
    no_args_is_help=True, help="Train human models (needs the `[train]` extra)."
)


@train_app.callback()
def _root() -> None:
    """One command a game."""


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
    device: Annotated[str, typer.Option(help="`cpu`, `cuda`, `cuda:1`, …")] = "cpu",
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

    **Examples**

    - `kedge train chess month.pgn.zst --folder big -s filters=128 -s blocks=12 --device cuda`
    - `kedge train chess month.pgn.zst --folder small -s blocks=8 -s teacher_weight=0.7
      --teacher big/checkpoint.pt --device cuda --seconds 540`
    """
    try:
        import torch
    except ImportError:
        raise InputError("training needs torch: pip install 'kedge[train]'") from None
    from itertools import chain, islice

    from kedge.files import make_folder
    from kedge.interfaces.inputs import fields_of
    from kedge.records import read_games
    from kedge.training.chess import table_of, train
    from kedge.training.imitation import Recipe

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"device {device!r}: torch sees no GPU here")
    recipe = dataclasses.replace(Recipe(), **fields_of(Recipe, "the recipe", settings or []))
    make_folder(folder)
    games = chain.from_iterable(read_games(path) for path in data)
    table = table_of(islice(games, limit))
    typer.echo(f"{len(table):,} games, {int(table.held_out.sum()):,} of them held out", err=True)
    limit_seconds = float("inf") if seconds is None else seconds
    for report in train(
        table, folder, recipe, device=device, seconds=limit_seconds, teacher=teacher
    ):
        typer.echo(
            f"step {report['step']:,} of {recipe.steps:,}  loss {report['loss']:.3f}  "
            f"top-1 {report['top1']:.1%}  held out {report['held_out_top1']:.1%}  "
            f"{report['seconds']:.0f} s"
        )

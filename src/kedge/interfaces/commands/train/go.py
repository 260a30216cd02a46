"""``kedge train go``."""

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.train.shared import (
    BEGINNING,
    Beginning,
    Training,
    need_torch,
    say,
    valid_games,
)
from kedge.interfaces.options import unfolded
from kedge.words import counted

if TYPE_CHECKING:
    from kedge.records.go.arrays import GoArrays
    from kedge.training.go.policy import GoRecipe


@unfolded
def go(
    data: Annotated[
        list[Path],
        typer.Argument(help="SGF files, folders and archives of them, or tables (TSV)."),
    ],
    training: Training,
    recipe: Annotated[
        str,
        typer.Option(help="Network: `small` (10 blocks of 128 filters) or `paper` (20, 256)."),
    ] = "small",
    modern: Annotated[
        bool,
        typer.Option(
            "--modern", help="Learn from all years, not only 1900 to 2014; test on 2017 and later."
        ),
    ] = False,
    beginning: Beginning = BEGINNING,
) -> None:
    """Train a Go model from games of people: the next move, and who wins.

    The games are even games of professionals on the full board with komi from −60 to 60. As in the
    paper, the model learns from 1900 to 2014 and is tested on 2015 and 2016. With `-s players=true`
    the model takes both players' ranks, the server and the year as inputs and learns from all games
    of people: other years, handicap games, games on KGS, Fox, TOM and Tygem. One person in 25 on a
    server is held out. Training needs the `[train]` extra; torchrun works as for chess.

    **Examples**

    - `kedge train go games.tsv.xz --folder mine --device cuda --seconds 540`
    - `kedge train go games.tsv.xz --folder wide --begin-as mine/checkpoint.pt -s filters=192
      --device cuda`
    - `kedge train go club/ --modern --folder ours --begin-as go -s learning_rate=0.0005
      -s steps=2000`
    - `kedge train go games.tsv.xz kgs.tsv.xz --folder ranks --begin-as go-large -s players=true
      -s filters=192 -s blocks=14 -s professionals=2 --device cuda`
    - `torchrun --nproc-per-node=8 -m kedge train go sgf/ --folder big --recipe paper --device cuda`
    """
    need_torch()
    from kedge.training.go.policy import train

    chosen = training.changed(_recipe(recipe))
    with training.started() as rank:
        table = _games(data)
        say(rank, counted(len(table), "game"))
        reports = train(
            table,
            training.folder,
            chosen,
            rank=rank,
            modern=modern,
            seconds=training.time,
            teacher=beginning.teacher,
            begin_as=beginning.begin_as,
        )
        training.print_progress(reports, rank, chosen.steps)


def _recipe(name: str) -> "GoRecipe":
    """Return the recipe of that name; raise `InputError` if there is none."""
    from kedge.specs import suggest
    from kedge.training.go.policy import RECIPES

    if name not in RECIPES:
        raise InputError(f"--recipe {name!r}: {suggest(name, list(RECIPES))}")
    return RECIPES[name]


def _games(data: list[Path]) -> "GoArrays":
    """Return the games of all files; raise `InputError` with the first fault if there are none."""
    from kedge.records.go.arrays import go_arrays, joined_arrays
    from kedge.records.go.files import read_go_games

    table = joined_arrays([go_arrays(path) for path in data])
    if not len(table):  # the cache has no faults: read again
        deque(valid_games(data, read_go_games), maxlen=0)
    return table


#: The commands by name, for the catalogue.
COMMANDS = {"go": go}

"""What may be set of the Go engine, on the command line and by a program while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, get_args, get_type_hints

import typer

from kedge.interfaces.protocols.engine_options import Kind, Option


@dataclass(frozen=True)
class Params:
    """By the names of `kedge.agents.go.engine.Options`, and the seed."""

    model: Annotated[
        str,
        typer.Option(help="Who to play like: `go`, which ships, a stored model, or a path."),
    ] = "go"
    value_model: Annotated[
        str | None,
        typer.Option(help="Model that values positions. [default: the same]"),
    ] = None
    c_puct: Annotated[
        float,
        typer.Option(min=0, max=1000, help="The dial: lower moves further from people to winning."),
    ] = 2.0
    playouts: Annotated[
        int,
        typer.Option(
            min=0, max=10_000_000, help="A move; 1 is the model by itself, 0 all the time allows."
        ),
    ] = 50
    temperature: Annotated[
        float,
        typer.Option(min=0, max=100, help="Of the moves that are drawn; 0 plays the most visited."),
    ] = 1.0
    prior_temperature: Annotated[
        float, typer.Option(min=0.01, max=100, help="Of the anchor: below 1 it is more certain.")
    ] = 1.0
    top_p: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="Draw only of the likeliest that have this share."),
    ] = 1.0
    resign: Annotated[
        float,
        typer.Option(
            min=-1, max=0, help="Resign when it has been worth less than this; -1 never does."
        ),
    ] = -0.9
    max_time: Annotated[
        float,
        typer.Option(min=0, max=1_000_000, help="Seconds for a move at most; 0 is no bound."),
    ] = 0.0
    overhead: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds lost between engine and clock.")
    ] = 0.5
    reuse_tree: Annotated[
        bool,
        typer.Option(
            "--reuse-tree", help="Keep of the last search what is below the moves made since."
        ),
    ] = False
    batch: Annotated[
        int, typer.Option(min=1, max=256, help="Leaves that wait for the network together.")
    ] = 1
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Of the network. [default: all cores]")
    ] = None
    memory: Annotated[
        int, typer.Option(min=1, max=1_048_576, help="MB that the tree may take.")
    ] = 1024
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Of the draws; 0 is another every time.")
    ] = 0


_KINDS: dict[type, Kind] = {str: "string", float: "number", int: "spin", bool: "check"}


def _settings() -> Iterator[Option]:
    hints = get_type_hints(Params, include_extras=True)
    for one in fields(Params):
        kind, told = get_args(hints[one.name])
        plain = get_args(kind)[0] if get_args(kind) else kind  # of one that may be None
        yield Option(one.name, _KINDS[plain], one.default, told.min or 0, told.max or 0)


#: The same for a program, which says them in words.
PARAMS = {option.name: option for option in _settings()}

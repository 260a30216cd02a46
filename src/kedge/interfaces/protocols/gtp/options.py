"""Options of the Go engine, for the command line and for a program while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, get_args, get_type_hints

import typer

from kedge.interfaces.protocols.engine_options import Kind, Option


@dataclass(frozen=True)
class Params:
    """The options of `kedge.agents.go.engine.Options`, by the same names, and the seed."""

    model: Annotated[
        str,
        typer.Option(help="Model to play with: `go`, which ships, a stored model, or a path."),
    ] = "go"
    value_model: Annotated[
        str | None,
        typer.Option(help="Model that values positions. [default: the same]"),
    ] = None
    c_puct: Annotated[
        float,
        typer.Option(min=0, max=1000, help="The dial: lower is stronger and less human."),
    ] = 2.0
    playouts: Annotated[
        int,
        typer.Option(
            min=0, max=10_000_000, help="Playouts per move; 1: the model alone; 0: up to the clock."
        ),
    ] = 50
    temperature: Annotated[
        float,
        typer.Option(min=0, max=100, help="Sampling temperature; 0 plays the most visited move."),
    ] = 1.0
    prior_temperature: Annotated[
        float, typer.Option(min=0.01, max=100, help="Temperature of the anchor; below 1 sharpens.")
    ] = 1.0
    top_p: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="Draw from the likeliest moves with this share only."),
    ] = 1.0
    resign: Annotated[
        float,
        typer.Option(min=-1, max=0, help="Resign when the value stays below this; -1: never."),
    ] = -0.9
    max_time: Annotated[
        float,
        typer.Option(min=0, max=1_000_000, help="Most seconds per move; 0: no limit."),
    ] = 0.0
    overhead: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds lost between engine and clock.")
    ] = 0.5
    reuse_tree: Annotated[
        bool,
        typer.Option(
            "--reuse-tree", help="Keep the part of the last tree below the moves made since."
        ),
    ] = False
    batch: Annotated[int, typer.Option(min=1, max=256, help="Leaves per batch of the network.")] = 1
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="CPU threads. [default: all cores]")
    ] = None
    memory: Annotated[
        int, typer.Option(min=1, max=1_048_576, help="Most memory of the tree, in MB.")
    ] = 1024
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Seed of the draws; 0: a new one every time.")
    ] = 0


_KINDS: dict[type, Kind] = {str: "string", float: "number", int: "spin", bool: "check"}


def _settings() -> Iterator[Option]:
    hints = get_type_hints(Params, include_extras=True)
    for field in fields(Params):
        kind, option = get_args(hints[field.name])
        plain = get_args(kind)[0] if get_args(kind) else kind  # without None
        yield Option(field.name, _KINDS[plain], field.default, option.min or 0, option.max or 0)


#: The same options for a program, by name.
PARAMS = {option.name: option for option in _settings()}

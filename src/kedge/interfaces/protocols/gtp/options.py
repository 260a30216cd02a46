"""Options of the Go engine, set on the command line or by a program while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, get_args, get_type_hints

import typer

from kedge.interfaces.protocols.engine_options import EngineOption, Kind


@dataclass(frozen=True)
class Params:
    """The fields of `kedge.agents.go.engine.Options` by name, and the seed."""

    model: Annotated[
        str,
        typer.Option(help="Model to play like: `go`, which ships, a stored model, or a path."),
    ] = "go"
    rank: Annotated[
        str | None,
        typer.Option(
            help="Rank of the people to play like: kyu, 1d to 9d, or pro; 30k to 1k are all kyu. "
            "If the model does not take ranks, `go-large` plays."
        ),
    ] = None
    opponent_rank: Annotated[
        str | None,
        typer.Option(help="Rank of their opponents, with `--rank`. [default: the same]"),
    ] = None
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
            min=0,
            max=10_000_000,
            help="Playouts per move; 1 is the model alone, 0 uses all the time.",
        ),
    ] = 50
    temperature: Annotated[
        float,
        typer.Option(min=0, max=100, help="Sampling temperature; 0 plays the most visited move."),
    ] = 1.0
    prior_temperature: Annotated[
        float,
        typer.Option(min=0.01, max=100, help="Temperature of the anchor."),
    ] = 1.0
    top_p: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1,
            help="Draw only from the likeliest moves that have this share together.",
        ),
    ] = 1.0
    resign: Annotated[
        float,
        typer.Option(
            min=-1, max=0, help="Resign when the value stays below this; -1 never resigns."
        ),
    ] = -0.9
    max_time: Annotated[
        float,
        typer.Option(min=0, max=1_000_000, help="Most seconds per move; 0 is no limit."),
    ] = 0.0
    overhead: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds lost between engine and clock.")
    ] = 0.5
    reuse_tree: Annotated[
        bool,
        typer.Option(
            "--reuse-tree", help="Reuse the part of the last search below the moves made since."
        ),
    ] = False
    batch: Annotated[
        int, typer.Option(min=1, max=256, help="Leaves that the network evaluates together.")
    ] = 1
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Network threads. [default: all cores]"),
    ] = None
    memory: Annotated[int, typer.Option(min=1, max=1_048_576, help="Memory of the tree in MB.")] = (
        1024
    )
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Seed of sampled moves; 0 differs every time.")
    ] = 0


_KINDS: dict[type, Kind] = {str: "string", float: "number", int: "spin", bool: "check"}


def _settings() -> Iterator[EngineOption]:
    hints = get_type_hints(Params, include_extras=True)
    for field in fields(Params):
        kind, option = get_args(hints[field.name])
        plain = get_args(kind)[0] if get_args(kind) else kind  # without None
        yield EngineOption(
            field.name, _KINDS[plain], field.default, option.min or 0, option.max or 0
        )


#: The same options for a program, by name.
PARAMS = {option.name: option for option in _settings()}

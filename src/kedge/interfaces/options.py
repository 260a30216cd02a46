"""Options that commands share: the same words mean the same everywhere."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[
    str, typer.Option(help="`cpu`, `openvino` (another CPU backend), `cuda`, `cuda:1`, …")
]
Dtype = Annotated[
    Literal["float32", "bfloat16"], typer.Option(help="What a GPU or OpenVINO computes in.")
]
Engine = Annotated[
    Literal["local", "ray", "inline"],
    typer.Option(help="Processes here, a Ray cluster, or this very process."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks at once. [default: all cores; 1 on a GPU]", show_default=False),
]
Address = Annotated[
    str | None,
    typer.Option(help="Of a Ray cluster: `auto` or HOST:PORT. Without it, one is started."),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        help="Where to keep the run. [default: under kedge's home, by the config's hash]",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Running:
    """Where an experiment is computed and kept: the same four options wherever one is run."""

    engine: Engine = "local"
    workers: Workers = None
    address: Address = None
    folder: Folder = None


HERE = Running()


def with_running(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has these options in place of its parameter `running`."""
    hints = get_type_hints(command, include_extras=True)
    ours = get_type_hints(Running, include_extras=True)
    own = list(inspect.signature(command).parameters.values())
    options = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
        for one in fields(Running)
    ]
    at = [one.name for one in own].index("running")
    listed = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    listed[at : at + 1] = options
    hints = {one.name: {**hints, **ours}[one.name] for one in listed}

    @wraps(command)
    def run(**given: Any) -> None:
        running = Running(**{one.name: given.pop(one.name) for one in options})
        command(**given, running=running)

    typed = [one.replace(annotation=hints[one.name]) for one in listed]
    run.__signature__ = inspect.Signature(typed)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    return run

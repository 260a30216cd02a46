"""Options that commands share: the same words mean the same everywhere."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from kedge.errors import InputError


def svg_file(path: Path | None) -> Path | None:
    """What a picture is to be written to."""
    if path is not None and path.suffix.lower() != ".svg":
        raise InputError(f"--svg: {path}: pictures are SVG, in files whose names end so")
    return path


#: Of Hanabi.
BombRule = Literal["zero", "stack"]
BOMB_HELP = "What a game is worth whose last life is lost: nothing, or what was built."
Bomb = Annotated[BombRule, typer.Option(help=BOMB_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[
    str,
    typer.Option(help="`cpu`, `openvino` (for CPUs that know bfloat16), `cuda`, …"),
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


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has, in place of parameters that are dataclasses, their fields as options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    listed = []
    for one in inspect.signature(command).parameters.values():
        if one.name in groups:
            listed += _parameters(groups[one.name])
        else:
            listed.append(one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name]))

    @wraps(command)
    def run(**given: Any) -> None:
        folded = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **folded)

    run.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in listed}
    return run


def _parameters(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(one.name, keyword, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]

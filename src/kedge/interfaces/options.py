"""Options that commands share: the same words mean the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal

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

"""``kedge models``: the user's store of networks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import check_new, print_json

if TYPE_CHECKING:
    from kedge.models.store import ModelInfo

models_app = typer.Typer(
    no_args_is_help=True,
    help="Add, list and download networks: Maia, other lc0 files, and your own.",
)

_HEADS = ("policy", "value")
Name = Annotated[str, typer.Argument(help="The model's name.", show_default=False)]


@models_app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models here, shipped and added, and the public models that `pull` downloads.

    The last line names the agents that are no models, such as searches.

    **Example**

    - `kedge models list`
    """
    from kedge.agents import AGENTS
    from kedge.models import shipped_models, store

    here = store.list_models()
    shipped = [shipped_models.info(name) for name in shipped_models.names()]
    names = {model.name for model in here}
    public = [name for name in store.public() if name not in names]
    if as_json:
        print_json(
            {
                "folder": store.models_folder(),
                "shipped": [_plain(model) for model in shipped],
                "models": [_plain(model) for model in here],
                "public": public,
            }
        )
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=None, pad_edge=False)
    for heading in ("model", "shape", "size", "added"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for model in (*shipped, *here):
        added = "shipped" if model in shipped else model.added
        table.add_row(model.name, _shape(model), f"{model.size / 1e6:.1f} MB", added)
    console.print(table)
    if public:
        console.print(f"[dim]kedge models pull[/dim] {', '.join(public)}", highlight=False)
    others = [name for name in AGENTS.names() if name not in shipped_models.names()]
    console.print(f"[dim]other agents:[/dim] {', '.join(others)}", highlight=False)


@models_app.command("info")
def show_model(name: Name, as_json: Json = False) -> None:
    """Show a model: its source, its shape, and the notes of its training.

    **Example**

    - `kedge models info chess`
    """
    from kedge.models import named

    _print_model(named.info(name), as_json)


@models_app.command("card")
def show_card(name: Name, as_json: Json = False) -> None:
    """Print the card of a shipped model.

    It says from whose games the model learned, which part of them chose it and which judged it, its
    measures with their commands, its limits, and how to make it again.

    **Example**

    - `kedge models card go-large`
    """
    from kedge.interfaces.cards import print_card
    from kedge.models import shipped_models

    if name not in shipped_models.names():
        raise InputError(
            f"{name}: only shipped models have cards: {', '.join(shipped_models.names())}"
        )
    card = shipped_models.card(name)
    if as_json:
        print_json(card)
    else:
        print_card(card)


@models_app.command("add")
def add_model(
    name: Name,
    path: Annotated[
        Path,
        typer.Argument(
            help="lc0's `.pb.gz` or `.pb`, or the `.onnx` of `kedge train`.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Add a copy of a weight file under a name that agents can use.

    **Examples**

    - `kedge models add mine network.pb.gz`
    - `kedge models add ours trained/model.onnx`
    """
    from kedge.agents import add_model as add

    _print_model(add(name, path), as_json)


@models_app.command("pull")
def pull_model(name: Name, as_json: Json = False) -> None:
    """Download a public model from its authors, and check its sha256.

    **Example**

    - `kedge models pull maia-1500`
    """
    from kedge.models import store

    _print_model(store.pull(name), as_json)


@models_app.command("mean")
def mean_of_models(
    models: Annotated[
        list[str],
        typer.Argument(help="Names or files, of one game and shape.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(help="The `.onnx` to write.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Take the mean of networks of a board game, weight by weight.

    The mean of a model and of a model trained from it is often better than both. The mean of models
    trained separately plays nonsense. Check it with `kedge predict`.

    **Example**

    - `kedge models mean go ours/model.onnx --out both.onnx`
    """
    from kedge.files import write_atomic
    from kedge.models.board.network import to_shipped_onnx
    from kedge.models.board.weights import Weights, mean_of
    from kedge.models.named import load_as

    if len(models) < 2:
        raise InputError("one model has no mean; name two or more")
    if out.suffix != ".onnx":
        raise InputError(f"--out {out}: the file name must end in .onnx")
    check_new(out)
    networks = [load_as(Weights, name) for name in models]
    write_atomic(out, to_shipped_onnx(mean_of(networks)).SerializeToString())
    if as_json:
        print_json({"models": models, "file": out})
    else:
        typer.echo(out)


@models_app.command("remove")
def remove_model(name: Name, as_json: Json = False) -> None:
    """Delete a model from the store.

    **Example**

    - `kedge models remove mine`
    """
    from kedge.models import shipped_models, store

    if name in shipped_models.names() and name not in store.stored_names():
        raise InputError(f"{name} ships with kedge and cannot be removed")
    store.remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        typer.echo(f"removed {name}")


def _print_model(model: "ModelInfo", as_json: bool) -> None:
    if as_json:
        print_json(_plain(model))
        return
    rows = {
        "source": model.source,
        "sha256": model.sha256,
        "added": model.added,
        "file": str(model.path),
        "network": f"{_shape(model)}, {model.architecture.get('parameters', 0):,} parameters",
        **{key: str(model.architecture[key]) for key in _HEADS if key in model.architecture},
        **{key.replace("_", " "): _words(value) for key, value in model.training.items()},
    }
    typer.secho(model.name, bold=True)
    width = 2 + max(map(len, rows))
    for key, value in rows.items():  # no table, which would cut a path to the width of a screen
        typer.echo(f"{key:<{width}}{value}")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(map(_words, value))
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"


def _shape(model: "ModelInfo") -> str:
    """Return blocks × width, or the widths of layers."""
    shape = model.architecture
    ratio = f", SE {shape['se_ratio']}" if shape.get("se_ratio") else ""
    sizes = [shape[key] for key in ("blocks", "filters", "width", "hidden") if key in shape]
    return " × ".join(map(str, sizes)) + ratio


def _plain(model: "ModelInfo") -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(model), "path": model.path}

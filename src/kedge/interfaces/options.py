"""Options: those that commands share, and commands made from annotated fields."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from kedge.options import DEVICE, DTYPE, Option

if TYPE_CHECKING:
    from kedge.experiments import Experiment


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Device = Annotated[str, typer.Option(help=DEVICE.help)]
Dtype = Annotated[Literal["float32", "bfloat16"], typer.Option(help=DTYPE.help)]
Engine = Annotated[
    Literal["local", "ray", "inline"],
    typer.Option(help="Run tasks in processes here, on a Ray cluster, or in this process."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks at once. [default: all cores; 1 on a GPU]", show_default=False),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Ray cluster: `auto` or HOST:PORT. [default: start one here]", show_default=False
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the run. [default: under kedge's home, named by the configuration's hash]",
        show_default=False,
    ),
]


def set_option(help: str) -> Any:
    """Return the option ``--set FIELD=VALUE``, for fields that `help` describes."""
    return typer.Option("--set", "-s", metavar="FIELD=VALUE", help=help, show_default=False)


@dataclass(frozen=True)
class Running:
    """Where an experiment is computed and kept."""

    engine: Engine = "local"
    workers: Workers = None
    address: Address = None
    folder: Folder = None


HERE = Running()


def unfolded(
    command: Callable[..., None], more: Sequence[inspect.Parameter] = ()
) -> Callable[..., None]:
    """Return a command with the fields of its dataclass parameters as options.

    `more` are options that it takes as ``**options``.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _fields(groups[parameter.name])
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            parameters += more
        else:
            annotation = hints[parameter.name]
            parameters.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
            )

    @wraps(command)
    def run(**options: Any) -> None:
        folded = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**options, **folded)

    return _with_parameters(run, parameters)


def experiment_command(kind: "type[Experiment]", run: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of an experiment class, of `Running`, and ``--json``.

    The command makes the experiment and calls ``run(experiment, outputs, running, as_json)``;
    `outputs` are the paths by name.
    """
    own = sorted(
        _options_of(kind),
        key=lambda row: (not row[2].is_argument, row[3] is not inspect.Parameter.empty),
    )
    first = [row for row in own if not row[2].is_general]
    last = [row for row in own if row[2].is_general]
    written = [(output.name, Path | None, output.option, None) for output in kind.outputs]
    parameters = [option_parameter(*row) for row in (*first, *written, *last)] + _fields(Running)
    parameters.append(
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
    )

    def command(**options: Any) -> None:
        running = Running(**{field.name: options.pop(field.name) for field in fields(Running)})
        as_json = options.pop("as_json")
        outputs = {output.name: options.pop(output.name) for output in kind.outputs}
        given = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in options.items()
        }
        make: Callable[..., Experiment] = kind.from_command or kind
        run(make(**given), outputs, running, as_json)

    command.__doc__ = inspect.getdoc(kind)
    return _with_parameters(command, parameters)


def _options_of(kind: "type[Experiment]") -> list[tuple[str, Any, Option, Any]]:
    """Name, type, option and default of all that the command of an experiment takes."""
    hints = get_type_hints(kind, include_extras=True)
    defaults: dict[str, Any] = {
        field.name: inspect.Parameter.empty if field.default is MISSING else field.default
        for field in fields(kind)
    }
    own = function_options(kind.from_command) if kind.from_command else []
    rows = {row[0]: row for row in own}
    for name, default in defaults.items():
        if name not in rows and (option := _option_in(hints[name])):
            rows[name] = (name, get_args(hints[name])[0], option, default)
    return list(rows.values())


def function_options(function: Callable[..., Any]) -> list[tuple[str, Any, Option, Any]]:
    """Name, type, option and default of the parameters that are annotated with an `Option`."""
    hints = get_type_hints(function, include_extras=True)
    return [
        (name, get_args(hints[name])[0], option, parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if (option := _option_in(hints.get(name)))
    ]


def _option_in(hint: Any) -> Option | None:
    notes = (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Option))
    return next(notes, None)


def _typer_info(option: Option, *, is_flag: bool, name: str) -> Any:
    """Return the option as typer's own object."""
    words = f" [default: {option.default}]" if option.default else ""
    settings: dict[str, Any] = {
        "help": option.help + words,
        "min": option.min,
        "max": option.max,
        "metavar": option.metavar,
        "show_default": not words,
    }
    if option.is_argument:
        return typer.Argument(**settings)
    flags = option.flags or ((f"--{name.replace('_', '-')}",) if is_flag else ())
    return typer.Option(*flags, **settings)


def option_parameter(name: str, kind: Any, option: Option, default: Any) -> inspect.Parameter:
    """Return the parameter of a command, as typer reads it."""
    if get_origin(kind) is tuple:  # of any length; typer has lists
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
    annotation = Annotated[kind, _typer_info(option, is_flag=kind is bool, name=name)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _fields(kind: Any) -> list[inspect.Parameter]:
    """The fields of a dataclass whose annotations are typer's."""
    hints = get_type_hints(kind, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(
            field.name,
            keyword,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _with_parameters(
    command: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Return `command` with a signature, which typer reads."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command

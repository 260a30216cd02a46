"""``kedge paper`` and ``kedge experiments``: make and manage runs."""

import os
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.options import HERE, Json, Running, set_option, unfolded
from kedge.interfaces.output import print_json, run_and_report

if TYPE_CHECKING:
    from kedge.experiments import Experiment, RunInfo

experiments_app = typer.Typer(
    no_args_is_help=True,
    help="List, show and delete runs: tables, matches and predictions.",
)


@dataclass(frozen=True)
class Changes:
    """Options that set fields of the experiment: `settings`, and shorthands for common fields."""

    settings: Annotated[
        list[str] | None,
        set_option("Change a field of the experiment; separate the items of a list by commas."),
    ] = None
    data: Annotated[
        Path | None,
        typer.Option(
            help="Human games, plain or compressed, in the formats of `kedge replay`. "
            "(--set data=…)",
            dir_okay=False,
            resolve_path=True,
            show_default=False,
        ),
    ] = None
    positions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Use at most N positions; in chess, N per rating. (--set positions=…)",
            metavar="N",
            show_default=False,
        ),
    ] = None
    games: Annotated[
        int | None,
        typer.Option(min=1, help="How many games to play. (--set games=…)", show_default=False),
    ] = None
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            help="Use this human model instead of the default; may be repeated. (--set models=…)",
            show_default=False,
        ),
    ] = None
    katago: Annotated[
        str | None,
        typer.Option(help="KataGo's program. (--set katago=…)", show_default=False),
    ] = None
    network: Annotated[
        list[str] | None,
        typer.Option(
            help="A network of KataGo; may be repeated. (--set networks=…)", show_default=False
        ),
    ] = None
    device: Annotated[
        str | None,
        typer.Option(help="`cpu`, `openvino`, `cuda`, … (--set device=…)", show_default=False),
    ] = None

    def experiment(self, name: str) -> "Experiment":
        """Return the experiment with these changes."""
        from kedge.interfaces.inputs import fields_of
        from kedge.paper import experiment_class

        kind = experiment_class(name)
        known = {field.name for field in fields(kind)}
        values = fields_of(kind, name, self.settings or [])
        for option, value in vars(self).items():
            if option == "settings" or value is None or value == []:
                continue
            field = _FIELDS.get(option, option)
            if field not in known:
                raise InputError(f"--{option}: {name} has no such setting")
            plain = str(value) if isinstance(value, Path) else value
            values[field] = tuple(value) if isinstance(value, list) else plain
        return kind(**values)


#: Fields whose option has another name.
_FIELDS = {"anchor": "models", "network": "networks"}
NONE = Changes()


@unfolded
def paper(
    name: Annotated[
        str | None,
        typer.Argument(help="Which table or figure. [default: list them all]", show_default=False),
    ] = None,
    changes: Changes = NONE,
    running: Running = HERE,
    open_figure: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open",
            help="Show the figure when done. [default: on a desktop]",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a table or figure of the paper.

    Finished tasks are kept: interrupt or kill the command, run it again, and it resumes.

    **Examples**

    - `kedge paper`: lists all, with every field and its default
    - `kedge paper blotto`
    - `kedge paper blotto --set iterations=1000000 --set lambdas=0.01,0.1,1`
    - `kedge paper theory --engine ray --address auto`
    - `kedge paper chess-accuracy --data month.pgn.zst --positions 20000 --device cuda`
    - `kedge paper chess-accuracy --anchor "chess(elo=1500)" --set c_puct=5,2`
    - `kedge paper go-accuracy --positions 100000 --device cuda`
    - `kedge paper diplomacy-1v6 --games 400 --device cuda`
    - `kedge paper hanabi-score --games 250 --device cuda`
    - `kedge paper go-rl-agents --katago ./katago --network b6.bin.gz --network b15.bin.gz`
    """
    from kedge.interfaces.text_tables import show_figure

    if name is None:
        _print_all(as_json=as_json)
        return
    done, report, files = run_and_report(changes.experiment(name), running)
    if as_json:
        typer.echo(report.json(folder=done.folder, files=files), nl=False)
        return
    typer.echo(report.text())
    for file in files:
        typer.echo(str(file))
    show_figure(files, open_figure)


def _print_all(*, as_json: bool) -> None:
    """Print all tables and figures, with their fields."""
    from kedge.interfaces.text_tables import print_catalogue
    from kedge.paper import EXPERIMENTS, experiment_class

    catalogue = {name: experiment_class(name)() for name in EXPERIMENTS}
    if as_json:
        print_json({name: experiment.config() for name, experiment in catalogue.items()})
    else:
        print_catalogue(catalogue)


@experiments_app.command("list")
def list_experiments(as_json: Json = False) -> None:
    """List the runs under kedge's home (`KEDGE_HOME`, or the platform's user data folder).

    **Example**

    - `kedge experiments list`
    """
    from kedge.experiments import list_runs, runs_folder
    from kedge.interfaces.text_tables import print_runs

    runs = list_runs()
    if as_json:
        print_json({"folder": runs_folder(), "runs": runs})
    else:
        print_runs(runs, runs_folder())


@experiments_app.command("show")
def show_experiment(
    run: Annotated[str, typer.Argument(help="Name of the run, the start of it, or its folder.")],
    as_json: Json = False,
) -> None:
    """Show a run: its configuration, where and when it was computed, and its report.

    **Example**

    - `kedge experiments show blotto`
    """
    from kedge.interfaces.text_tables import print_run

    info = _kept_run(run)
    if as_json:
        print_json(info)
    else:
        print_run(info)


@experiments_app.command("clean")
def clean_experiments(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs to delete.", show_default=False)
    ] = None,
    all_runs: Annotated[bool, typer.Option("--all", help="Delete all runs.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Delete runs. Folders that are not runs are never touched.

    **Example**

    - `kedge experiments clean --all`
    """
    from kedge.experiments import list_runs, remove_run

    if bool(runs) == all_runs:
        raise InputError("no runs given; name them, or give --all")
    chosen = list_runs() if all_runs else [_kept_run(run) for run in runs or []]
    if not yes and not as_json and chosen:
        if not sys.stdin.isatty():
            raise InputError("cannot ask for confirmation without a terminal; give --yes")
        names = ", ".join(info.folder.name for info in chosen)
        if not typer.confirm(f"Delete {names}?"):
            raise InputError("aborted; nothing was deleted")
    removed = [remove_run(info.folder) for info in chosen]
    if as_json:
        print_json({"removed": [info.folder for info in removed]})
    else:
        typer.echo(
            f"deleted {len(removed)} runs, {sum(info.size for info in removed) / 1e6:.1f} MB"
        )


def _kept_run(name: str) -> "RunInfo":
    """Return the run of that name; an error suggests the names of other runs."""
    from kedge.experiments import list_runs, load_run
    from kedge.specs import suggest

    known = [info.folder.name for info in list_runs()]
    if known and not os.path.exists(name) and not any(run.startswith(name) for run in known):
        raise InputError(f"{name}: not a run; {suggest(name, known, 'kedge experiments list')}")
    return load_run(name)

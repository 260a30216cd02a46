"""``kedge predict``, ``match``, ``tournament`` and ``selfplay``: experiments of the catalogue."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.groups import GameGroup, Maker
from kedge.interfaces.options import Running, experiment_command
from kedge.interfaces.output import check_replaceable, print_json, run_and_report

if TYPE_CHECKING:
    from kedge.catalogue import GameEntry
    from kedge.experiments import Experiment


class _ExperimentGroup(GameGroup):
    def maker(self, entry: "GameEntry") -> Maker:
        return lambda: experiment_command(entry.load(self.part), _run)


class _Predictions(_ExperimentGroup):
    part, line = "predict", "Predict people's moves in {title}."


class _Contests(_ExperimentGroup):
    part = "compete"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from kedge import catalogue

        own = self.list_commands(ctx)
        if cmd_name in own or cmd_name.startswith("-"):
            return super().get_command(ctx, cmd_name)
        entry = catalogue.find(cmd_name)
        hint = f"these games do: {', '.join(own)}"
        if entry.has("compete"):
            hint = f"use kedge {entry.contest} {entry.name}"
        raise InputError(f"{entry.title} has no {self.contest}; {hint}")


class _Matches(_Contests):
    contest, line = "match", "Play {title} between two agents."


class _Tournaments(_Contests):
    contest, line = "tournament", "Play {title} among several agents."


class _SelfPlays(_Contests):
    contest, line = "selfplay", "Play {title} with agents as partners."


predict_app = typer.Typer(
    cls=_Predictions, no_args_is_help=True, help="Predict people's moves and report accuracy."
)
match_app = typer.Typer(
    cls=_Matches, no_args_is_help=True, help="Compare two agents: score, standard error, Elo."
)
tournament_app = typer.Typer(
    cls=_Tournaments,
    no_args_is_help=True,
    help="Compare agents at a table of many: mean share of a game.",
)
selfplay_app = typer.Typer(
    cls=_SelfPlays, no_args_is_help=True, help="Play with agents as partners: mean score together."
)


def _run(
    experiment: "Experiment", outputs: Mapping[str, Path | None], running: Running, as_json: bool
) -> None:
    """Run an experiment, write the files that the user asked for, and print the report."""
    from kedge.files import make_folder

    wanted = {name: path for name, path in outputs.items() if path is not None}
    known = {output.name: output for output in experiment.outputs}
    for name, path in wanted.items():
        if name not in known:
            raise InputError(f"--{name.replace('_', '-')}: {experiment.name} writes no games")
        if known[name].is_folder:
            make_folder(path)
        else:
            check_replaceable(path, "played")
    done, report, _ = run_and_report(experiment, running)
    for name, path in wanted.items():
        known[name].write(experiment.records(done.results), path)
    if as_json:
        print_json({**(report.data or {}), "folder": done.folder, **outputs})
        return
    typer.echo(report.text(), nl=False)
    for path in (done.folder, *wanted.values()):
        typer.echo(str(path))

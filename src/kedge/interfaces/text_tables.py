"""Tables and progress on the terminal."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from kedge.evaluation.normal_form.equilibria import Solution
from kedge.experiments import Experiment, RunInfo
from kedge.games.normal_form import NormalFormGame
from kedge.words import counted

_SHOWN = 10  # actions per player
_BAR = 20  # characters


def tracked(steps: Iterator[Solution], iterations: int) -> Solution:
    """Return the last of `steps`; show a progress bar on a terminal if there are several."""
    console = Console(stderr=True)
    solution = next(steps)
    if solution.iterations == iterations:
        return solution
    with Progress(
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} iterations"),
        BarColumn(),
        TextColumn("exploitability {task.fields[off]:.2e}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        bar = progress.add_task("", total=iterations, off=solution.exploitability)
        for solution in steps:
            progress.update(bar, completed=solution.iterations, off=solution.exploitability)
    return solution


def print_solution(game: NormalFormGame, anchors: Sequence[Any] | None, solution: Solution) -> None:
    console = Console()
    console.print(Text(_printable(str(game)), style="bold"))
    for player, policy in enumerate(solution.policies):
        table = Table(box=None, pad_edge=False, title_justify="left")
        table.title = Text(_printable(game.players[player]))
        for heading in ("action", "anchor", "policy", "value", ""):
            table.add_column(heading, justify="left" if heading in ("action", "") else "right")
        count = len(policy)
        order = np.argsort(-policy, kind="stable")
        for action in order[:_SHOWN]:
            tau = 1.0 / count if anchors is None else float(anchors[player][action])
            bar = "█" * round(_BAR * float(policy[action] / policy.max()))
            table.add_row(
                Text(_printable(game.action_name(player, int(action)))),
                f"{tau:.4f}",
                f"{policy[action]:.4f}",
                f"{solution.values[player][action]:+.4f}",
                f"[cyan]{bar}[/cyan]",
            )
        console.print(table)
        if count > _SHOWN:
            rest = float(policy[order[_SHOWN:]].sum())
            console.print(
                f"[dim]and {counted(count - _SHOWN, 'more action')}, {rest:.4f} together[/dim]"
            )
        console.print()
    measures = Table(box=None, pad_edge=False, show_header=False)
    residual = "-" if solution.residual is None else f"{solution.residual:.3g}"
    for name, value in (
        ("exploitability", f"{solution.exploitability:.6g}"),
        ("KL to anchor", "  ".join(f"{kl:.6g}" for kl in solution.kl_to_anchor)),
        ("residual", residual),
        ("iterations", f"{solution.iterations:,}"),
        ("seconds", f"{solution.seconds:.3f}"),
    ):
        measures.add_row(f"[bold]{name}[/bold]", value)
    console.print(measures)


def _printable(name: str) -> str:
    """Return a name from a file without control characters."""
    return "".join(letter if letter.isprintable() else "�" for letter in name)


def print_runs(runs: Sequence[RunInfo], folder: Path) -> None:
    console = Console()
    if not runs:
        console.print(f"no runs under {folder}", highlight=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("run", "tasks", "created", "size"):
        table.add_column(heading, justify="right" if heading in ("tasks", "size") else "left")
    for info in runs:
        size = f"{info.size / 1e6:.1f} MB"
        table.add_row(info.folder.name, f"{info.done}/{info.total}", info.created, size)
    console.print(table)


def print_run(info: RunInfo) -> None:
    console = Console()
    done = f"{info.done} of {counted(info.total, 'task')}"
    console.print(f"[bold]{info.folder.name}[/bold]  {done}, created {info.created}")
    console.print(str(info.folder), highlight=False, soft_wrap=True)
    console.print_json(json.dumps(info.config))
    report = info.folder / "report" / "report.txt"
    if report.exists():
        console.print()
        typer.echo(report.read_text(encoding="utf-8"))


def print_catalogue(catalogue: Mapping[str, Experiment]) -> None:
    """Print the experiments of ``kedge paper``, with every field and its default."""
    console = Console()
    for name, experiment in catalogue.items():
        console.print(f"[bold]kedge paper {name}[/bold]", highlight=False)
        console.print(f"  {(type(experiment).__doc__ or '').splitlines()[0]}", highlight=False)
        for field, value in experiment.config().items():
            shown = ",".join(map(str, value)) if isinstance(value, list) else value
            console.print(f"  [dim]--set[/dim] {field}={shown}", highlight=False, soft_wrap=True)


def show_figure(files: Sequence[Path], wanted: bool | None) -> None:
    """Open the figure if it is wanted, or by default if there is a terminal and a screen."""
    drawn = [file for file in files if file.suffix == ".png"]
    screen = sys.platform != "linux" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    if drawn and (wanted or (wanted is None and screen and sys.stdout.isatty())):
        typer.launch(str(drawn[0]))

"""Options and output that the commands of ``kedge train`` share."""

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kedge.errors import InputError, needs
from kedge.files import is_partial, make_folder
from kedge.interfaces.options import set_option
from kedge.interfaces.output import resumable

if TYPE_CHECKING:
    from kedge.records import ReadReport
    from kedge.training.distributed import Rank
    from kedge.training.recipe import Recipe

Game = TypeVar("Game")
R = TypeVar("R", bound="Recipe")


def _some_seconds(seconds: float | None) -> float | None:
    if seconds is not None and not 0.0 < seconds < math.inf:
        raise InputError(f"--seconds: a finite number above 0, not {seconds:g}")
    return seconds


@dataclass(frozen=True)
class Training:
    """Where, on what and how long a model is trained."""

    folder: Annotated[
        Path,
        typer.Option(help="Folder of the checkpoint and the model; the same folder resumes."),
    ]
    settings: Annotated[
        list[str] | None,
        set_option("Change the recipe: blocks, steps, batch, learning_rate, …"),
    ] = None
    device: Annotated[str, typer.Option(help="torch's device: `cpu`, `cuda`, `cuda:1`, …")] = "cpu"
    seconds: Annotated[
        float | None,
        typer.Option(
            callback=_some_seconds,
            help="Stop after this long; run again to resume.",
            show_default=False,
        ),
    ] = None

    @property
    def time(self) -> float:
        """Seconds that training may take."""
        return math.inf if self.seconds is None else self.seconds

    def changed(self, recipe: R) -> R:
        """Return the recipe with the changes of ``--set``."""
        from kedge.interfaces.inputs import fields_of

        changes = fields_of(type(recipe), "the recipe", self.settings or [])
        return dataclasses.replace(recipe, **changes)

    @contextmanager
    def started(self) -> "Iterator[Rank]":
        """Join the other processes; check that the folder is writable before games are read."""
        from kedge.training.distributed import training_rank
        from kedge.training.memory import enough_memory

        with training_rank(self.device) as rank, resumable(), enough_memory():
            is_new = not os.path.exists(self.folder)
            make_folder(self.folder)
            _check_own(self.folder)
            try:
                yield rank
            except InputError:
                if is_new:
                    with suppress(OSError):  # there is something in it
                        self.folder.rmdir()
                raise

    def print_progress(
        self, reports: Iterable[Mapping[str, float]], rank: "Rank", steps: int
    ) -> None:
        """Print each report, and finally the path of the model."""
        for report in reports:
            say(
                rank,
                f"step {report['step']:,} of {steps:,}  loss {report['loss']:.3f}  "
                f"top-1 {report['top1']:.1%}  held out {report['held_out_top1']:.1%}  "
                f"{report['seconds']:.0f} s",
                err=False,
            )
        say(rank, f"{self.folder / 'model.onnx'}", err=False)


def _check_own(folder: Path) -> None:
    """Raise `InputError` if the folder has files and no training, which would replace some."""
    if (folder / "checkpoint.pt").exists():
        return
    ours = {"synthetic.npz", "rollouts", "checkpoint.partial"}  # a training may write them first
    names = sorted(path.name for path in folder.iterdir() if not is_partial(path))
    if strangers := [name for name in names if name not in ours]:
        raise InputError(
            f"{folder}: contains {strangers[0]!r} but no checkpoint.pt; "
            "choose an empty folder or a training's folder"
        )


@dataclass(frozen=True)
class Beginning:
    """Models that a network learns from, beside the games."""

    teacher: Annotated[
        str | None,
        typer.Option(
            help="Also learn from this model, or its checkpoint.pt (see teacher_weight).",
            show_default=False,
        ),
    ] = None
    begin_as: Annotated[
        str | None,
        typer.Option(
            help="Begin with the weights of this model, or its checkpoint.pt. A larger network "
            "then predicts the same; one with fewer blocks takes some of them.",
            show_default=False,
        ),
    ] = None


BEGINNING = Beginning()


def valid_games(
    paths: Sequence[Path], read: "Callable[[Path, ReadReport], Iterable[Game]]"
) -> "Iterator[Game]":
    """Yield the games of all files; raise `InputError` with the first fault if there are none."""
    from kedge.records.report import ReadReport, no_game

    report = ReadReport(limit=1)
    for path in paths:
        yield from read(path, report)
    if not report.games:
        raise no_game(", ".join(map(str, paths)), report.broken)


def say(rank: "Rank", text: str, *, err: bool = True) -> None:
    """Print a line, if this process is the first."""
    if rank.is_first:
        typer.echo(text, err=err)


def need_torch() -> None:
    """Raise `InputError` if torch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise InputError(f"training needs torch; {needs('train')}") from None

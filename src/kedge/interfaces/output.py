"""Output that commands share: runs, interrupts, JSON."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kedge.interfaces.options import Running

if TYPE_CHECKING:
    from kedge.experiments import Experiment, Report, Run


KEPT = "interrupted; what was finished is kept"


class InterruptError(Exception):
    """Ctrl-C, with a message for the user."""


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Wrap work that resumes when it is run again."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptError(KEPT) from None


def run_and_report(experiment: "Experiment", running: Running) -> "tuple[Run, Report, list[Path]]":
    """Run the experiment; return the run, its report, and the files of the report."""
    from kedge.experiments import run
    from kedge.models.devices import is_cpu

    # Tasks on this machine would share its GPU.
    is_alone = running.engine == "local" and not is_cpu(getattr(experiment, "device", "cpu"))
    workers = running.workers or (1 if is_alone else None)
    with resumable():
        done = run(
            experiment,
            engine=running.engine,
            workers=workers,
            address=running.address,
            folder=running.folder,
        )
    report = done.report()
    return done, report, done.write_report(report=report)


def print_json(value: object) -> None:
    """Print one strict JSON object: nan is null, infinities are strings."""
    from kedge.jsonable import plain, strict

    typer.echo(json.dumps(strict(plain(value)), allow_nan=False, ensure_ascii=False))

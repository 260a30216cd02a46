"""Output that commands share: runs, interrupts, JSON, and files: kedge replaces only its own."""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from kedge.errors import InputError
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
    from kedge.experiments.runner import run
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


_HEAD = 1 << 16  # bytes that have a mark
_DRAWN = "<!-- drawn by kedge -->"
#: How kedge knows each kind of its own files.
_MARKS = {
    # The event of chess and Go games, and the id of games of Diplomacy and Hanabi, with a digest.
    "played": re.compile(rb'kedge match|"[a-z]+-[0-9a-f]{12}-[0-9]+"'),
    "reviewed": re.compile(rb'kedge analyze|"review": \{'),
    "drawn": re.compile(_DRAWN.encode()),
}
_NOT_OURS = {
    "played": "its games are not from kedge",
    "reviewed": "its games are not from kedge analyze",
    "drawn": "kedge did not draw it",
}


def check_replaceable(path: Path, kind: Literal["played", "reviewed", "drawn"]) -> None:
    """Refuse a file that cannot be written, or would replace one that is not of this kind."""
    import lzma
    import zlib

    from kedge.files import check_writable
    from kedge.records.streams import opened

    check_writable(path)
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        with opened(path) as (_, content, _):
            is_ours = bool(_MARKS[kind].search(content.read(_HEAD)))
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error):  # damaged or not readable
        is_ours = False
    if not is_ours:
        raise InputError(
            f"{path}: exists, and {_NOT_OURS[kind]}; give another file name, or move it"
        )


def check_new(path: Path) -> None:
    """Refuse a file that exists, or cannot be written."""
    from kedge.files import check_writable

    if os.path.lexists(path):
        raise InputError(f"{path}: exists; give another file name, or move it")
    check_writable(path)


def svg_file(path: Path | None) -> Path | None:
    """Return the path of a picture, whose name must end in .svg."""
    if path is not None:
        if path.suffix.lower() != ".svg":
            raise InputError(f"--svg: {path}: the file name must end in .svg")
        check_replaceable(path, "drawn")
    return path


def write_picture(path: Path, svg: str | bytes) -> None:
    """Write a picture with kedge's mark, so that the next one may replace it."""
    from kedge.files import write_atomic

    text = svg.decode() if isinstance(svg, bytes) else svg
    write_atomic(path, re.sub(r"<svg\b[^>]*>", lambda root: root[0] + _DRAWN, text, count=1))


def print_json(value: object) -> None:
    """Print one strict JSON object: nan is null, infinities are strings."""
    from kedge.jsonable import plain, strict

    typer.echo(json.dumps(strict(plain(value)), allow_nan=False, ensure_ascii=False))

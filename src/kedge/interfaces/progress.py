"""Progress: a bar on a terminal; elsewhere a line now and then for work of hours."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kedge.words import counted

if TYPE_CHECKING:
    from rich.progress import Progress

    from kedge.evaluation.review import Tell


@contextlib.contextmanager
def counting_games(
    total: float | None, *, quiet: bool, noun: str = "game"
) -> Iterator[Callable[[int, float], None]]:
    """Show a bar of games; yield a function of the games so far and of the part of `total` done."""
    if _is_quiet(quiet):
        yield lambda games, done: None
        return
    with _bar("{task.fields[games]}") as progress:
        bar = progress.add_task("", total=total, games=counted(0, noun))
        yield lambda games, done: progress.update(bar, completed=done, games=counted(games, noun))


@contextlib.contextmanager
def counting_moves(*, quiet: bool) -> "Iterator[Callable[[int, int], Tell]]":
    """Show a bar per game; yield a function that begins a game, given its number and length.

    That function returns another one, which takes the number of moves done, and the stage before
    them. Without a terminal, progress is shown as lines.
    """
    if quiet:
        yield lambda number, moves: lambda done, stage="": None
        return
    if not sys.stderr.isatty():
        yield _lines_of_moves()
        return
    with _bar(
        "game {task.fields[number]:,}: {task.completed:,} of {task.fields[moves]}"
        "{task.fields[stage]}"
    ) as progress:
        bar = progress.add_task("", total=0, number=0, moves="", stage="", visible=False)

        def begin(number: int, moves: int) -> "Tell":
            progress.reset(
                bar,
                total=moves,
                visible=True,
                number=number,
                moves=counted(moves, "move"),
                stage="",
            )
            return lambda done, stage="": progress.update(
                bar, completed=done, stage=stage and f"; {stage}"
            )

        yield begin


def _lines_of_moves() -> "Callable[[int, int], Tell]":
    from kedge.experiments.engines.progress import now_and_then

    is_due = now_and_then(time.monotonic())

    def begin(number: int, moves: int) -> "Tell":
        def tell(done: int, stage: str = "") -> None:
            if is_due(time.monotonic()):
                line = f"game {number:,}: {done:,} of {counted(moves, 'move')}"
                print(f"{line}; {stage}" if stage else line, file=sys.stderr)

        return tell

    return begin


@contextlib.contextmanager
def waiting(text: str, *, quiet: bool) -> Iterator[None]:
    """Show a bar for work of unknown length."""
    if _is_quiet(quiet):
        yield
        return
    with _bar(text) as progress:
        progress.add_task("", total=None)
        yield


@contextlib.contextmanager
def counting_playouts(*, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Show a bar of a search; yield a function of the share of the playouts that is done."""
    if _is_quiet(quiet):
        yield lambda done: None
        return
    with _bar("{task.description}") as progress:
        bar = progress.add_task("searching", total=None)
        yield lambda done: progress.update(bar, description="playouts", completed=done, total=1.0)


def _is_quiet(quiet: bool) -> bool:
    return quiet or not sys.stderr.isatty()


def _bar(text: str) -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn(text),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )

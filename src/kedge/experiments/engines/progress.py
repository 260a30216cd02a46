"""Progress on stderr: a bar on a terminal, otherwise a line from time to time."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from kedge.words import counted

_FIRST_SECONDS, _LINE_SECONDS = 5.0, 30.0


@contextlib.contextmanager
def progress(name: str, done: int, total: int, show: bool) -> Iterator[Callable[[], None]]:
    """Show progress; yield the function to call after each task."""
    if not show:
        yield lambda: None
    elif sys.stderr.isatty():
        with _bar(name, done, total) as step:
            yield step
    else:
        yield _lines(name, done, total)


@contextlib.contextmanager
def _bar(name: str, done: int, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        # stdout is for the caller's result.
        redirect_stdout=False,
    )
    with bar:
        task = bar.add_task(name, total=total, completed=done)
        yield lambda: bar.advance(task)


def _lines(name: str, done: int, total: int) -> Callable[[], None]:
    times = [time.monotonic()]
    is_due = now_and_then(times[0])

    def step() -> None:
        nonlocal done
        done += 1
        times.append(time.monotonic())
        if is_due(times[-1]):
            left = _in_words(seconds_left(times, total - done))
            print(
                f"{name}: {done} of {counted(total, 'task')} done, about {left} left",
                file=sys.stderr,
            )

    return step


def now_and_then(start: float) -> Callable[[float], bool]:
    """A function that tells whether a line is due: first soon after `start`, then less often."""
    due = start + _FIRST_SECONDS

    def is_due(now: float) -> bool:
        nonlocal due
        if now < due:
            return False
        due = now + _LINE_SECONDS
        return True

    return is_due


def seconds_left(times: Sequence[float], tasks: int) -> float:
    """The seconds for `tasks` more tasks at the pace of the later half of the finished ones.

    `times` are the start and the end of each task. The first tasks may be short, or wait for
    workers to start.
    """
    recent = times[(len(times) - 1) // 2 :]
    return tasks * (recent[-1] - recent[0]) / (len(recent) - 1)


def _in_words(seconds: float) -> str:
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"

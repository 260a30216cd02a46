"""Progress on stderr: a bar on a terminal, a line now and then elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

_LINE_SECONDS = 30.0


@contextlib.contextmanager
def progress(name: str, done: int, total: int, show: bool) -> Iterator[Callable[[], None]]:
    """Yields what to call after each task."""
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
        # stdout belongs to the caller's result.
        redirect_stdout=False,
    )
    with bar:
        task = bar.add_task(name, total=total, completed=done)
        yield lambda: bar.advance(task)


def _lines(name: str, done: int, total: int) -> Callable[[], None]:
    last = time.monotonic()

    def step() -> None:
        nonlocal done, last
        done += 1
        if time.monotonic() - last >= _LINE_SECONDS:
            last = time.monotonic()
            print(f"{name}: {done} of {total} tasks done", file=sys.stderr)

    return step

"""How far work has come, on a terminal only."""

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def counting_games(total: float | None, *, quiet: bool) -> Iterator[Callable[[int, float], None]]:
    """A bar of games; yields what to tell how many there are, and how much of `total` is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda games, done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.fields[games]:,} games"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    ) as progress:
        bar = progress.add_task("", total=total, games=0)
        yield lambda games, done: progress.update(bar, completed=done, games=games)

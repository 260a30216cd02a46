"""What every command prints for machines, and what it says when it is interrupted."""

import contextlib
import json
from collections.abc import Iterator

import typer


class InterruptError(Exception):
    """Ctrl-C, in a command that has something to say of it."""


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Around work that goes on, when it is run again, from where it was interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptError("interrupted; what was finished is kept") from None


def print_json(value: object) -> None:
    """One strict JSON object: nan is null, infinities are strings."""
    from kedge.experiments.jsonable import plain, strict

    typer.echo(json.dumps(strict(plain(value)), allow_nan=False, ensure_ascii=False))

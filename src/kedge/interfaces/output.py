"""What every command prints for machines."""

import json

import typer


def print_json(value: object) -> None:
    """One strict JSON object: nan is null, infinities are strings."""
    from kedge.experiments.jsonable import plain, strict

    typer.echo(json.dumps(strict(plain(value)), allow_nan=False, ensure_ascii=False))

"""Hashes of an experiment's inputs, since a file or model may change under the same name."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from kedge.errors import InputError
from kedge.models import store
from kedge.models.named import is_known, load, sha256
from kedge.records.formats import record_format
from kedge.specs import Spec, parse


def weight_hashes(*specs: Spec | str) -> dict[str, str]:
    """Return the sha256 of each weight file that specs name, and of the models that belong to it.

    A name is a path, a stored model or a shipped model.
    """
    hashes: dict[str, str] = {}
    for spec in specs:
        if isinstance(spec, str):
            spec = parse(spec)
        values = (*spec.args, *spec.kwargs.values())
        for name in (spec.name, *(value for value in values if isinstance(value, str))):
            if is_known(name) or store.is_path(name):
                hashes |= _hashes_of(name)
        hashes |= weight_hashes(*(value for value in values if isinstance(value, Spec)))
    return hashes


def _hashes_of(name: str) -> dict[str, str]:
    """Return the sha256 of the model `name`, and of those models that belong to it."""
    try:
        weights = load(name)
    except InputError:
        if not store.is_path(name):
            raise
        return {name: _sha256(Path(name))}  # a graph of another project
    companions = filter(is_known, weights.companions(name))
    return {name: weights.sha256, **{other: sha256(other) for other in companions}}


def file_hashes(paths: Iterable[str | Path]) -> list[str]:
    """Return the sha256 of each file: a copy, wherever it is, is the same."""
    return [_sha256(Path(path)) for path in paths]


def record_hashes(paths: Iterable[str | Path], game: str) -> list[str]:
    """Return the sha256 of each file of a game's records, also of those in folders."""
    kind = record_format(game)
    return file_hashes(file for path in paths for file in kind.files_in(path))


def _sha256(path: Path) -> str:
    try:
        stat = path.stat()
        return _sha256_at(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


@lru_cache
def _sha256_at(path: Path, size: int, changed: int) -> str:
    """Return a file's hash; cached by size and time, since a month of games is slow to read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

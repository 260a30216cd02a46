"""Folders of Go records."""

import os
import re
from pathlib import Path

_ENDINGS = re.compile(r"\.(?:(?:sgf|mgt|tsv|tar)(?:\.(?:gz|bz2|xz|zst))?|zip|tgz)\Z", re.IGNORECASE)


def is_record_name(name: str) -> bool:
    """Whether a file of this name in a folder is read as records."""
    return _ENDINGS.search(name) is not None


def record_files(path: str | Path) -> list[Path]:
    """Return `path`, or the sorted game files below it if it is a folder."""
    path = Path(path)
    if not os.path.isdir(path):  # Path.is_dir raises for names that are too long
        return [path]
    return sorted(
        Path(folder) / name
        for folder, _, names in os.walk(path)
        for name in names
        if is_record_name(name)
    )

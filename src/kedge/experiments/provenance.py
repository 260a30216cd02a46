"""The origin of results: versions, source checkout, machine, command."""

import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_PACKAGES = ("kedge", "numpy", "matplotlib", "ray", "onnxruntime", "torch")


def provenance(experiment_type: type) -> dict[str, Any]:
    """The current provenance of an experiment of this class."""
    module = sys.modules.get(experiment_type.__module__)
    source = getattr(module, "__file__", None)
    return {
        "started": now(),
        "command": shlex.join(sys.argv),
        "versions": {"python": platform.python_version(), **_versions()},
        "git": {
            "kedge": git_state(Path(__file__)),
            "experiment": git_state(Path(source)) if source else None,
        },
        "machine": {
            "host": platform.node(),
            "platform": platform.platform(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def now() -> str:
    """The current time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def git_state(source: Path) -> dict[str, Any] | None:
    """Commit and cleanliness of the checkout that tracks ``source``; None if none does.

    To be inside a checkout is not enough: a virtual environment is often inside another project's.
    """
    folder = str(source.resolve().parent)
    if _git(folder, "ls-files", "--error-unmatch", source.name) is None:
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "clean": None if changes is None else not changes}


def _git(folder: str, *arguments: str) -> str | None:
    command = ["git", "-C", folder, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions

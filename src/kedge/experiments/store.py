"""The folder of a run: ``experiment.json``, one file per finished task, the report."""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.experiments.experiment import Experiment, Job
from kedge.experiments.provenance import now, provenance
from kedge.files import is_partial, make_folder, sweep, write_atomic
from kedge.home import home
from kedge.jsonable import canonical, ordered

_HEADER, _TASKS, REPORT = "experiment.json", "tasks", "report"
_FORMAT = 1


@dataclass(frozen=True)
class RunInfo:
    """Facts about a run from its folder; ``done`` counts its task files."""

    folder: Path
    name: str
    version: int
    digest: str
    config: dict[str, Any]
    total: int
    done: int
    created: str
    size: int
    sessions: list[dict[str, Any]]


class Store:
    """Reads and writes the results of one experiment in one folder."""

    def __init__(self, experiment: Experiment, folder: Path | None = None) -> None:
        self.digest = experiment.digest
        self.folder = folder or runs_folder() / f"{experiment.name}-{self.digest}"
        self._experiment = experiment
        self._tasks = self.folder / _TASKS
        self._is_open = False

    def open(self, total: int, **session: Any) -> None:
        """Create or open the folder, once; `InputError` if it belongs to something else.

        `session` tells how this session computes. It is recorded with its machine: a resumed run
        may have used several.
        """
        if self._is_open:
            return
        make_folder(self.folder)
        path = self.folder / _HEADER
        header: dict[str, Any] = {"sessions": []}
        is_new = not path.exists()
        if is_new:
            strangers = _strangers(self.folder)
            if strangers:
                raise InputError(
                    f"{self.folder}: contains {strangers[0]!r} but no {_HEADER}; "
                    "choose an empty folder or a run's folder"
                )
        else:
            header = _read_header(path)
            _check_same(path, header, self._experiment)
        if session:
            header["sessions"].append({**provenance(type(self._experiment)), **session})
        if is_new or session:
            self._write_header(header, total)
        make_folder(self._tasks)
        for place in (self.folder, self._tasks):
            sweep(place)
        self._is_open = True

    def load(self, job: Job) -> dict[str, Any] | None:
        """The result of a finished task; None if its file is missing, damaged or not its own."""
        try:
            record = json.loads(self._path(job).read_bytes())
            checksum = record.pop("sha256")
            result = record["result"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return None
        # Compared as text, since nan differs from itself.
        text = canonical(record)
        is_ours = text == canonical({**self._label(job), "result": result})
        return result if is_ours and checksum == _checksum(text) else None

    def save(self, job: Job, result: Mapping[str, Any]) -> dict[str, Any]:
        """Write the result of a task; after this returns, a kill cannot lose it.

        Returns it as `load` does, with its keys in the order of the file.
        """
        record = {**self._label(job), "result": result}
        record["sha256"] = _checksum(canonical(record))
        write_atomic(self._path(job), canonical(record) + "\n")
        as_loaded: dict[str, Any] = ordered(result)
        return as_loaded

    def _label(self, job: Job) -> dict[str, Any]:
        # All that the result depends on. If any of it differs, the file is not this task's.
        return {
            "digest": self.digest,
            "index": job.index,
            "key": job.task.key,
            "params": job.task.params,
        }

    def _path(self, job: Job) -> Path:
        return self._tasks / f"{file_stem(job.task.key)}.json"

    def _write_header(self, old: Mapping[str, Any], total: int) -> None:
        header = {
            "format": _FORMAT,
            **self._experiment.identity(),
            "config": self._experiment.described,
            "digest": self.digest,
            "tasks": total,
            "created": old.get("created") or now(),
            "sessions": old["sessions"],
        }
        write_atomic(self.folder / _HEADER, json.dumps(header, indent=2) + "\n")


def runs_folder() -> Path:
    """The default folder of runs."""
    return home() / "runs"


def list_runs(root: Path | None = None) -> list[RunInfo]:
    """The runs in ``root``, by name and then age; other folders are ignored."""
    root = root or runs_folder()
    runs = []
    try:
        folders = sorted(root.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:  # such as a file in the folder's place
        raise InputError(f"{root}: cannot read ({error.strerror})") from None
    for folder in folders:
        if not os.path.isfile(folder / _HEADER):
            continue
        try:
            runs.append(load_run(folder))
        except InputError:
            continue
    return sorted(runs, key=lambda run: (run.name, run.created, run.digest))


def load_run(run: str | Path) -> RunInfo:
    """Load a run by its folder, or by its ``name-digest`` or a unique prefix of it."""
    folder = _find(run)
    header = _read_header(folder / _HEADER)
    return RunInfo(
        folder=folder,
        name=header["name"],
        version=header["version"],
        digest=header["digest"],
        config=header["config"],
        total=header["tasks"],
        done=sum(not is_partial(path) for path in (folder / _TASKS).glob("*.json")),
        created=header["created"],
        size=_size(folder),
        sessions=header["sessions"],
    )


def remove_run(run: str | Path) -> RunInfo:
    """Delete a run's folder; `InputError` if it is not a run or contains other files."""
    info = load_run(run)
    strangers = _strangers(info.folder)
    if strangers or info.folder.is_symlink():
        what = repr(strangers[0]) if strangers else "a link"
        raise InputError(f"{info.folder}: not removed: {what} is not part of a run")
    try:
        shutil.rmtree(info.folder)
    except OSError as error:
        raise InputError(f"{info.folder}: cannot remove ({error.strerror})") from error
    return info


def file_stem(key: str) -> str:
    """A file name for any key: a readable prefix, and a hash that makes it unique."""
    readable = re.sub(r"[^A-Za-z0-9=+,_-]+", "_", key)[:60].strip("_") or "task"
    return f"{readable}.{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _find(run: str | Path) -> Path:
    folder = Path(run)
    if os.path.isfile(folder / _HEADER):
        return folder
    if isinstance(run, str) and run and folder.name == run:
        folders = [info.folder for info in list_runs() if info.folder.name.startswith(run)]
        if len(folders) == 1:
            return folders[0]
        if folders:
            raise InputError(
                f"{run}: {len(folders)} runs have names that start like this, such as "
                f"{folders[0].name}; type more of the name"
            )
    raise InputError(f"{run}: not a run (no {_HEADER} in it)")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # a run in progress renames files
            total += path.lstat().st_size if path.is_file() else 0
    return total


def _strangers(folder: Path) -> list[str]:
    """Names in ``folder`` that are not part of a run."""
    ours = {_HEADER, _TASKS, REPORT}
    return sorted(p.name for p in folder.iterdir() if p.name not in ours and not is_partial(p))


def _read_header(path: Path) -> dict[str, Any]:
    advice = "delete it and run again; finished tasks are kept"
    try:
        header = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged, not JSON ({error}); {advice}") from error
    kinds = {
        "name": str,
        "version": int,
        "config": dict,
        "digest": str,
        "tasks": int,
        "created": str,
        "sessions": list,
    }
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise InputError(f"{path}: not a run of this version of kedge")
    for key, kind in kinds.items():
        if not isinstance(header.get(key), kind):
            raise InputError(f"{path}: damaged, {key!r} is missing or wrong; {advice}")
    return header


def _check_same(path: Path, header: Mapping[str, Any], experiment: Experiment) -> None:
    ours = experiment.identity()
    config = {k: v for k, v in header["config"].items() if k not in experiment.places}
    theirs = {**{key: header[key] for key in ours}, "config": config}
    if canonical(ours) == canonical(theirs):
        return
    ours = {**ours.pop("config"), **{f"experiment {k}": v for k, v in ours.items()}}
    theirs = {**theirs.pop("config"), **{f"experiment {k}": v for k, v in theirs.items()}}
    absent = "nothing"
    for key in sorted(ours.keys() | theirs.keys()):
        here, there = (json.dumps(side[key]) if key in side else absent for side in (ours, theirs))
        if here != there:
            break
    raise InputError(f"{path}: belongs to another experiment ({key} is {there} there, {here} here)")


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

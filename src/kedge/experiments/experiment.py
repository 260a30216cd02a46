"""The base of experiments: a frozen dataclass that lists tasks, runs one and reports on all."""

import dataclasses
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from kedge.errors import InputError
from kedge.experiments.reports.report import Report
from kedge.jsonable import canonical, plain
from kedge.options import Option

T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")


@dataclass(frozen=True)
class Task:
    """One unit of work: a key that is unique within the experiment, and JSON parameters."""

    key: str
    params: Mapping[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, compare=False, repr=False)
    """Input that is sent to the worker with the task, if it does not read its input itself."""
    known: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Part of its result that is known when the tasks are listed, as JSON; `run` finds the rest."""


class FromFiles(cached_property[T]):
    """A cached property that depends on files, which each run and each worker reads itself."""


@dataclass(frozen=True)
class Output:
    """A file or folder that a command can write from the games of a finished run."""

    name: str
    """Key in the command's JSON, and the option's name unless `option` has flags."""
    option: Option
    write: Callable[[Iterator[Any], Path], object]
    """Writes `Experiment.records` to a path."""
    is_folder: bool = False


@dataclass(frozen=True, kw_only=True)
class Experiment(ABC):
    """Base of all experiments; subclasses are frozen dataclasses whose fields are the config.

    The fields, `inputs`, ``name`` and ``version`` make the digest that names the run's folder.
    Raise ``version`` when a change of code changes what results mean: old results then stay apart.
    Workers import the class, so define it in a module, not in a notebook cell.

    The catalogue makes commands of some experiments. Their docstring is the help, and the fields
    that are annotated with an `Option` are the options.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    #: Name of another report on the same runs, and of its folder. Such a class keeps the ``name``
    #: of the original experiment and uses its results.
    view: ClassVar[str] = ""
    #: Fields with paths of files whose contents are among the `inputs`. They are stored with a run,
    #: but do not change its digest.
    places: ClassVar[tuple[str, ...]] = ()
    #: Fields that earlier versions lack. At their defaults they are no part of the config, so that
    #: runs of those versions are found.
    newer: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[tuple[Output, ...]] = ()
    """Files that its command can write besides the report."""
    from_command: ClassVar[Callable[..., "Experiment"] | None] = None
    """Makes an experiment from a command's options, if these are not just the annotated fields.
    Keyword parameters that are annotated with an `Option` are added to the fields, or replace those
    of the same name."""

    seed: int = 0

    @abstractmethod
    def tasks(self) -> list[Task]:
        """All tasks, in an order that depends only on the config."""

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        """The JSON-able result of one task; all its randomness comes from ``rng``.

        Only a composite, whose tasks are those of its parts, does without it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no run")

    @abstractmethod
    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        """The report, from only the results by task key, in the order of `tasks`."""

    def records(self, results: Mapping[str, dict[str, Any]]) -> Iterator[Any]:
        """Yield the games of a finished run in their order, for `outputs`."""
        raise NotImplementedError

    def gist(self, result: dict[str, Any]) -> dict[str, Any]:
        """The part of a task's result that the report needs; override it for large results."""
        return result

    def check(self) -> None:  # noqa: B027
        """Raise `InputError` if this machine lacks something that the tasks need.

        It is called before the first task. ``__post_init__`` checks the fields.
        """

    def origin(self, job: "Job") -> "Origin":
        """The job that computes the result of `job`: itself, unless this is a composite."""
        return Origin(self, job)

    def config(self) -> dict[str, Any]:
        """The fields as plain JSON: tuples are lists. 1 and 1.0 are different configs."""
        return {
            f.name: plain(getattr(self, f.name), f"{type(self).__name__}.{f.name}")
            for f in dataclasses.fields(self)
            if f.name not in self.newer or getattr(self, f.name) != f.default
        }

    def inputs(self) -> dict[str, Any]:
        """Fingerprints of the files that tasks read, since a path may change its content."""
        return {}

    def identity(self) -> dict[str, Any]:
        """The data that is equal exactly if two runs are the same."""
        config = {key: value for key, value in self.described.items() if key not in self.places}
        return {"name": self.name, "version": self.version, "config": config}

    @FromFiles
    def described(self) -> dict[str, Any]:
        """The fields and the inputs, read once."""
        return {**self.config(), **self.inputs()}

    @FromFiles
    def digest(self) -> str:
        """Twelve hex digits of the sha256 of the identity."""
        return hashlib.sha256(canonical(self.identity()).encode()).hexdigest()[:12]

    def fresh(self) -> Self:
        """Return this experiment, or a copy if it has read files, which may have changed."""
        return self if self.__getstate__() == vars(self) else dataclasses.replace(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that workers get."""
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), FromFiles)
        }


@dataclass(frozen=True)
class Job:
    """A task with its number, which selects its random stream."""

    index: int
    task: Task


class Origin(NamedTuple):
    """The job that computes a result, and its experiment: a composite's results are its parts'."""

    experiment: Experiment
    job: Job
    total: int = 0
    """Number of all jobs of a part."""
    part: Any = None
    """Key of the part in the composite."""


def jobs_of(experiment: Experiment) -> list[Job]:
    """The checked tasks of an experiment, numbered."""
    kind = type(experiment)
    if "__dataclass_fields__" not in vars(kind):
        # Without its own decorator a subclass's new fields would be missing from the digest.
        raise TypeError(f"{kind.__name__} must be decorated with @dataclass(frozen=True)")
    if not _NAME.fullmatch(experiment.name):
        raise TypeError(f"{kind.__name__}.name must be lower-case words, not {experiment.name!r}")
    if experiment.seed < 0:
        raise InputError(f"seed: at least 0, not {experiment.seed}")
    jobs: dict[str, Job] = {}
    for index, task in enumerate(experiment.tasks()):
        if task.key in jobs:
            raise ValueError(f"{experiment.name}: two tasks have the key {task.key!r}")
        params = plain(task.params, f"task {task.key!r}")
        jobs[task.key] = Job(index, dataclasses.replace(task, params=params))
    return list(jobs.values())


def task_rng(seed: int, index: int) -> np.random.Generator:
    """The random stream of task ``index``, as ``SeedSequence(seed).spawn(n)[index]`` gives it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(index,))))

"""Experiments that consist of others and share their results."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kedge.experiments.experiment import Experiment, Job, Origin, Task, jobs_of


@dataclass(frozen=True, kw_only=True)
class Composite(Experiment):
    """Base of experiments whose tasks are those of other experiments, their parts.

    The parts run their tasks; `run` is for tasks that a composite adds to them. The results of a
    part are also stored in its own run, where another composite or the part's own command finds
    them. The composite keeps the `gist` of them.
    """

    @abstractmethod
    def parts(self) -> Mapping[Any, Experiment]:
        """The parts by key; the keys as text are their labels in names of tasks."""

    @cached_property
    def _parts(self) -> Mapping[Any, Experiment]:
        return self.parts()

    def needs(self, part: Any, task: Task) -> bool:
        """Whether a task of a part, by its key, is needed: some reports do not need all."""
        return True

    def inputs(self) -> dict[str, Any]:
        return {"parts": {str(key): part.digest for key, part in self._parts.items()}}

    def check(self) -> None:
        """Check nothing: `run` checks the parts that have to compute something."""

    def tasks(self) -> list[Task]:
        return [
            Task(
                key,
                {
                    "part": str(part),
                    "index": job.index,
                    "of": total,
                    "key": job.task.key,
                    "params": job.task.params,
                },
            )
            for key, (_, job, total, part) in self._origins.items()
        ]

    @cached_property
    def _origins(self) -> dict[str, Origin]:
        """The jobs of parts that are needed, by the keys of their tasks here."""
        origins: dict[str, Origin] = {}
        for part, experiment in self._parts.items():
            jobs = jobs_of(experiment)
            for job in jobs:
                if self.needs(part, job.task):
                    key = f"{part}: {job.task.key}"
                    if key in origins:
                        raise ValueError(f"{self.name}: two tasks have the key {key!r}")
                    origins[key] = Origin(experiment, job, len(jobs), part)
        return origins

    def origin(self, job: Job) -> Origin:
        return self._origins.get(job.task.key) or super().origin(job)

    def by_part(
        self, results: Mapping[str, dict[str, Any]]
    ) -> dict[Any, dict[str, dict[str, Any]]]:
        """The results of each part, by its own task keys, for its own report."""
        parts: dict[Any, dict[str, dict[str, Any]]] = {part: {} for part in self._parts}
        for key, origin in self._origins.items():
            parts[origin.part][origin.job.task.key] = results[key]
        return parts

"""Experiments that consist of others and share their results."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kedge.experiments.experiment import Experiment, Job, Origin, Task, jobs_of


@dataclass(frozen=True, kw_only=True)
class Composite(Experiment):
    """Base of experiments whose tasks are those of other experiments, their parts.

    The results of a part are also stored in its own run, where another composite or the part's own
    command finds them. The composite keeps the `gist` of them.
    """

    @abstractmethod
    def parts(self) -> Mapping[str, Experiment]:
        """The parts by label; labels contain no colon."""

    @cached_property
    def _parts(self) -> Mapping[str, Experiment]:
        return self.parts()

    def needs(self, label: str, task: Task) -> bool:
        """Whether a task of a part is needed: some reports do not need all."""
        return True

    def inputs(self) -> dict[str, Any]:
        return {"parts": {label: part.digest for label, part in self._parts.items()}}

    def check(self) -> None:
        """Check nothing: `run` checks the parts that have to compute something."""

    def tasks(self) -> list[Task]:
        return [
            Task(
                f"{label}: {job.task.key}",
                {
                    "part": label,
                    "index": job.index,
                    "of": len(jobs),
                    "key": job.task.key,
                    "params": job.task.params,
                },
                job.task.data,
            )
            for label, part in self._parts.items()
            for jobs in [jobs_of(part)]
            for job in jobs
            if self.needs(label, job.task)
        ]

    def origin(self, job: Job) -> Origin:
        params = job.task.params
        if "part" not in params:
            return Origin(self, job)
        own = Job(params["index"], Task(params["key"], params["params"], job.task.data))
        return Origin(self._parts[params["part"]], own, params["of"])

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        """Run a task that is not of a part; most composites have none."""
        raise NotImplementedError

    def by_part(
        self, results: Mapping[str, dict[str, Any]]
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """The results of each part, by its own keys, for its own report."""
        parts: dict[str, dict[str, dict[str, Any]]] = {label: {} for label in self._parts}
        for key, result in results.items():
            label, _, own = key.partition(": ")
            if label in parts:
                parts[label][own] = result
        return parts

"""Experiments that consist of others and share their results."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kedge.experiments.experiment import Experiment, Job, Task, jobs_of, task_rng
from kedge.experiments.jsonable import plain
from kedge.experiments.store import Store


@dataclass(frozen=True, kw_only=True)
class Composite(Experiment):
    """Base of experiments whose tasks are those of other experiments, their parts.

    The results of a part are also stored in its own run, where another composite or the part's own
    command finds them.
    """

    @abstractmethod
    def parts(self) -> Mapping[str, Experiment]:
        """The parts by label; labels contain no colon."""

    @cached_property
    def _parts(self) -> Mapping[str, Experiment]:
        # The parts follow from the fields. Their digests are not kept: files may change.
        return self.parts()

    def needs(self, label: str, task: Task) -> bool:
        """Whether a task of a part is needed: some reports do not need all."""
        return True

    def inputs(self) -> dict[str, Any]:
        return {"parts": {label: part.digest for label, part in self._parts.items()}}

    def check(self) -> None:
        """Check nothing: `check_missing` checks the parts."""

    def check_missing(self, jobs: Sequence[Job]) -> None:
        """Check the parts with missing results; finished parts need neither models nor a GPU."""
        labels = {job.task.params.get("part") for job in jobs}
        for label, part in self._parts.items():
            if label not in labels:
                continue
            store = Store(part)
            needed = (job for job in jobs_of(part) if self.needs(label, job.task))
            missing = [job for job in needed if store.load(job) is None]
            if missing:
                part.check()
                part.check_missing(missing)

    def tasks(self) -> list[Task]:
        return [
            Task(
                f"{label}: {job.task.key}",
                {"part": label, "index": job.index, "of": len(jobs), **asdict(job.task)},
            )
            for label, part in self._parts.items()
            for jobs in [jobs_of(part)]
            for job in jobs
            if self.needs(label, job.task)
        ]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        params = task.params
        part = self._parts[params["part"]]
        job = Job(params["index"], Task(params["key"], params["params"]))
        store = Store(part)
        result = store.load(job)
        if result is None:
            store.open(params["of"])
            # The part's own random stream, so that the result does not depend on the composite.
            computed = part.run(job.task, task_rng(part.seed, job.index))
            result = plain(dict(computed), "result")
            store.save(job, result)
        return self.gist(result)

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

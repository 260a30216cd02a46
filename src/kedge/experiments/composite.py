"""Experiments that are made of others, and share what these compute."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kedge.experiments.experiment import Experiment, Job, Task, jobs_of, task_rng
from kedge.experiments.jsonable import plain
from kedge.experiments.store import Store


@dataclass(frozen=True, kw_only=True)
class Composite(Experiment):
    """Base of experiments whose tasks are those of others, their parts.

    What a part computes is also kept in its own run, where whoever asks for the same finds it:
    another composite, or the part's own command.
    """

    @abstractmethod
    def parts(self) -> Mapping[str, Experiment]:
        """By labels in which there is no colon."""

    def needs(self, label: str, task: Task) -> bool:
        """Whether a task of a part is wanted: some reports need not all."""
        return True

    def inputs(self) -> dict[str, Any]:
        return {"parts": {label: part.digest for label, part in self.parts().items()}}

    def check(self) -> None:
        """The parts that lack something: what is at hand needs neither models nor a GPU."""
        own = Store(self)
        lacking = {job.task.params.get("part") for job in jobs_of(self) if own.load(job) is None}
        for label, part in self.parts().items():
            store = Store(part)
            wanted = (job for job in jobs_of(part) if self.needs(label, job.task))
            if label in lacking and any(store.load(job) is None for job in wanted):
                part.check()

    def tasks(self) -> list[Task]:
        return [
            Task(
                f"{label}: {job.task.key}",
                {"part": label, "index": job.index, "of": len(jobs), **asdict(job.task)},
            )
            for label, part in self.parts().items()
            for jobs in [jobs_of(part)]
            for job in jobs
            if self.needs(label, job.task)
        ]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        told = task.params
        part = self.parts()[told["part"]]
        job = Job(told["index"], Task(told["key"], told["params"]))
        store = Store(part)
        found = store.load(job)
        if found is None:
            store.open(told["of"])
            # Its own random stream: the result is the same, whoever asks for it.
            made = part.run(job.task, task_rng(part.seed, job.index))
            found = plain(dict(made), "result")
            store.save(job, found)
        return self.gist(found)

    def by_part(
        self, results: Mapping[str, dict[str, Any]]
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """The results of each part, by its own keys, for its own report."""
        found: dict[str, dict[str, dict[str, Any]]] = {label: {} for label in self.parts()}
        for key, result in results.items():
            label, _, own = key.partition(": ")
            if label in found:
                found[label][own] = result
        return found

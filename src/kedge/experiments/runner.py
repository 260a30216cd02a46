"""Run an experiment: load finished tasks, compute missing ones, return all results."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from kedge.errors import ExperimentError, InputError
from kedge.experiments.engines.cluster import import_ray, run_ray
from kedge.experiments.engines.jobs import JobOutcome, Outcomes
from kedge.experiments.engines.local import run_inline, run_local
from kedge.experiments.engines.progress import progress as show_progress
from kedge.experiments.experiment import Experiment, Job, Origin, jobs_of
from kedge.experiments.reports.report import Report
from kedge.experiments.store import REPORT, Store
from kedge.machine import cores
from kedge.words import counted

Engine = Literal["local", "ray", "inline"]
_PartJobs = dict[int, tuple[Origin, Store]]


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, and the results by task key in the order of the tasks."""

    experiment: Experiment
    folder: Path
    results: dict[str, dict[str, Any]]

    def report(self) -> Report:
        """The experiment's report on the results."""
        return self.experiment.report(self.results)

    def write_report(
        self, folder: Path | str | None = None, report: Report | None = None
    ) -> list[Path]:
        """Write the files of `report` or a new one, by default into the run's folder."""
        place = Path(folder) if folder else self.folder / REPORT / self.experiment.view
        return (report or self.report()).write(place, experiment=self.experiment.identity())


def run(
    experiment: Experiment,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    folder: Path | str | None = None,
    progress: bool = True,
) -> Run:
    """Compute the missing tasks; each result is written to a file at once.

    Each call reads the experiment's inputs, since files may have changed after the last.

    Parameters
    ----------
    engine
        "local" (processes on this machine), "ray", or "inline" (in this process, for debuggers).
    workers
        Tasks at once; None uses all cores (on Ray: of the cluster).
    address
        For Ray: "auto" or host:port joins a cluster; None starts one on this machine.
    folder
        The run's folder; by default one under kedge's home, named after the config's digest.
    progress
        Show progress on stderr.

    Raises
    ------
    ExperimentError
        Some tasks failed. The results of all others are kept.
    InputError
        The arguments or the folder are wrong, or all tasks found the same fault in the input.
        Nothing was overwritten.
    """
    _check_arguments(engine, workers, address)
    experiment = experiment.fresh()
    store = Store(experiment, Path(folder) if folder else None)
    is_new = not os.path.exists(store.folder)
    is_here = engine != "ray"  # whose workers may be other machines
    if is_new and is_here:
        experiment.check()  # at once: listing the tasks may mean to read all data
    jobs = jobs_of(experiment)
    loaded = ((job.task.key, store.load(job)) for job in jobs)
    results = {key: result for key, result in loaded if result is not None}
    missing = [job for job in jobs if job.task.key not in results]
    part_jobs = _part_jobs(experiment, missing)
    shared = _load_shared(experiment, part_jobs)
    to_compute = [job for job in missing if job.index not in shared]
    if missing and is_here:
        if not is_new:
            experiment.check()
        _check_parts(part_jobs, to_compute)
    if to_compute and not is_here:
        import_ray()  # before there is a folder
    session = {"engine": engine, "workers": workers, "missing": len(missing)} if missing else {}
    store.open(len(jobs), **session)
    for job in missing:
        if job.index in shared:
            results[job.task.key] = store.save(job, shared[job.index])
    if to_compute:
        outcomes = _outcomes(experiment, to_compute, engine, workers, address)
        with show_progress(experiment.name, len(results), len(jobs), progress) as step:
            results |= _save_all(experiment, store, part_jobs, outcomes, len(jobs), step)
    return Run(experiment, store.folder, {job.task.key: results[job.task.key] for job in jobs})


def _check_arguments(engine: str, workers: int | None, address: str | None) -> None:
    if engine not in get_args(Engine):
        raise InputError(f"engine: one of {', '.join(get_args(Engine))}, not {engine!r}")
    if workers is not None and workers < 1:
        raise InputError(f"workers: at least 1, not {workers}")
    if address is not None and engine != "ray":
        raise InputError(f"address: only the ray engine has one, not {engine!r}")


def _part_jobs(experiment: Experiment, jobs: Sequence[Job]) -> _PartJobs:
    """The jobs of a composite that parts compute, by number: the part's job, and its run."""
    stores: dict[int, Store] = {}
    part_jobs: _PartJobs = {}
    for job in jobs:
        origin = experiment.origin(job)
        if origin.experiment is not experiment:
            key = id(origin.experiment)
            if key not in stores:
                stores[key] = Store(origin.experiment)
            part_jobs[job.index] = origin, stores[key]
    return part_jobs


def _load_shared(experiment: Experiment, part_jobs: _PartJobs) -> dict[int, dict[str, Any]]:
    """The results that the runs of parts have, by the number of the composite's job."""
    return {
        index: experiment.gist(result)
        for index, (origin, part_run) in part_jobs.items()
        if (result := part_run.load(origin.job)) is not None
    }


def _save(
    experiment: Experiment, store: Store, part_jobs: _PartJobs, job: Job, result: dict[str, Any]
) -> dict[str, Any]:
    """Write a worker's result with its known part; return what the report needs of it.

    The result of a composite's part is also written to the part's run, where others find it.
    """
    if job.index not in part_jobs:
        return store.save(job, {**result, **job.task.known})
    origin, part_run = part_jobs[job.index]
    result = {**result, **origin.job.task.known}
    part_run.open(origin.total)
    part_run.save(origin.job, result)
    return store.save(job, experiment.gist(result))


def _check_parts(part_jobs: _PartJobs, jobs: Sequence[Job]) -> None:
    """Check the parts that compute these jobs; finished parts need neither models nor a GPU."""
    needed = [part_jobs[job.index][0].experiment for job in jobs if job.index in part_jobs]
    for experiment in {id(each): each for each in needed}.values():
        experiment.check()


def _outcomes(
    experiment: Experiment,
    jobs: Sequence[Job],
    engine: Engine,
    workers: int | None,
    address: str | None,
) -> Outcomes:
    """Run the jobs on an engine; yield their outcomes."""
    if engine == "ray":
        return run_ray(experiment, jobs, workers, address)
    if engine == "local":
        return run_local(experiment, jobs, workers or cores())
    return run_inline(experiment, jobs)


def _save_all(
    experiment: Experiment,
    store: Store,
    part_jobs: _PartJobs,
    outcomes: Outcomes,
    total: int,
    step: Callable[[], None],
) -> dict[str, dict[str, Any]]:
    """Write and return the results, each as it comes; `ExperimentError` if tasks failed.

    If all failed by the same `InputError`, that is raised.
    """
    results: dict[str, dict[str, Any]] = {}
    failures: list[tuple[Job, JobOutcome]] = []
    with closing(outcomes):  # ends the workers, whatever happens
        for job, outcome in outcomes:
            if outcome.result is None:
                failures.append((job, outcome))
            else:
                results[job.task.key] = _save(experiment, store, part_jobs, job, outcome.result)
            step()
    if failures:
        # In task order, so that the same failures give the same message.
        failures.sort(key=lambda failure: failure[0].index)
        (first, outcome), count = failures[0], counted(total, "task")
        reasons = {failed.wrong_input for _, failed in failures}
        if len(failures) == total and len(reasons) == 1 and outcome.wrong_input is not None:
            raise InputError(outcome.wrong_input)  # no task can use the input: that says all
        raise ExperimentError(
            f"{experiment.name}: {len(failures)} of {count} failed; "
            f"task {first.task.key!r}: {outcome.error}",
            {job.task.key: outcome.traceback for job, outcome in failures},
        )
    return results

"""The Ray engine: jobs on a cluster, or on a Ray that is started on this machine."""

import contextlib
import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from kedge.errors import InputError, needs
from kedge.experiments.engines.jobs import (
    SINGLE_THREADED,
    Deaths,
    JobOutcome,
    Outcomes,
    deferred_interrupt,
    execute,
)
from kedge.experiments.experiment import Experiment, Job

_POLL_SECONDS = 0.2


def run_ray(
    experiment: Experiment,
    jobs: Sequence[Job],
    workers: int | None,
    address: str | None,
) -> Outcomes:
    """Run the jobs on Ray, at most ``workers`` at once (one per core if None); yield outcomes.

    kedge does the retries (``max_retries=0``). So a job fails after as many deaths as on the local
    engine, and a result lost with its node is computed again.
    """
    ray = import_ray()
    queue = deque(jobs)
    deaths = Deaths()
    flight: dict[Any, Job] = {}
    environment = {key: os.environ.get(key, value) for key, value in SINGLE_THREADED.items()}
    with _session(ray, workers, address) as paths, deferred_interrupt() as interrupted:
        remote = ray.remote(execute).options(
            num_cpus=1,
            num_gpus=_gpus(ray, experiment, workers),
            max_retries=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": environment | paths},
        )
        shared = ray.put(experiment)
        try:
            while queue or flight:
                stopping = interrupted()  # start no more jobs, but keep finished results
                while queue and not stopping and len(flight) < (workers or len(jobs)):
                    job = queue.popleft()
                    flight[remote.remote(shared, job)] = job
                if not flight:
                    break
                # One at a time, so that each result is written at once.
                timeout = 0.0 if stopping else _POLL_SECONDS
                ready, _ = ray.wait(list(flight), num_returns=1, timeout=timeout)
                for reference in ready:
                    job = flight.pop(reference)
                    try:
                        outcome: JobOutcome = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        # Errors of the task's own code are outcomes, so this one means that
                        # the worker could not import the experiment.
                        last = str(error).strip().splitlines()[-1]
                        outcome = JobOutcome(error=last, traceback=str(error))
                    except ray.exceptions.RayError as error:
                        failure = deaths.count(job, _reason(error))
                        if failure is None:
                            queue.append(job)
                            continue
                        outcome = failure
                    yield job, outcome
                if stopping and not ready:
                    break
        finally:
            for reference in flight:
                with contextlib.suppress(Exception):
                    ray.cancel(reference, force=True)


def _gpus(ray: Any, experiment: Experiment, workers: int | None) -> float:
    device = getattr(experiment, "device", "cpu")
    if not device.startswith("cuda"):
        return 0.0
    return gpus_per_task(device, workers, int(ray.cluster_resources().get("GPU", 0)))


def gpus_per_task(device: str, workers: int | None, gpus: int) -> float:
    """The share of a GPU for each task if Ray has `gpus` of them.

    Ray hides all other GPUs from a task.

    >>> [gpus_per_task("cuda", workers, 2) for workers in (None, 2, 3, 6)]
    [1.0, 1.0, 0.5, 0.3333]
    """
    if device != "cuda":
        raise InputError(f"device {device}: Ray assigns the GPUs; use cuda")
    if not gpus:  # the tasks would wait for one silently
        raise InputError("device cuda: this Ray has no GPU; start one with a GPU, or use cpu")
    tasks_a_gpu = -(-(workers or 1) // gpus)
    return 10_000 // tasks_a_gpu / 10_000  # rounded down to Ray's units, so that all fit


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"with {type(error).__name__}" + (f" ({lines[0]})" if lines else "")


@contextlib.contextmanager
def _session(ray: Any, workers: int | None, address: str | None) -> Iterator[dict[str, str]]:
    """Connect to Ray; disconnect at the end if this call connected.

    Yields the environment with which workers on this machine find our modules. On a cluster, the
    cluster sets its own paths.
    """
    if ray.is_initialized():
        yield {}
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    _check_reachable(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        options |= {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"cannot join Ray at {address!r}: {lines[0]}") from error
    try:
        yield {"PYTHONPATH": os.pathsep.join(sys.path)} if address == "local" else {}
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise `InputError` if nothing listens at `address`: Ray itself would try for minutes."""
    if address in ("local", "auto") or "://" in address:
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"cannot join Ray at {address!r}: use 'auto' or host:port")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot join Ray at {address!r}: {error}") from error


def import_ray() -> Any:
    """Import Ray; raise `InputError` if it is not installed."""
    # Send no usage statistics unless the user has turned them on.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise InputError(f"Ray is not installed; {needs('cluster')}") from error
    return ray

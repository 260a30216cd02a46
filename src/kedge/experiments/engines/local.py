"""The local engines: worker processes, or none.

The pool is our own rather than ``ProcessPoolExecutor`` because that one, when a worker dies,
cannot say which task it was running: here only that task is blamed, and only it is run again.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait

from kedge.errors import ExperimentError
from kedge.experiments.engines.jobs import (
    MAX_DEATHS,
    SINGLE_THREADED,
    Deaths,
    Outcome,
    Record,
    deferred_interrupt,
    execute,
)
from kedge.experiments.experiment import Experiment, Job

_POLL_SECONDS = 0.2
# Spawned, not forked: a worker never inherits a lock that some thread of ours was holding.
_CONTEXT = multiprocessing.get_context("spawn")


def run_inline(experiment: Experiment, jobs: Sequence[Job], record: Record) -> None:
    """One job after the other in this process, where a debugger can follow."""
    for job in jobs:
        with contextlib.redirect_stdout(sys.stderr):
            outcome = execute(experiment, job)
        record(job, outcome)


def run_local(experiment: Experiment, jobs: Sequence[Job], record: Record, workers: int) -> None:
    """Run the jobs in ``workers`` processes; a worker that dies is replaced, its job retried."""
    queue = deque(jobs)
    deaths = Deaths()
    failed_starts = 0
    crew: list[_Worker] = []
    with deferred_interrupt() as interrupted:
        try:
            while queue or any(worker.job for worker in crew):
                busy = sum(worker.job is not None for worker in crew)
                while len(crew) < min(workers, busy + len(queue)):
                    crew.append(_Worker(experiment))
                wait([handle for worker in crew for handle in worker.handles()], _POLL_SECONDS)
                for worker in list(crew):
                    for job, outcome in worker.finished():
                        record(job, outcome)
                    failed_starts = 0 if worker.greeted else failed_starts + worker.dead
                    if worker.dead:
                        crew.remove(worker)
                        reason = worker.bury()
                        if failed_starts >= MAX_DEATHS:
                            raise ExperimentError(f"worker processes do not start: ended {reason}")
                        if worker.job is not None:
                            deaths.count(worker.job, reason, queue, record)
                if interrupted():
                    break
                for worker in crew:
                    if queue and worker.greeted and worker.job is None:
                        worker.take_from(queue)
        finally:
            for worker in crew:
                worker.process.terminate()
            for worker in crew:
                worker.bury()


class _Worker:
    """One process and our end of the pipe to it."""

    def __init__(self, experiment: Experiment) -> None:
        self.job: Job | None = None
        self.greeted = False  # it has started and may be given jobs
        self.dead = False
        self._pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_work, args=(theirs, experiment))
        with _birth_conditions():
            self.process.start()
        theirs.close()  # so that its death ends the pipe

    def handles(self) -> list[Connection | int]:
        return [self._pipe, self.process.sentinel]

    def take_from(self, queue: deque[Job]) -> None:
        with contextlib.suppress(OSError):  # it died idle: the job stays where it is
            self._pipe.send(queue[0])
            self.job = queue.popleft()

    def finished(self) -> Iterator[tuple[Job, Outcome]]:
        """What the worker has sent; also notices its death."""
        # First alive, then the pipe: what it sent with its last breath still counts.
        dead = not self.process.is_alive()
        try:
            while self._pipe.poll():
                outcome = self._pipe.recv()
                if self.job is not None and isinstance(outcome, Outcome):
                    job, self.job = self.job, None
                    yield job, outcome
                self.greeted = True
        except (EOFError, OSError):
            dead = True
        self.dead = dead

    def bury(self) -> str:
        """End the process for good; how it ended, in words."""
        self.process.join(1.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._pipe.close()
        code = self.process.exitcode or 0
        if code == -signal.SIGKILL:
            return "by SIGKILL (out of memory?)"
        return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


@contextlib.contextmanager
def _birth_conditions() -> Iterator[None]:
    """The environment and signal mask that a process started inside inherits.

    BLAS reads its variables when it is loaded, and Ctrl-C reaches the whole process group while
    a child is still importing: both must be settled before the child's first line runs.
    """
    added = {key: value for key, value in SINGLE_THREADED.items() if key not in os.environ}
    os.environ.update(added)
    mask = getattr(signal, "pthread_sigmask", None)
    # The first child starts it, and it undoes the mask.
    resource_tracker.ensure_running()
    if mask:
        mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for key in added:
            os.environ.pop(key, None)


def _work(pipe: Connection, experiment: Experiment) -> None:
    """A worker's life: jobs in, outcomes out, until the driver closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what tasks print must not mix with the driver's output
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            pipe.send(execute(experiment, pipe.recv()))


def _exit_with_parent() -> None:
    """Without this, the workers of a killed driver would finish their tasks for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

"""The local engines: worker processes, or this process.

kedge has its own pool because ``ProcessPoolExecutor`` does not know which task a dead worker was
running. Here only that task is run again.
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
    JobOutcome,
    Outcomes,
    deferred_interrupt,
    execute,
)
from kedge.experiments.experiment import Experiment, Job

_POLL_SECONDS = 0.2
# Spawned, not forked, so that a worker never inherits a lock held by one of our threads.
_CONTEXT = multiprocessing.get_context("spawn")


def run_inline(experiment: Experiment, jobs: Sequence[Job]) -> Outcomes:
    """Run one job after the other in this process, for debuggers; yield their outcomes."""
    for job in jobs:
        with contextlib.redirect_stdout(sys.stderr):
            outcome = execute(experiment, job)
        yield job, outcome


def run_local(experiment: Experiment, jobs: Sequence[Job], workers: int) -> Outcomes:
    """Run the jobs in ``workers`` processes; yield their outcomes.

    A worker that dies is replaced, its job retried.
    """
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
                    yield from worker.finished()
                    failed_starts = 0 if worker.greeted else failed_starts + worker.dead
                    if worker.dead:
                        crew.remove(worker)
                        reason = worker.bury()
                        if failed_starts >= MAX_DEATHS:
                            raise ExperimentError(f"worker processes do not start: ended {reason}")
                        if worker.job is not None:
                            failure = deaths.count(worker.job, reason)
                            if failure is None:
                                queue.append(worker.job)
                            else:
                                yield worker.job, failure
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
        self.greeted = False  # it has started and accepts jobs
        self.dead = False
        self._pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_work, args=(theirs, experiment))
        with _birth_conditions():
            self.process.start()
        theirs.close()  # so that the pipe ends when the worker dies

    def handles(self) -> list[Connection | int]:
        return [self._pipe, self.process.sentinel]

    def take_from(self, queue: deque[Job]) -> None:
        with contextlib.suppress(OSError):  # it died while idle: the job stays in the queue
            self._pipe.send(queue[0])
            self.job = queue.popleft()

    def finished(self) -> Iterator[tuple[Job, JobOutcome]]:
        """Yield what the worker has sent; also notice its death."""
        # Check for death before the pipe, so that the last result before it still counts.
        dead = not self.process.is_alive()
        try:
            while self._pipe.poll():
                outcome = self._pipe.recv()
                if self.job is not None and isinstance(outcome, JobOutcome):
                    job, self.job = self.job, None
                    yield job, outcome
                self.greeted = True
        except (EOFError, OSError):
            dead = True
        self.dead = dead

    def bury(self) -> str:
        """End the process and describe how it ended."""
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
    """Set the environment and signal mask that a child process inherits.

    BLAS reads its variables when it is loaded, and Ctrl-C reaches the whole process group while a
    child is still importing. So both must be set before the child's first line runs.
    """
    added = {key: value for key, value in SINGLE_THREADED.items() if key not in os.environ}
    os.environ.update(added)
    mask = getattr(signal, "pthread_sigmask", None)
    # Start the tracker now: the first child would start it, and it resets the mask.
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
    """The main loop of a worker: run jobs until the driver closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # prints of tasks go to stderr, since stdout is the driver's
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            pipe.send(execute(experiment, pipe.recv()))


def _exit_with_parent() -> None:
    """Exit when the driver dies; otherwise its workers would finish their tasks for nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

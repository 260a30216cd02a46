"""How engines run a job, count the deaths of workers and handle Ctrl-C."""

import contextlib
import signal
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from kedge.errors import InputError
from kedge.experiments.experiment import Experiment, Job, task_rng
from kedge.jsonable import plain

# A task fails after this many deaths of its worker.
MAX_DEATHS = 3

# Tasks are the unit of parallelism. BLAS threads would compete for the cores, and their number
# changes the last bits of sums. Variables set by the user take precedence.
SINGLE_THREADED = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
} | {"VECLIB_MAXIMUM_THREADS": "1"}


@dataclass(frozen=True)
class JobOutcome:
    """The end of a job: a plain result, or an error in one line and in full."""

    result: dict[str, Any] | None = None
    error: str = ""
    traceback: str = ""
    wrong_input: str | None = None
    """What an `InputError` said."""


#: The outcomes of jobs, as they end. `close` ends the workers.
Outcomes = Generator[tuple[Job, JobOutcome], None, None]


def execute(experiment: Experiment, job: Job) -> JobOutcome:
    """Run one job in this process; exceptions of its code become an outcome."""
    try:
        # A part has its own random stream, so that its result does not depend on the composite.
        origin = experiment.origin(job)
        rng = task_rng(origin.experiment.seed, origin.job.index)
        result = origin.experiment.run(origin.job.task, rng)
        return JobOutcome(plain(dict(result), "result"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a task must not end its worker
        lines = str(error).strip().splitlines() or ["(no message)"]
        return JobOutcome(
            error=f"{type(error).__name__}: {lines[0]}",
            traceback=traceback.format_exc(),
            wrong_input=lines[0] if isinstance(error, InputError) else None,
        )


class Deaths:
    """Counts the deaths of workers for the job that each was running."""

    def __init__(self) -> None:
        self._count: Counter[int] = Counter()

    def count(self, job: Job, reason: str) -> JobOutcome | None:
        """Count one more death; return the job's failure, or None if it should run again."""
        self._count[job.index] += 1
        if self._count[job.index] < MAX_DEATHS:
            return None
        error = f"its worker died {MAX_DEATHS} times, the last {reason}"
        return JobOutcome(error=error, traceback=error)


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C: yield a function that tells whether it was pressed, and raise at the end.

    So no result is lost between its arrival and its file. A second Ctrl-C interrupts at once.
    """
    pressed = False

    def press(_signal: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    # Keep another handler, or a SIGINT that was ignored at the start (nohup).
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt

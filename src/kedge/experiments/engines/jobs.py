"""What every engine does with a job, and how Ctrl-C reaches it."""

import contextlib
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from kedge.experiments.experiment import Experiment, Job, task_rng
from kedge.experiments.jsonable import plain

# A task that is in flight at this many deaths of its worker is given up.
MAX_DEATHS = 3

# Tasks are the unit of parallelism; BLAS threads on top of them only fight for the cores, and
# their number changes the last bits of sums. What the user has set in the environment stands.
SINGLE_THREADED = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
} | {"VECLIB_MAXIMUM_THREADS": "1"}


@dataclass(frozen=True)
class Outcome:
    """How a job ended: a plain result, or an error in one line and in full."""

    result: dict[str, Any] | None = None
    error: str = ""
    traceback: str = ""


Record = Callable[[Job, Outcome], None]


def execute(experiment: Experiment, job: Job) -> Outcome:
    """Run one job here; whatever its code raises becomes an outcome."""
    try:
        result = experiment.run(job.task, task_rng(experiment.seed, job.index))
        return Outcome(plain(dict(result), "result"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a task must not end its worker
        lines = str(error).strip().splitlines() or ["(no message)"]
        return Outcome(
            error=f"{type(error).__name__}: {lines[0]}", traceback=traceback.format_exc()
        )


class Deaths:
    """Counts the deaths of workers against the job that each was running."""

    def __init__(self) -> None:
        self._count: Counter[int] = Counter()

    def count(self, job: Job, reason: str, queue: deque[Job], record: Record) -> None:
        """Queue the job again, behind the others; or record that it is given up."""
        self._count[job.index] += 1
        if self._count[job.index] < MAX_DEATHS:
            queue.append(job)
        else:
            error = f"its worker died {MAX_DEATHS} times, the last {reason}"
            record(job, Outcome(error=error, traceback=error))


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Inside, Ctrl-C only raises the flag that is yielded; `KeyboardInterrupt` comes at the end.

    So no result is dropped between its arrival and its file. A second Ctrl-C interrupts at once.
    """
    pressed = False

    def press(_signal: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    # Someone else's handler, or a SIGINT ignored from birth (nohup), is left alone.
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

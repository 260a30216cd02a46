"""Experiments for the tests, in a module that workers can import; also the driver to be killed."""

import math
import os
import secrets
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from kedge.errors import InputError
from kedge.experiments import Column, Experiment, Report, Table, Task, run


def mark(text: str) -> None:
    """Leave a trace of having run, where the test has asked for it."""
    folder = os.environ.get("KEDGE_TEST_MARKS")
    if folder:
        Path(folder, f"{text}.{secrets.token_hex(4)}").touch()


def marks(text: str) -> int:
    return len(list(Path(os.environ["KEDGE_TEST_MARKS"]).glob(f"{text}.*")))


@dataclass(frozen=True)
class Walk(Experiment):
    """Random walks; exercises nan, inf, numpy values and odd keys."""

    name = "walk"
    n: int = 6
    pause: float = 0.0
    fault: str = ""

    def tasks(self):
        return [Task(f"../λ = {i}/{self.n}", {"i": i, "x": math.nan}) for i in range(self.n)]

    def run(self, task, rng):
        i = task.params["i"]
        mark(f"start-{i}")
        mark(f"on-{os.getppid()}")
        print("noise on stdout")
        time.sleep(self.pause)
        if i == 2:
            self.fail()
        mark(f"off-{os.getppid()}")
        x = rng.normal(size=(200, 200))
        return {
            "i": i,
            "mean": (x @ x).mean(),
            "se": x.std(),
            "odd": [math.nan, math.inf, -math.inf][i % 3],
            "path": x[0].cumsum(),
            "threads": os.environ.get("OMP_NUM_THREADS"),
        }

    def fail(self):
        match self.fault:
            case "die once" if marks("died") == 0:
                mark("died")
                os.kill(os.getpid(), signal.SIGKILL)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise ArithmeticError("two is not\na number")
            case "exit":
                sys.exit("leaving")

    def report(self, results):
        def draw(figure):
            axes = figure.subplots()
            for key, result in results.items():
                axes.plot(result["path"], marker="o", markevery=50, label=key)
            axes.legend()

        columns = [Column("i"), Column("mean", "Mean", ".3f", error="se"), Column("odd")]
        rows = list(results.values())
        return Report("Walks", Table(columns, rows), ["A note."], draw=draw)


@dataclass(frozen=True)
class OnGpu(Walk):
    """Says what Ray gives its tasks."""

    name = "on-gpu"
    device: str = "cuda"

    def run(self, task, rng):
        import ray

        given = ray.get_runtime_context().get_assigned_resources()
        return {"GPU": given.get("GPU"), "shown": os.environ.get("CUDA_VISIBLE_DEVICES")}


@dataclass(frozen=True)
class Unfit(Experiment):
    """No task can use the input, all for one reason or each for its own."""

    name = "unfit"

    alike: bool = True

    def tasks(self):
        return [Task("a"), Task("b")]

    def run(self, task, rng):
        raise InputError("the game has three players" if self.alike else f"{task.key} is wrong")

    def report(self, results):
        raise NotImplementedError


@dataclass(frozen=True)
class Bad(Experiment):
    """Its only task returns something that is not JSON."""

    name = "bad"

    def tasks(self):
        return [Task("only")]

    def run(self, task, rng):
        return {"x": {"y": {1, 2}}}

    def report(self, results):
        raise NotImplementedError


@dataclass(frozen=True)
class Unimportable(Walk):
    """Kills any worker that unpickles it."""

    name = "unimportable"

    def __setstate__(self, state):
        os._exit(3)


if __name__ == "__main__":
    # usage: sample_experiments.py FOLDER N PAUSE WORKERS [ENGINE]
    # Python ignores Ctrl-C if its parent did, as those of a test suite in the background do.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder, n, pause, workers, *engine = sys.argv[1:]
    # Not the class of __main__, which other processes know by another name.
    from sample_experiments import Walk as ImportableWalk

    done = run(
        ImportableWalk(n=int(n), pause=float(pause)),
        folder=folder,
        workers=int(workers),
        engine=engine[0] if engine else "local",
    )
    done.write_report()

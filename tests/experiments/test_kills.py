"""Drivers and workers killed at bad moments; the bytes must not know."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sample_experiments
from sample_experiments import Walk

from kedge.experiments import load_run, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

N, PAUSE = 12, 0.05


def start_driver(folder, n=N, pause=PAUSE, workers=2):
    """A driver in a process group of its own, as a shell would start it."""
    return subprocess.Popen(
        [sys.executable, sample_experiments.__file__, folder, str(n), str(pause), str(workers)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def task_files(folder):
    return list((folder / "tasks").glob("*.json"))


def wait_until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def members(group):
    """The living processes of a group, from /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def report_bytes(folder):
    return {path.name: path.read_bytes() for path in (folder / "report").iterdir()}


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The report of an undisturbed run."""
    folder = tmp_path_factory.mktemp("calm")
    run(Walk(n=N, pause=PAUSE), workers=1, folder=folder, progress=False).write_report()
    return report_bytes(folder)


def test_a_driver_killed_again_and_again_ends_with_the_same_bytes(tmp_path, calm):
    folder = tmp_path / "run"
    # Before the folder, around the header, and between tasks.
    for moment in (
        lambda: True,
        folder.exists,
        (folder / "experiment.json").exists,
        *(lambda count=count: len(task_files(folder)) >= count for count in (1, 4, 8, N)),
    ):
        driver = start_driver(folder)
        wait_until(moment)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        # Its workers do not work on for nobody.
        wait_until(lambda group=driver.pid: not members(group), 5.0)
    driver = start_driver(folder)
    assert driver.communicate()[0] == ""
    assert driver.returncode == 0
    assert report_bytes(folder) == calm
    # Nothing that was finished has been computed twice but for what was in flight.
    assert [session["missing"] for session in load_run(folder).sessions][-1] < N


def test_workers_shot_from_outside(tmp_path, calm):
    folder = tmp_path / "run"
    driver = start_driver(folder)
    for count in (1, 3, 5):
        wait_until(lambda count=count: len(task_files(folder)) >= count)
        workers = Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text().split()
        # The first child is multiprocessing's resource tracker.
        os.kill(int(workers[-1]), signal.SIGKILL)
    out, err = driver.communicate()
    # A line's text and its end are two writes: those of two workers may fall into one another.
    assert (driver.returncode, out, err.replace("noise on stdout", "").strip()) == (0, "", "")
    assert report_bytes(folder) == calm


def test_ctrl_c_keeps_what_is_finished(tmp_path, calm):
    folder = tmp_path / "run"
    driver = start_driver(folder)
    wait_until(lambda: len(task_files(folder)) >= 3)
    pressed = time.monotonic()
    os.killpg(driver.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, err = driver.communicate()
    assert time.monotonic() - pressed < 3
    assert driver.returncode in (130, -signal.SIGINT)
    assert err.splitlines().count("KeyboardInterrupt") == 1  # the driver's own; workers stay silent
    wait_until(lambda: not members(driver.pid), 2.0)
    done = len(task_files(folder))
    assert 3 <= done < N
    finished = run(Walk(n=N, pause=PAUSE), workers=2, folder=folder, progress=False)
    assert load_run(folder).sessions[-1]["missing"] == N - done
    finished.write_report()
    assert report_bytes(folder) == calm


def test_ctrl_c_does_not_wait_for_long_tasks(tmp_path):
    driver = start_driver(tmp_path / "run", n=2, pause=600)
    wait_until(lambda: len(list(Path(os.environ["KEDGE_TEST_MARKS"]).glob("start-*"))) == 2)
    os.kill(driver.pid, signal.SIGINT)
    driver.communicate(timeout=5)
    assert driver.returncode in (130, -signal.SIGINT)
    wait_until(lambda: not members(driver.pid), 2.0)


def test_two_drivers_in_one_folder_do_no_harm(tmp_path, calm):
    drivers = [start_driver(tmp_path / "run") for _ in range(2)]
    for driver in drivers:
        driver.communicate()
    assert [driver.returncode for driver in drivers] == [0, 0]
    assert report_bytes(tmp_path / "run") == calm

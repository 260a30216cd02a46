"""One process disturbs nothing: determinism, resumption, failures."""

import json
import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from sample_experiments import Bad, Unfit, Unimportable, Walk, marks

from kedge.errors import ExperimentError, InputError
from kedge.experiments import Experiment, Task, load_run, run
from kedge.experiments.experiment import task_rng


def report_bytes(run):
    return {path.name: path.read_bytes() for path in run.write_report()}


def task_files(folder):
    return sorted((folder / "tasks").glob("*.json"))


def test_any_number_of_workers_gives_the_same_bytes(tmp_path, capfd):
    one = run(Walk(), workers=1, folder=tmp_path / "one", progress=False)
    two = run(Walk(), workers=2, folder=tmp_path / "two")
    assert capfd.readouterr().out == ""  # what tasks print stays out of the driver's stdout
    names = {"report.txt", "report.csv", "report.tex", "report.json", "figure.svg", "figure.png"}
    assert report_bytes(one).keys() == names
    assert report_bytes(one) == report_bytes(two)
    assert [p.read_bytes() for p in task_files(one.folder)] == [
        p.read_bytes() for p in task_files(two.folder)
    ]
    assert all(result["threads"] == "1" for result in two.results.values())
    # Nor does the engine matter, when BLAS has as many threads in this process.
    inline = run(Walk(), engine="inline", folder=tmp_path / "inline")
    assert inline.results.keys() == two.results.keys()
    assert [r["path"] for r in inline.results.values()] == [r["path"] for r in two.results.values()]
    assert capfd.readouterr().out == ""


def test_streams_are_those_of_spawn():
    children = np.random.SeedSequence(7).spawn(3)
    for index, child in enumerate(children):
        assert task_rng(7, index).random() == np.random.default_rng(child).random()


def test_odd_floats_survive_and_results_keep_the_order_of_tasks():
    first = run(Walk(), engine="inline")
    again = run(Walk(), engine="inline")
    assert list(first.results) == [task.key for task in Walk().tasks()]
    odd = [result["odd"] for result in again.results.values()]
    assert math.isnan(odd[0])
    assert odd[1:3] == [math.inf, -math.inf]


def test_a_second_run_computes_only_what_is_missing(own_home):
    first = run(Walk(n=5), engine="inline")
    assert first.folder.parent == own_home / "runs"
    before = report_bytes(first)
    missing, damaged, foreign, *_ = task_files(first.folder)
    indices = [json.loads(p.read_bytes())["index"] for p in (missing, damaged, foreign)]
    missing.unlink()
    damaged.write_bytes(damaged.read_bytes()[:-20])
    foreign.write_bytes(foreign.read_bytes().replace(b'"digest":"', b'"digest":"0'))
    second = run(Walk(n=5), engine="inline")
    assert [marks(f"start-{i}") for i in range(5)] == [2 if i in indices else 1 for i in range(5)]
    assert report_bytes(second) == before
    assert [session["missing"] for session in load_run(second.folder).sessions] == [5, 3]


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"result": {}, "sha256": ""}'],
)
def test_a_corrupt_task_file_is_computed_again(content):
    first = run(Walk(n=1), engine="inline")
    (path,) = task_files(first.folder)
    whole = path.read_bytes()
    path.write_bytes(content)
    run(Walk(n=1), engine="inline")
    assert path.read_bytes() == whole


def test_a_changed_value_in_a_task_file_is_noticed():
    first = run(Walk(n=1), engine="inline")
    (path,) = task_files(first.folder)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"i":0,"mean"', b'"i":1,"mean"'))
    assert path.read_bytes() != whole
    run(Walk(n=1), engine="inline")
    assert path.read_bytes() == whole


def test_without_ray_there_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="Ray is not installed"):
        run(Walk(n=1), engine="ray", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    disturbed = run(Walk(fault="die once"), workers=2, folder=tmp_path / "a")
    assert marks("died") == 1
    assert [marks(f"start-{i}") for i in range(6)] == [1, 1, 2, 1, 1, 1]
    # The mark is there now, so this run is undisturbed.
    calm = run(Walk(fault="die once"), workers=2, folder=tmp_path / "b")
    assert report_bytes(disturbed) == report_bytes(calm)


def test_a_task_that_always_kills_its_worker_is_given_up_and_the_others_finish():
    with pytest.raises(ExperimentError, match=r"1 of 6 tasks failed; task '../λ = 2/6': its wor"):
        run(Walk(fault="die", pause=0.02), workers=2)
    assert [marks(f"start-{i}") for i in range(6)] == [1, 1, 3, 1, 1, 1]


@pytest.mark.parametrize(
    ("fault", "message"),
    [("raise", "ArithmeticError: two is not$"), ("exit", "SystemExit: leaving$")],
)
def test_a_task_that_raises_fails_alone(fault, message):
    with pytest.raises(ExperimentError, match=message) as caught:
        run(Walk(fault=fault), engine="inline")
    assert list(caught.value.failures) == ["../λ = 2/6"]
    assert "in fail" in caught.value.failures["../λ = 2/6"]
    with pytest.raises(ExperimentError):
        run(Walk(fault=fault), engine="local", workers=1)
    assert [marks(f"start-{i}") for i in range(6)] == [1, 1, 2, 1, 1, 1]


def test_what_all_tasks_find_wrong_with_the_input_is_said_once():
    for engine in ("inline", "local"):
        with pytest.raises(InputError, match=r"^the game has three players$"):
            run(Unfit(), engine=engine)
    with pytest.raises(ExperimentError, match="2 of 2 tasks failed; task 'a': InputError: a is"):
        run(Unfit(alike=False), engine="inline")


def test_a_result_that_is_not_json_says_where():
    with pytest.raises(ExperimentError, match=r"TypeError: result\.x\.y: set cannot be written"):
        run(Bad(), engine="inline")


def test_workers_that_cannot_start_are_an_error_not_a_loop():
    with pytest.raises(ExperimentError, match="do not start: ended with exit code 3"):
        run(Unimportable(), workers=1)


def test_wrong_arguments():
    with pytest.raises(InputError, match="engine"):
        run(Walk(), engine="steam")
    with pytest.raises(InputError, match="workers"):
        run(Walk(), workers=0)
    with pytest.raises(InputError, match="address"):
        run(Walk(), address="auto")
    with pytest.raises(InputError, match="seed"):
        run(Walk(seed=-1))


def test_duplicate_keys_and_undecorated_classes_are_programming_errors():
    @dataclass(frozen=True)
    class Twice(Walk):
        def tasks(self):
            return [Task("a"), Task("a")]

    class Undecorated(Walk):
        extra: int = 1

    with pytest.raises(ValueError, match="two tasks have the key 'a'"):
        run(Twice(), engine="inline")
    with pytest.raises(TypeError, match="decorated"):
        run(Undecorated(), engine="inline")


def test_the_digest_is_of_name_version_and_config():
    @dataclass(frozen=True)
    class Other(Walk):
        pass

    @dataclass(frozen=True)
    class Newer(Walk):
        version = 2

    base = Walk().digest
    assert base == Walk().digest == Other().digest == "4d50b2cc925c"
    changed = [Walk(seed=1), Walk(n=7), Walk(pause=0), Newer()]
    assert len({base, *(experiment.digest for experiment in changed)}) == 5


def test_config_is_plain_json():
    @dataclass(frozen=True)
    class Rich(Walk):
        grid: tuple[float, ...] = (0.1, math.inf)

    assert Rich().config()["grid"] == [0.1, math.inf]
    assert issubclass(Rich, Experiment)

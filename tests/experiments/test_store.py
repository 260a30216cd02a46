"""The run's folder: whose it is, what it is called, how it is removed."""

import json
import math
import os
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_experiments import Walk

from kedge.errors import InputError
from kedge.experiments import list_runs, load_run, remove_run, run
from kedge.experiments.experiment import jobs_of
from kedge.experiments.provenance import git_state
from kedge.experiments.store import Store, file_stem
from kedge.files import write_atomic
from kedge.jsonable import canonical, ordered

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=5,
)


def snapshot(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_saved_result_is_the_loaded_one(tmp_path):
    """Also the order of its keys, which a report may show."""
    [job, *_], store = jobs_of(Walk()), Store(Walk(), tmp_path / "run")
    store.open(6)
    saved = store.save(job, {"b": [{"y": 0.1, "x": -0.0}], "a": {"λ": None, "1": math.inf}})
    assert json.dumps(saved) == json.dumps(store.load(job))


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (Walk(n=3), "n is 2 there, 3 here"),
        (Walk(n=2, seed=5), "seed is 0 there, 5 here"),
        (Walk(n=2, fault="x"), 'fault is "" there, "x" here'),
    ],
)
def test_a_folder_of_another_config_is_left_alone(tmp_path, other, difference):
    run(Walk(n=2), engine="inline", folder=tmp_path / "run")
    before = snapshot(tmp_path / "run")
    with pytest.raises(InputError, match=difference) as caught:
        run(other, engine="inline", folder=tmp_path / "run")
    assert str(tmp_path / "run" / "experiment.json") in str(caught.value)
    assert snapshot(tmp_path / "run") == before


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"contains 'thesis.tex' but no experiment.json"):
        run(Walk(n=1), engine="inline", folder=folder)
    assert [p.name for p in folder.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="cannot create folder"):
        run(Walk(n=1), engine="inline", folder=folder / "thesis.tex")


@pytest.mark.parametrize("keep", [0, 1, 40, -3])
def test_a_truncated_header_is_an_error_that_names_it(tmp_path, keep):
    run(Walk(n=2), engine="inline", folder=tmp_path / "run")
    header = tmp_path / "run" / "experiment.json"
    header.write_bytes(header.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"experiment\.json: damaged, not JSON") as caught:
        run(Walk(n=2), engine="inline", folder=tmp_path / "run")
    assert "\n" not in str(caught.value)
    # The advice it gives is sound: the results are still there.
    header.unlink()
    run(Walk(n=2), engine="inline", folder=tmp_path / "run")
    assert load_run(tmp_path / "run").sessions == []


def test_a_header_with_wrong_values_is_an_error(tmp_path):
    folder = tmp_path / "run"
    run(Walk(n=1), engine="inline", folder=folder)
    header = json.loads((folder / "experiment.json").read_text())
    for change in ({"sessions": 3}, {"config": None}, {"name": 1}):
        (folder / "experiment.json").write_text(json.dumps(header | change))
        with pytest.raises(InputError, match=f"{next(iter(change))!r} is missing or wrong"):
            run(Walk(n=1), engine="inline", folder=folder)
    (folder / "experiment.json").write_text("[]")
    with pytest.raises(InputError, match="not a run of this version"):
        load_run(folder)


@given(st.text(st.characters(exclude_categories=())))
def test_any_key_is_a_safe_file_name(key):
    stem = file_stem(key)
    assert len(stem) < 80
    assert stem.isascii()
    assert not set(stem) & set('/\\:*?"<>| \0')
    assert not stem.startswith(".")


def test_keys_that_look_alike_have_different_files():
    keys = ["a/b", "a_b", "a b", "A_B", "", "..", "../a_b", "x" * 500, "x" * 501, "CON"]
    assert len({file_stem(key).lower() for key in keys}) == len(keys)


def test_list_show_and_remove(own_home):
    assert list_runs() == []
    second = run(Walk(n=2), engine="inline")
    first = run(Walk(n=1), engine="inline")
    second.write_report()
    (own_home / "runs" / "not-a-run").mkdir()
    infos = {info.folder: info for info in list_runs()}
    assert infos.keys() == {first.folder, second.folder}
    info = infos[second.folder]
    assert (info.name, info.digest, info.done, info.total) == ("walk", Walk(n=2).digest, 2, 2)
    assert info.config == {"seed": 0, "n": 2, "pause": 0.0, "fault": ""}
    assert info.size == sum(len(content) for content in snapshot(second.folder).values())
    (session,) = info.sessions
    assert session["versions"].keys() >= {"python", "numpy"}
    assert session["machine"]["cores"] == os.cpu_count()
    assert load_run(second.folder.name) == info
    assert load_run(f"walk-{Walk(n=2).digest[:6]}") == info
    with pytest.raises(InputError, match="2 runs have names that start like this"):
        load_run("walk")
    assert remove_run(second.folder.name) == info
    assert [info.folder for info in list_runs()] == [first.folder]


def test_runs_are_not_listed_where_kedges_home_is_a_file(own_home):
    own_home.parent.mkdir(parents=True, exist_ok=True)
    own_home.write_text("a letter to my aunt")
    with pytest.raises(InputError, match=r"runs: cannot read \(Not a directory\)"):
        list_runs()


def test_clean_refuses_what_is_not_a_run(own_home, tmp_path):
    finished = run(Walk(n=1), engine="inline")
    (finished.folder / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"'mine.txt' is not part of a run"):
        remove_run(finished.folder)
    assert (finished.folder / "mine.txt").exists()
    for name in (tmp_path, own_home, "nothing", "", "..", "/"):
        with pytest.raises(InputError, match="not a run"):
            remove_run(name)
    assert load_run(finished.folder).done == 1


def test_stale_partial_files_are_ignored_and_swept():
    first = run(Walk(n=2), engine="inline")
    old, new = (first.folder / "tasks" / f".{age}.json.00.partial" for age in ("old", "new"))
    for path in (old, new):
        path.write_text("{")
    os.utime(old, (time.time() - 7200,) * 2)
    assert run(Walk(n=2), engine="inline").results.keys() == first.results.keys()
    # The new one may belong to another driver that is alive.
    assert not old.exists()
    assert new.exists()
    assert load_run(first.folder).done == 2
    remove_run(first.folder)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomic(path, "old")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"file: cannot write \(No space left on device\)"):
        write_atomic(path, "new")
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["file"]
    assert path.read_text() == "old"


def test_git_state_is_that_of_the_checkout_which_tracks_the_file(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True)

    git("init", "-q")
    source, untracked = tmp_path / "source.py", tmp_path / "untracked.py"
    source.write_text("1")
    untracked.write_text("1")
    git("add", "source.py")
    git("commit", "-q", "-m", "first")
    state = git_state(source)
    assert state is not None
    assert len(state["commit"]) == 40
    assert state["clean"]
    source.write_text("2")
    assert git_state(source) == {"commit": state["commit"], "clean": False}
    assert git_state(untracked) is None


@given(JSON_VALUES)
def test_results_are_ordered_as_in_their_files(value):
    assert json.dumps(ordered(value)) == json.dumps(json.loads(canonical(value)))

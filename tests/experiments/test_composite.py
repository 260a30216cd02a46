"""Experiments made of others: a result that is computed once serves all that need it."""

import pickle
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sample_experiments import Walk, mark, marks

from kedge.experiments import Column, Report, Table, list_runs, run
from kedge.experiments.composite import Composite
from kedge.experiments.experiment import jobs_of, task_rng
from kedge.experiments.store import Store, remove_run


@dataclass(frozen=True)
class Walks(Composite):
    """Two walks at once."""

    name = "walks"
    lengths: tuple[int, ...] = (2, 3)

    def parts(self):
        return {f"of {n}": Walk(n=n, seed=self.seed) for n in self.lengths}

    def gist(self, result):
        return {"mean": result["mean"]}

    def report(self, results):
        found = self.by_part(results)
        rows = [{"walk": label, "done": len(part)} for label, part in found.items()]
        return Report("walks", Table([Column("walk"), Column("done")], rows))


def quietly(experiment, **how):
    return run(experiment, engine="inline", progress=False, **how)


def test_a_composite_is_its_parts():
    done = quietly(Walks())
    assert list(done.results)[::4] == ["of 2: ../λ = 0/2", "of 3: ../λ = 2/3"]
    assert done.report().table.rows == [{"walk": "of 2", "done": 2}, {"walk": "of 3", "done": 3}]
    alone = quietly(Walk(n=3))
    assert [done.results[f"of 3: {key}"]["mean"] for key in alone.results] == [
        result["mean"] for result in alone.results.values()
    ]
    assert marks("start-*") == 5, "the walk of three was kept"
    assert sorted(info.name for info in list_runs()) == ["walk", "walk", "walks"]
    assert all(info.done == info.total for info in list_runs())


@dataclass(frozen=True)
class Marked(Walks):
    """Walks whose labels have a colon."""

    name = "marked"

    def parts(self):
        return {f"walk: of {n}": part for n, part in enumerate(super().parts().values())}


def test_labels_may_have_colons():
    marked, walks = (quietly(kind()) for kind in (Marked, Walks))
    assert [row["done"] for row in marked.report().table.rows] == [2, 3]
    assert list(marked.results.values()) == list(walks.results.values())


def test_the_parts_run_their_tasks():
    walks, results = Walks(), quietly(Walks()).results
    for job in jobs_of(walks):
        part, own, *_ = walks.origin(job)
        result = part.run(own.task, task_rng(part.seed, own.index))
        assert walks.gist(result) == results[job.task.key]


def test_composites_share_their_parts():
    quietly(Walk(n=2))
    quietly(Walks())
    quietly(Walks(lengths=(3, 4)))
    assert marks("start-*") == 2 + 3 + 4
    quietly(Walks(seed=1))
    assert marks("start-*") == 2 + 3 + 4 + 5


def test_only_parts_that_lack_something_are_checked(monkeypatch):
    """A table of what was computed elsewhere needs nothing that computed it."""
    quietly(Walk(n=2))
    asked = []
    monkeypatch.setattr(Walk, "check", lambda walk: asked.append(walk.n))
    quietly(Walks())
    assert asked == [3]


def test_a_part_with_all_results_is_not_checked(monkeypatch, tmp_path):
    results = quietly(Walks()).results
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "elsewhere"))
    jobs, store = jobs_of(Walks()), Store(Walks())
    store.open(len(jobs))
    for job in jobs[:2]:
        store.save(job, results[job.task.key])
    asked = []
    monkeypatch.setattr(Walk, "check", lambda walk: asked.append(walk.n))
    quietly(Walks())
    assert asked == [3]


def test_the_given_folder_is_where_results_are_missing(monkeypatch, tmp_path):
    here = tmp_path / "here"
    quietly(Walks(), folder=here)
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "elsewhere"))
    [lost] = here.glob("tasks/of_3*0_3.*")
    lost.unlink()
    checked = []
    monkeypatch.setattr(Walk, "check", lambda walk: checked.append(walk.n))
    quietly(Walks(), folder=here)
    assert checked == [3], "the folder has all results of the walk of two"


def test_results_in_another_folder_are_missing_in_the_given_one(monkeypatch, tmp_path):
    quietly(Walks())
    for info in list_runs():
        if info.name == "walk":
            remove_run(info.folder)
    checked = []
    monkeypatch.setattr(Walk, "check", lambda walk: checked.append(walk.n))
    quietly(Walks(), folder=tmp_path / "new")
    assert checked == [2, 3]


def test_parts_are_built_once(monkeypatch):
    built = []
    parts = Walks.parts
    monkeypatch.setattr(Walks, "parts", lambda walks: built.append(1) or parts(walks))
    walks = Walks()
    quietly(walks).report()
    assert len(built) == 1
    fresh = Walks()
    for same in (walks, pickle.loads(pickle.dumps(walks))):
        assert (same, repr(same), hash(same)) == (fresh, repr(fresh), hash(fresh))
        assert same.config() == fresh.config()
        assert same.digest == fresh.digest
    assert replace(walks, lengths=(3, 4)).digest == Walks(lengths=(3, 4)).digest != fresh.digest


@dataclass(frozen=True)
class Read(Walk):
    """A walk that depends on a file."""

    name = "read"
    file: str = ""

    def inputs(self):
        mark("read")
        return {"content": Path(self.file).read_text()}


def test_a_run_reads_its_inputs_once_and_every_run_anew(tmp_path):
    file = tmp_path / "file"
    file.write_text("before")
    experiment = Read(n=1, file=str(file))
    first = quietly(experiment)
    first.write_report()
    assert marks("read") == 1
    file.write_text("after")
    second = quietly(experiment)
    assert second.folder != first.folder
    assert marks("read") == 2
    for done, content in ((first, "before"), (second, "after")):
        assert done.experiment.identity()["config"]["content"] == content


@dataclass(frozen=True)
class Reads(Composite):
    """A walk that depends on a file, built with the experiment."""

    name = "reads"
    file: str = ""

    @cached_property
    def walk(self):
        return Read(n=1, file=self.file)

    def parts(self):
        return {"walk": self.walk}

    def report(self, results):
        raise NotImplementedError


def test_a_composite_reads_the_inputs_of_its_parts_anew(tmp_path):
    file = tmp_path / "file"
    file.write_text("before")
    experiment = Reads(file=str(file))
    first = quietly(experiment)
    assert quietly(experiment).folder == first.folder
    file.write_text("after")
    assert quietly(experiment).folder != first.folder
    assert marks("start-*") == 2


def test_other_parts_make_another_composite():
    assert Walks().digest == Walks().digest != Walks(lengths=(3, 2)).digest
    assert Walks(seed=1).inputs() != Walks().inputs()

"""The same experiment on a Ray cluster of two nodes, one of which is killed."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import sample_experiments
from sample_experiments import OnGpu, Walk, marks

from kedge.errors import InputError
from kedge.experiments import ExperimentError, load_run, run
from kedge.experiments.engines.cluster import gpus_per_task

ray = pytest.importorskip("ray", reason="ray is not installed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    from ray.cluster_utils import Cluster

    # Workers get their environment from the nodes, so all tests of this module share it.
    folder = tmp_path_factory.mktemp("marks")
    os.environ["KEDGE_TEST_MARKS"] = str(folder)
    health = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 6,  # a busy machine may be late
    }
    memory = 80 * 1024 * 1024
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "num_gpus": 1,  # which nobody has to have
            "object_store_memory": memory,
            "include_dashboard": False,
            "_system_config": health,
        },
    )
    cluster.marks = folder
    cluster.second = cluster.add_node(num_cpus=1, object_store_memory=memory)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def shared_marks(cluster, monkeypatch):
    monkeypatch.setenv("KEDGE_TEST_MARKS", str(cluster.marks))
    for path in cluster.marks.iterdir():
        path.unlink()
    return cluster.marks


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_node_dies_and_the_table_is_the_same(cluster, shared_marks, tmp_path):
    experiment = Walk(n=8, pause=0.5, fault="die once")
    raylet = cluster.second.all_processes["raylet"][0].process.pid
    killed = []

    def kill_the_node_while_it_works():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            finished = marks(f"off-{raylet}")
            if finished and marks(f"on-{raylet}") > finished:
                cluster.remove_node(cluster.second, allow_graceful=False)
                killed.append(raylet)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill_the_node_while_it_works)
    killer.start()
    distributed = run(
        experiment, engine="ray", address=cluster.address, folder=tmp_path / "ray", progress=False
    )
    killer.join()
    assert killed
    assert marks("died") == 1
    # One more start for the worker that killed itself, and for what the dead node had in hand.
    lost = marks(f"on-{raylet}") - marks(f"off-{raylet}")  # the other may be among them
    assert len(list(shared_marks.glob("start-*"))) >= 8 + max(1, lost)
    assert not ray.is_initialized()  # we joined, so we left; the cluster is still there

    local = run(experiment, workers=2, folder=tmp_path / "local", progress=False)
    for one, other in zip(distributed.write_report(), local.write_report(), strict=True):
        assert one.name == other.name
        assert one.read_bytes() == other.read_bytes()


def test_a_task_that_kills_its_worker_is_given_up(cluster, shared_marks, tmp_path):
    with pytest.raises(ExperimentError, match=r"1 of 4 tasks failed.*its worker died 3 times"):
        run(Walk(n=4, fault="die"), engine="ray", address=cluster.address, workers=2)
    assert marks("start-2") == 3
    # A session that the caller began is used, and left open.
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    with pytest.raises(ExperimentError, match="ArithmeticError: two is not"):
        run(Walk(n=4, fault="raise"), engine="ray")
    assert ray.is_initialized()
    ray.shutdown()


@pytest.mark.parametrize(("workers", "share"), [(None, 1.0), (3, 0.3333)])
def test_tasks_ask_for_a_gpu(cluster, workers, share):
    done = run(OnGpu(n=1), engine="ray", address=cluster.address, workers=workers)
    [result] = done.results.values()
    assert result == {"GPU": share, "shown": "0"}


def test_the_cpu_asks_for_no_gpu(cluster):
    done = run(OnGpu(n=1, device="cpu"), engine="ray", address=cluster.address)
    [result] = done.results.values()
    assert result["GPU"] is None


@pytest.mark.parametrize(
    ("device", "gpus", "said"), [("cuda:1", 2, "use cuda"), ("cuda", 0, "this Ray has no GPU")]
)
def test_a_gpu_that_ray_cannot_give(device, gpus, said):
    with pytest.raises(InputError, match=said):
        gpus_per_task(device, None, gpus)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "nowhere", "host:"])
def test_an_address_where_nobody_is(address):
    with pytest.raises(InputError, match="cannot join Ray at"):
        run(Walk(n=1), engine="ray", address=address)


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install '.\[cluster\]'"):
        run(Walk(n=1), engine="ray")


def test_ctrl_c_on_a_ray_of_our_own(tmp_path):
    folder = tmp_path / "run"
    # Some task ends within every poll: the interrupt must not wait for a pause between them.
    arguments = [str(folder), "200", "0.1", "2", "ray"]
    driver = subprocess.Popen(
        [sys.executable, sample_experiments.__file__, *arguments],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while len(list(folder.glob("tasks/*.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(driver.pid, signal.SIGINT)
    out, err = driver.communicate(timeout=15)
    assert driver.returncode in (130, -signal.SIGINT)
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    assert out == ""
    done = load_run(folder).done
    assert 2 <= done < 50

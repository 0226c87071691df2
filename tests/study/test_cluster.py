"""A study on a real Dask cluster of several processes, one of which is killed."""

import json
import subprocess
import sys
import textwrap
import time

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.study import load_plan, run_study
from tests.study.studies import contents, plan_toml, tiny

pytestmark = pytest.mark.slow

PLAN = plan_toml(max_evaluations=600)

# Dask's own warnings are not ours to turn into errors: clusters live in another process.
CLUSTER = """
    import sys
    from distributed import LocalCluster

    if __name__ == "__main__":
        with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None) as cluster:
            print(cluster.scheduler_address, flush=True)
            sys.stdin.read()
"""

STUDY = """
    import json, os, signal, sys
    from distributed import Client
    from pqswarm.study import load_plan, run_study

    plan, folder, address, kills = sys.argv[1:]
    killed = []

    def kill(progress):
        # Some runs have come a part of their way, and the worker is at work.
        if killed or kills == "0" or progress.stage != "searching" or not progress.evaluations_done:
            return
        busy = [worker for worker, tasks in client.processing().items() if tasks]
        if busy:
            os.kill(pids[busy[0]], signal.SIGKILL)
            killed.append([busy[0], progress.runs_done])

    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        run_study(load_plan(plan), folder, cluster=address, progress=kill)
    print(json.dumps(killed))
"""


@pytest.fixture
def cluster(tmp_path):
    """Start clusters of so many workers; all end with the test."""
    started = []

    def start(workers):
        script = tmp_path / "cluster.py"
        script.write_text(textwrap.dedent(CLUSTER))
        process = subprocess.Popen(
            [sys.executable, str(script), str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def study_on(address, tmp_path, folder, kills=0):
    (tmp_path / "plan.toml").write_text(PLAN)
    script = tmp_path / "study.py"
    script.write_text(textwrap.dedent(STUDY))
    return subprocess.run(
        [sys.executable, str(script), str(tmp_path / "plan.toml"), str(folder), address, str(kills)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_cluster_changes_nothing_even_if_a_worker_is_killed(cluster, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    run_study(load_plan(tmp_path / "plan.toml"), tmp_path / "local", jobs=2)
    _, address = cluster(3)
    run = study_on(address, tmp_path, tmp_path / "killed", kills=1)
    assert run.returncode == 0, run.stderr
    ((worker, runs_done),) = json.loads(run.stdout.splitlines()[-1])
    assert worker.startswith("tcp://")
    assert runs_done < 3 * 2 * 2, "it was killed after the searches"
    assert contents(tmp_path / "killed") == contents(tmp_path / "local")
    run = study_on(address, tmp_path, tmp_path / "whole")
    assert run.returncode == 0, run.stderr
    assert contents(tmp_path / "whole") == contents(tmp_path / "local")


def test_a_cluster_without_workers(cluster, tmp_path):
    _, address = cluster(0)
    run = study_on(address, tmp_path, tmp_path / "study")
    last = run.stderr.strip().splitlines()[-1]
    assert last == (
        f"pqswarm.errors.PqswarmError: the Dask cluster at {address} has no workers: start some with "
        f"'dask worker {address}'."
    )


def test_a_cluster_that_goes_away(cluster, tmp_path):
    """The finished runs are kept, and the command says how to go on."""
    process, address = cluster(2)
    (tmp_path / "plan.toml").write_text(plan_toml(max_evaluations=1_000_000))
    command = ["study", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "study"), "--cluster", address]
    study = subprocess.Popen([sys.executable, "-m", "pqswarm", *command], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (tmp_path / "study" / "dataset.npz").exists():
            time.sleep(0.2)
        time.sleep(4)
        process.kill()
        _, errors = study.communicate(timeout=90)
    finally:
        study.kill()
        study.wait()
    assert study.returncode == 2, errors
    assert "Traceback" not in errors
    assert errors.strip().splitlines()[-1] == (
        f"pqswarm: the Dask cluster at {address} has gone. What was found is kept: run the same command again when "
        f"there is a cluster."
    )


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1", "tcp://127.0.0.1:port"])
def test_a_wrong_address_is_said_before_the_work_begins(tmp_path, address):
    command = [
        sys.executable,
        "-m",
        "pqswarm",
        "study",
        "smoke",
        "--out",
        str(tmp_path / "study"),
        "--cluster",
        address,
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 2, run.stderr
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith(f"pqswarm: there is no Dask scheduler at {address!r}: ")
    assert last.endswith("Start one with 'dask scheduler'.")
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "study" / "dataset.npz").exists()


def test_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        PqswarmError, match=r"a Dask cluster needs the package distributed: pip install 'pqswarm\[dask\]'"
    ):
        run_study(tiny(), tmp_path, cluster="tcp://127.0.0.1:8786")

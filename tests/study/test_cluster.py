"""A multiverse on a real Dask cluster of several processes: without workers, with one that is killed, and gone."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.study import Store, load_plan, run_study
from tests.study.studies import FEW, contents, plan_toml, tiny, two_specifications_toml
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

# Dask's own warnings are not ours to turn into errors: clusters, and those who speak to them, live in other processes.
CLUSTER = """
    import sys
    from distributed import LocalCluster

    if __name__ == "__main__":
        with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None) as cluster:
            print(cluster.scheduler_address, flush=True)
            for line in sys.stdin:
                cluster.scale(int(line))
                cluster.wait_for_workers(int(line))
                print("ready", flush=True)
"""

STUDY = """
    import json, os, signal, sys
    from pathlib import Path
    from distributed import Client
    from pqswarm.errors import PqswarmError
    from pqswarm.study import load_plan, run_study

    address, plan, killed_folder, endless, gone_folder, errors, going_on = sys.argv[1:]
    killed = []

    def hold(going_on):
        # Each worker does one slice, and waits in the next until the other is dead: on a fast machine, too, it is busy.
        import time
        from pathlib import Path
        from pqswarm.study import worker

        advance, done = worker.advance, []

        def advance_and_wait(group, limit):
            while done and not Path(going_on).exists():
                time.sleep(0.01)
            done.append(1)
            return advance(group, limit)

        worker.advance = advance_and_wait

    def kill(progress):
        # Some runs have come a part of their way, and the worker is at work.
        if killed or progress.stage != "searching" or not progress.evaluations_done:
            return
        busy = [worker for worker, tasks in client.processing().items() if tasks]
        if busy:
            os.kill(pids[busy[0]], signal.SIGKILL)
            killed.append([busy[0], progress.runs_done])
            Path(going_on).touch()

    try:
        run_study(load_plan(plan), killed_folder, cluster=address)
    except PqswarmError as error:
        print(error, flush=True)
    sys.stdin.readline()  # now there are some workers
    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        client.run(hold, going_on)
        run_study(load_plan(plan), killed_folder, cluster=address, progress=kill)
    print(json.dumps(killed), flush=True)
    command = [sys.executable, "-m", "pqswarm", "study", endless, "--out", gone_folder, "--cluster", address]
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    os.execv(sys.executable, command)
"""

WRONG = """
    import os, sys
    import distributed, pqswarm.report.html  # before the forks, which all need them
    from pqswarm.cli.main import main
    from pqswarm.study import worker

    worker._PATIENCE = "1s"
    folder, *addresses = sys.argv[1:]
    for address in addresses:
        child = os.fork()
        if not child:
            sys.argv = ["pqswarm", "study", "smoke", "--out", folder, "--cluster", address]
            main()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"ended with {code}", file=sys.stderr, flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Start programs to speak with; all end with the test."""
    started = []

    def start(program, *arguments):
        script = tmp_path / f"{len(started)}.py"
        script.write_text(textwrap.dedent(program))
        errors = script.with_suffix(".txt")
        with errors.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, script, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env=os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s"},
            )
        started.append(process)
        return process, errors

    yield start
    for process in started:
        process.stdin.close()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def tell(process, line):
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_a_cluster_changes_nothing_even_if_a_worker_is_killed(start, tmp_path):
    (tmp_path / "plan.toml").write_text(two_specifications_toml())
    (tmp_path / "endless.toml").write_text(plan_toml(max_evaluations=1_000_000, classes=FEW))
    run_study(load_plan(tmp_path / "plan.toml"), tmp_path / "local", jobs=1)
    cluster, _ = start(CLUSTER)
    address = cluster.stdout.readline().strip()
    paths = ("plan.toml", "killed", "endless.toml", "gone", "gone.txt", "going-on")
    study, errors = start(STUDY, address, *(tmp_path / path for path in paths))
    assert study.stdout.readline() == (
        f"the Dask cluster at {address} has no workers: start some with 'dask worker {address}'.\n"
    )
    assert not (tmp_path / "killed" / "dataset.npz").exists()

    tell(cluster, 2)
    assert cluster.stdout.readline() == "ready\n"
    tell(study, "")
    ((worker, runs_done),) = json.loads(study.stdout.readline() or errors.read_text())
    assert worker.startswith("tcp://")
    total = sum(cell.n_runs for cell in load_plan(tmp_path / "plan.toml").cells().values())
    assert runs_done < total, "it was killed after the searches"
    assert contents(tmp_path / "killed") == contents(tmp_path / "local")
    assert "StageTwo" in {place[1] for place in contents(tmp_path / "killed")["findings"]}

    # The cluster goes away while the command runs: the finished runs are kept, and it says how to go on.
    def checkpoints():
        if not (tmp_path / "gone" / "dataset.npz").exists():
            return {}
        with Store(tmp_path / "gone") as store:
            return store.checkpoints()

    kept = wait_until(lambda: checkpoints() or study.poll() is not None, "there is a checkpoint", pause=0.1)
    cluster.kill()
    code, told = study.wait(timeout=PATIENCE), (tmp_path / "gone.txt").read_text()
    assert code == 2, told
    assert "Traceback" not in told
    last = told.strip().splitlines()[-1]
    assert last.startswith(f"pqswarm: the Dask cluster at {address} was lost")
    assert "run the same command again" in last
    with Store(tmp_path / "gone") as store:
        assert set(kept) <= set(store.checkpoints())


def test_a_wrong_address_is_said_before_the_work_begins(start, tmp_path):
    addresses = ("tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1", "tcp://127.0.0.1:port")
    process, errors = start(WRONG, tmp_path / "study", *addresses)
    assert process.wait(timeout=PATIENCE) == 0
    *told, rest = errors.read_text().split("ended with 2\n")
    for address, text in zip(addresses, told, strict=True):
        last = text.strip().splitlines()[-1]
        assert last.startswith(f"pqswarm: there is no Dask scheduler at {address!r}: ")
        assert last.endswith("Start one with 'dask scheduler'.")
        assert "Traceback" not in text
    assert not rest
    assert not (tmp_path / "study").exists()


def test_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PqswarmError, match="a Dask cluster needs the package distributed: make dask"):
        run_study(tiny(), tmp_path, cluster="tcp://127.0.0.1:8786")

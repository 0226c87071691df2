"""Workers that die: what they had in hand is done again, and nothing else changes."""

from concurrent.futures import Future
from types import SimpleNamespace

import psutil
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from pqswarm.errors import PqswarmError
from pqswarm.study import Store, run_study, scheduler
from pqswarm.study.progress import Meter
from pqswarm.study.worker import InlineExecutor, WorkerPool
from tests.study.studies import FEW, contents, tiny


@pytest.mark.slow
def test_death_of_workers_is_survived(tmp_path, monkeypatch):
    killed, restarted = [], []
    restart = WorkerPool.restart
    monkeypatch.setattr(WorkerPool, "restart", lambda pool: (restarted.append(1), restart(pool)))
    changes = {"max_evaluations": 600, "runs": 2, "classes": FEW}
    run_study(tiny(**changes), tmp_path / "undisturbed", jobs=1)

    def kill(progress):
        if progress.stage == "searching" and not killed:
            workers = [p for p in psutil.Process().children() if "LokyProcess" in " ".join(p.cmdline())]
            if workers:
                workers[-1].kill()
                killed.append(workers[-1].pid)

    run_study(tiny(**changes), tmp_path / "killed", jobs=2, progress=kill)
    assert killed
    assert restarted
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_death_of_an_idle_worker_is_noticed_when_work_is_handed_out(study, tmp_path, monkeypatch):
    submit, failures = InlineExecutor.submit, [TerminatedWorkerError("gone")] * 2

    def failing(executor, *arguments):
        if failures:
            raise failures.pop()
        return submit(executor, *arguments)

    monkeypatch.setattr(InlineExecutor, "submit", failing)
    run_study(tiny(), tmp_path, jobs=1)
    assert not failures
    assert contents(tmp_path) == contents(study)


def test_workers_that_always_die_are_an_error(tmp_path, monkeypatch):
    def failing(pool, *arguments):
        future = Future()
        future.set_exception(TerminatedWorkerError("a worker was killed"))
        return future

    monkeypatch.setattr(WorkerPool, "submit", failing)
    with pytest.raises(
        PqswarmError, match=r"workers died 6 times in a row \(a worker was killed\): is there enough mem"
    ):
        run_study(tiny(), tmp_path, jobs=1)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), r"a worker failed \(MemoryError\(\)\): is there enough memory\? Finished runs"),
        (ImportError("libx.so: failed to map segment"), r"a worker failed \(.*failed to map segment.*fewer jobs"),
        (OSError(12, "Cannot allocate memory"), r"a worker failed \(.*Cannot allocate memory"),
        (ModuleNotFoundError("No module named 'own'"), r"a worker lacks a package \(.*'own'.*install the same"),
    ],
)
def test_workers_without_memory_or_packages_are_explained(tmp_path, monkeypatch, error, told):
    def fail(*_):
        raise error

    monkeypatch.setattr(scheduler, "advance", fail)
    with pytest.raises(PqswarmError, match=told):
        run_study(tiny(), tmp_path, jobs=1)


def test_other_failures_of_workers_are_not_hidden(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "advance", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_study(tiny(), tmp_path, jobs=1)


def test_runs_that_fail_from_their_checkpoints_are_explained(study, monkeypatch):
    group = SimpleNamespace(checkpoints={"a run": "a checkpoint"}, slices=0)
    with Store(study) as store:
        begun = scheduler.Scheduler({"": tiny()}, store, Meter(tiny(), lambda now: None))
        monkeypatch.setattr(begun, "_group_unfinished_runs", lambda *_: [group])
        monkeypatch.setattr(scheduler, "advance", lambda *_: 1 / 0)
        pool = WorkerPool(InlineExecutor, 1, 1.0)
        with pytest.raises(
            PqswarmError, match=r"study\.sqlite: runs could not resume .*ZeroDivisionError.*restore the file"
        ):
            begun.search(pool, {}, sequential=False)


def test_slices_grow_to_the_wanted_length_and_stay_there():
    pool = SimpleNamespace(slice_seconds=5.0, submit=lambda work, group, limit: limit)
    limits = [scheduler.submit_slice(pool, SimpleNamespace(slices=slices)) for slices in (0, 1, 2, 3, 4, 10, 5000)]
    assert limits == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]

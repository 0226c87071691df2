"""Slices of work: the same however they are cut, grouped and shared, also if workers die with what they had in hand."""

import os
import re
import signal
import sys
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from math import inf
from pathlib import Path
from threading import Barrier, Thread
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, CachedEvaluator, Folds
from pqswarm.search import ALGORITHMS
from pqswarm.study import RunKey, Store, run_study, scheduler, worker
from pqswarm.study.progress import Meter
from pqswarm.study.scheduler import unfinished_runs
from pqswarm.study.worker import InlineExecutor, PlannedRun, RunGroup, StudyProblem, WorkerPool, advance
from tests.study.studies import FEW, contents, events_of_few, tiny
from tests.waiting import PATIENCE


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


@pytest.fixture(scope="module")
def problems():
    events, plan = events_of_few(10, inf), tiny()
    folds = Folds.stratified(events.y, 5, 0)
    return {
        c.name: StudyProblem(events.X(inf), events.y, folds.test_fold, c.make(), c.scaling) for c in plan.classifiers
    }


def nb(bandwidth):
    return CLASSIFIERS["kernel-nb"]({"bandwidth": bandwidth})


def group(problem, runs, max_evaluations=200, algorithm="2d-upso"):
    search = ALGORITHMS[algorithm]
    planned = {RunKey("any", algorithm, run): PlannedRun(search, {}, max_evaluations, run) for run in runs}
    return RunGroup(problem, planned, {})


def finished(problem, runs, limit, **changes):
    """The runs of a group in the end, and how many slices they took."""
    left, done, slices = group(problem, runs, **changes), {}, 0
    while True:
        outcome = advance(left, limit)
        slices += 1
        for record in outcome.finished:
            done[record.key.run] = (record.error, record.mask.tobytes(), record.result.improvements.tobytes())
            assert record.seconds > 0
        if not outcome.running:
            return done, slices
        before = [left.checkpoints[run.key].n_evaluations for run in outcome.running if run.key in left.checkpoints]
        assert sum(run.n_evaluations for run in outcome.running) > sum(before)
        left = unfinished_runs(left, outcome)


def test_companions_of_another_algorithm_change_nothing(problems):
    parts = [group(problems["NB"], [3, 1], algorithm=algorithm, max_evaluations=100) for algorithm in ("aco", "ga")]
    mixed = RunGroup(problems["NB"], {**parts[0].planned, **parts[1].planned}, {})
    together = {record.key: record for record in advance(mixed, inf).finished}
    for part in parts:
        for alone in advance(part, inf).finished:
            assert together[alone.key].result.improvements.tobytes() == alone.result.improvements.tobytes()


@pytest.mark.parametrize("classifier", ["k-NN", "NB"])
@pytest.mark.parametrize("algorithm", ["2d-upso", "aco", "cbpso"])
def test_cuts_and_companions_change_nothing(problems, classifier, algorithm):
    problem = problems[classifier]
    together, one = finished(problem, [3, 1, 4], inf, algorithm=algorithm)
    assert one == 1
    apart, many = finished(problem, [4, 3, 1], 0.0, algorithm=algorithm)
    assert many > 3
    assert apart == together
    assert finished(problem, [4], 0.0, algorithm=algorithm)[0] == {4: together[4]}


def test_threads_do_not_disturb_each_other(problems, monkeypatch):
    """A Dask worker has several, and a memory that is full forgets."""
    monkeypatch.setattr(worker, "_evaluators", OrderedDict())
    monkeypatch.setattr(worker, "_MEMORY", 20)
    alone = {run: finished(problems["NB"], [run], inf, max_evaluations=900)[0][run] for run in range(8)}
    barrier = Barrier(4)

    def work(run):
        barrier.wait(PATIENCE)
        return finished(problems["NB"], [run], 0.05, max_evaluations=900)[0][run]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert dict(enumerate(pool.map(work, range(8)))) == alone
    finally:
        sys.setswitchinterval(interval)
    assert len(worker._evaluators) == 1


def test_few_evaluators_are_kept(problems, monkeypatch):
    monkeypatch.setattr(worker, "_evaluators", OrderedDict())
    base = problems["NB"]
    others = [replace(base, classifier=nb(width)) for width in (0.1, 0.2, 0.3)]
    memories = [worker._worker_evaluator(problem, "cpu") for problem in others]
    assert all(isinstance(memory, CachedEvaluator) for memory in memories)
    assert list(worker._evaluators) == [f"cpu {problem.key}" for problem in others[1:]]
    assert worker._worker_evaluator(others[2], "cpu") is memories[2]
    assert worker._worker_evaluator(others[0], "cpu") is not memories[0]


def test_threads_that_share_a_gpu_keep_each_others_evaluators(problems, monkeypatch):
    monkeypatch.setattr(worker, "_evaluators", OrderedDict())
    searched = StudyProblem.searched
    monkeypatch.setattr(StudyProblem, "searched", lambda problem, n_jobs, device: searched(problem, 1, "cpu"))
    with worker.worker_pool(1, device="cuda") as pool:
        at_once = [replace(problems["NB"], classifier=nb(0.1 * (1 + slot))) for slot in range(pool.slots)]
    made = [worker._worker_evaluator(problem, "cuda") for problem in at_once]
    assert [worker._worker_evaluator(problem, "cuda") for problem in at_once] == made


def test_problems_are_told_apart_by_all_that_decides_errors(problems):
    base = problems["NB"]
    X = base.X.copy()
    X[5, 7] = np.nextafter(X[5, 7], inf)
    changed = [
        replace(base, X=X),
        replace(base, y=base.y[::-1]),
        replace(base, test_fold=base.test_fold[::-1]),
        replace(base, classifier=nb(0.005)),
        replace(base, classifier=CLASSIFIERS["kernel-nb"]({"bandwidth": 0.004, "floor": 0.1})),
        replace(base, classifier=CLASSIFIERS["gaussian-nb"]()),
        replace(base, scaling="minmax"),
        replace(base, scaling="standard"),
        replace(base, scaling="robust"),
        problems["k-NN"],
    ]
    assert len({base.key, *(problem.key for problem in changed)}) == 11
    copied = StudyProblem(base.X.copy(), base.y.copy(), base.test_fold.copy(), nb(0.004), "once")
    assert copied.key == base.key


def test_a_run_whose_checkpoint_cannot_be_used_begins_anew(problems):
    whole, _ = finished(problems["NB"], [3], inf)
    first = group(problems["NB"], [3])
    (kept,) = advance(first, 0.0).running
    for forged in ({"improvements": np.full((1, 3), np.nan)}, {"search.generator": np.zeros(6)}, {"more": np.ones(2)}):
        again = replace(first, checkpoints={kept.key: replace(kept, state={**kept.state, **forged})})
        (record,) = advance(again, inf).finished
        assert (record.error, record.mask.tobytes(), record.result.improvements.tobytes()) == whole[3]


def _grow():
    """Keep 400 MB for longer than joblib waits between two looks at the memory, and say which process this is."""
    sys.modules[__name__].kept = np.ones(50_000_000)
    time.sleep(1.2)
    return os.getpid()


@pytest.mark.slow
def test_a_worker_that_grows_is_kept():
    with worker._process_executor(1) as processes:
        assert processes.submit(_grow).result() == processes.submit(os.getpid).result()


class _DeathWhileSent:
    """Kills the process that pickles it, once that process has begun to send the result."""

    def __reduce__(self):
        before = _bytes_written()

        def die():
            while _bytes_written() == before:
                pass
            os.kill(os.getpid(), signal.SIGKILL)

        Thread(target=die).start()
        return object, ()


def _bytes_written():
    return re.search(r"wchar: (\d+)", Path("/proc/self/io").read_text())[1]


def _send_half():
    return _DeathWhileSent(), bytes(50_000_000)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts the bytes that a process writes as Linux does")
def test_a_worker_that_is_killed_while_it_sends_a_result_is_dead():
    with worker.worker_pool(2) as pool:
        with pytest.raises(BrokenProcessPool) as failure:
            pool.submit(_send_half).result(PATIENCE)
        assert worker.is_worker_death(failure.value)
        pool.restart()
        assert pool.submit(int).result(PATIENCE) == 0

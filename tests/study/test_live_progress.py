"""A study is followed from its store alone: what is seen, and that nobody is in the way of who writes."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult
from pqswarm.study import RunKey, RunRecord, Store, findings, load_plan, progress
from pqswarm.study.progress import Follower
from pqswarm.study.records import Checkpoint
from pqswarm.study.store import is_study_locked, lock_study


def record(algorithm, run, error, n_evaluations=120, size=3):
    mask = np.arange(99) < size
    result = SearchResult("GA", mask, error, n_evaluations, np.array([[0.0, error, size]]))
    return RunRecord(RunKey("NB", algorithm, run), 7, result, 0.5)


@pytest.fixture
def begun(tmp_path):
    plan = load_plan("smoke")
    with Store(tmp_path, write=True) as store:
        store.put(findings.About(plan.model_dump(), "0", 0.0, {}), findings.Events(140, "digest"))
        yield store


def test_what_is_new_is_seen(begun):
    with closing(Follower(begun.folder)) as follower:
        first = follower.read_status()
        assert (first.progress.runs_done, first.progress.runs_total, first.progress.best) == (0, 38, {})
        begun.save_checkpoints([Checkpoint(RunKey("NB", "ga", 0), 60, 0.3, {"a": np.arange(3)}, 0.1)])
        begun.finish(record("aco", 1, 0.2))
        second = follower.read_status()
        assert second.progress.evaluations_done == 180
        assert second.progress.rate > 0
        assert second.progress.fraction > first.progress.fraction
        assert (second.progress.best["NB"].error, second.progress.best["NB"].size) == (0.2, 3)
        begun.finish(record("ga", 0, 0.1))
        assert [run.key for run in begun.finished()] == [RunKey("NB", "aco", 1), RunKey("NB", "ga", 0)]
        third = follower.read_status()
        assert third.progress.runs_done == 2
        assert [(s.name, s.done, s.total) for s in third.stages[:3]] == [
            ("data", 2, 2),
            ("hyperparameters", 0, 2),
            ("searches", 2, 38),
        ]


def test_the_store_is_read_only_if_it_has_changed(begun, monkeypatch):
    with closing(Follower(begun.folder)) as follower:
        follower.read_status()
        monkeypatch.setattr(follower.store, "statuses", lambda: pytest.fail("read again"))
        follower.read_status()


def test_who_writes_is_not_held_up(begun):
    with closing(Follower(begun.folder)) as follower:
        follower.read_status()
        begun.finish(record("ga", 0, 0.1))
        follower.read_status()
        with sqlite3.connect(begun.path, isolation_level=None) as other:
            assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0  # nobody reads
        other.close()
        assert follower.read_status().progress.runs_done == 1


def test_running_stopped_finished(begun):
    if is_study_locked(begun.folder) is None:
        pytest.skip("this system does not tell who holds a lock")
    with closing(Follower(begun.folder)) as follower:
        assert follower.read_status().state == "stopped"
        with lock_study(begun.folder):
            assert is_study_locked(begun.folder)
            assert follower.read_status().state == "running"
        assert not is_study_locked(begun.folder)
        begun.put(findings.Finished(1.0))
        seen = follower.read_status()
        assert (seen.state, seen.progress.stage) == ("finished", "finished")


def test_rates_of_a_study_that_is_resumed_begin_anew(begun):
    """What was done before it is followed says nothing about how fast it is."""
    for run in range(3):
        begun.finish(record("ga", run, 0.1))
    with closing(Follower(begun.folder)) as follower:
        assert follower.read_status().progress.seconds_left == inf
        assert follower.read_status().progress.rate == 0.0


def test_a_study_that_stands_still_shows_what_is_done(begun):
    fractions = []
    for run in range(3):
        begun.finish(record("ga", run, 0.1))
        with closing(Follower(begun.folder)) as follower:
            fractions += [follower.read_status().progress.fraction for _ in range(2)]
    assert 0 < fractions[0] == fractions[1] < fractions[2] < fractions[4] < 1


def test_what_cannot_be_followed(tmp_path, begun):
    with pytest.raises(PqswarmError, match="there is no study"):
        Follower(tmp_path / "nothing")
    about = begun.find(findings.About)
    begun.put(replace(about, plan={"runs": "many"}), replace=True)
    with pytest.raises(PqswarmError, match="the stored plan of the study is invalid"):
        Follower(begun.folder)
    (tmp_path / "empty").mkdir()
    Store(tmp_path / "empty", write=True).close()
    with pytest.raises(PqswarmError, match="has not started"):
        Follower(tmp_path / "empty")


_KILLED = """
import os, signal, sys
from pqswarm.study import Store, findings, load_plan
store = Store(sys.argv[1], write=True)
store.put(findings.About(load_plan("smoke").model_dump(), "0", 0.0, {}), findings.Events(140, "digest"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_look_at_a_killed_study_changes_nothing(tmp_path):
    killed = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], check=False)
    assert killed.returncode == -signal.SIGKILL
    files = [tmp_path / "study.sqlite", tmp_path / "study.sqlite-wal"]
    before = [path.read_bytes() for path in files]
    assert before[1]
    with closing(Follower(tmp_path)) as follower:
        assert follower.read_status().stages[0].done == 2
        assert [path.read_bytes() for path in files] == before
    assert [path.read_bytes() for path in files] == before
    with Store(tmp_path, write=True) as resumed:
        assert resumed.find(findings.Events).digest == "digest"


def test_a_look_at_a_study_of_one_file_makes_no_other(begun):
    begun.close()
    assert [path.name for path in begun.folder.iterdir()] == ["study.sqlite"]
    with closing(Follower(begun.folder)) as follower:
        assert follower.read_status().progress.runs_done == 0
        assert [path.name for path in begun.folder.iterdir()] == ["study.sqlite"]
        with Store(begun.folder, write=True) as resumed:  # goes on while it is looked at
            resumed.finish(record("ga", 0, 0.1))
            assert follower.read_status().progress.runs_done == 1
            assert len(follower.store.finished()) == 1
            resumed.finish(record("ga", 1, 0.1))
            assert follower.read_status().progress.runs_done == 2
        assert follower.read_status().progress.runs_done == 2


def test_a_study_that_ends_while_it_is_followed_is_all_in_one_file(begun):
    with closing(Follower(begun.folder)) as follower:
        begun.finish(record("ga", 0, 0.1))
        follower.read_status()
        begun.close()
        assert not (begun.folder / "study.sqlite-wal").stat().st_size
        assert len(follower.store.finished()) == 1


def test_time_that_is_left_counts_no_compiling_and_a_report_as_it_is(monkeypatch):
    now, compiled, seen = 0.0, -inf, []
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    monkeypatch.setattr(progress, "last_compiled", lambda: compiled)
    meter = progress.Meter(load_plan("smoke"), seen.append)
    meter.report_stage("generating events")
    now = compiled = 60.0
    meter.step("events", 2)
    meter.report_stage("hyperparameters")
    assert seen[-1].seconds_left == inf  # a minute for a step that takes a second
    now = 62.0
    meter.step("hyperparameters")
    meter.report_stage("searching")
    # 2 s for 1500 evaluations' worth: 4560 for the searches, 4 events, 2 smaller subsets, 4 of stage II and 8 tests.
    steps = 4 * 300 + 1500 + 2 * 150 + 4 * 50 + 8 * 150
    assert seen[-1].seconds_left == pytest.approx((38 * 120 + steps) / 750 + progress._REPORT_SECONDS)


def test_time_that_is_left_is_right_within_a_factor_of_two_from_a_tenth_of_the_work_on(monkeypatch):
    """Whatever a step and an evaluation cost, and though searches differ: here two workers and costs of our own."""
    plan = load_plan("smoke", {"runs": 20})
    costs = {"events": 1.0, "hyperparameters": 0.2, "smaller": 3.0, "stage II": 1.5, "held-out": 2.0}
    now, seen = 0.0, []
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    monkeypatch.setattr(progress, "last_compiled", lambda: -inf)
    meter = progress.Meter(plan, lambda told: seen.append((now, told)))

    def step(what, times=1):
        nonlocal now
        meter.report_stage(what)
        now += costs[what] * times
        meter.step(what, times)

    step("events", 2)
    for _ in range(2):
        step("hyperparameters")
    meter.restart()
    runs = [(run, algorithm) for run in range(20) for algorithm in plan.searched] + [(0, plan.sequential[0])]
    for run, algorithm in runs:
        for classifier, slow in (("k-NN", 1.0), ("NB", 3.0)):
            seconds = slow * (5 if algorithm.name == "aco" else 1)
            now += seconds / 2
            made = record(algorithm.name, run, 0.1)
            key = replace(made.key, classifier=classifier)
            meter.count_runs([replace(made, key=key, seconds=seconds)], [])
            meter.report_stage("searching")
    for what, times in (("smaller", 2), ("stage II", 4)):
        for _ in range(times):
            step(what)
    for _ in range(2):
        step("events", 2)
        for _ in range(4):
            step("held-out")
    meter.report_stage("tested")
    end = now + progress._REPORT_SECONDS
    ratios = [told.seconds_left / (end - at) for at, told in seen if at >= end / 10]
    assert min(ratios) > 0.5
    assert max(ratios) < 2
    fractions = [told.fraction for _, told in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1 - progress._REPORT_SECONDS / end, abs=0.1)  # the bar covers the report, too

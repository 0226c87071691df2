"""The race against peers, without the peers: processes that end, saved results, tables."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
WORKS = """
import os, time
from race.process import start_clock

def spin(limit):
    start_clock(limit)
    while True:
        pass

def hang(limit):
    time.sleep(60)

def die(limit):
    os._exit(3)

def fail(limit):
    print("a peer that talks")
    raise ValueError("no such subset" + chr(10) + "more")

def answer(limit, number):
    return {"status": "done", "number": number}
"""


@pytest.fixture(scope="module")
def peers():
    sys.path.insert(0, str(BENCHMARKS))
    import peers

    yield peers
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def works(peers, tmp_path, monkeypatch):
    (tmp_path / "peer_works.py").write_text(WORKS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(peers.process, "PRELOADED", [])
    import peer_works

    return peer_works


def record(problem, method, held_out, **others):
    case = {"suite": "test", "problem": problem, "estimator": "k-nn", "split": "0", "method": method, "limit": "5"}
    numbers = {"status": "done", "J": "0.1", "held_out": str(held_out), "size": "4", "seconds": "1.5", "mb": "7"}
    return case | numbers | {"version": "1.0", "reason": ""} | others


def test_each_end_of_a_process_is_a_record(peers, works, monkeypatch):
    attempt = peers.process.attempt
    assert attempt(works.answer, 5, 7) == {"status": "done", "number": 7}
    assert attempt(works.fail, 5) == {"status": "failed", "reason": "ValueError: no such subset"}
    assert attempt(works.die, 5) == {"status": "failed", "reason": "the process ended with 3"}
    assert attempt(works.spin, 0.3) == {"status": "over"}
    monkeypatch.setattr(peers.process, "IDLE", 2)
    start = time.perf_counter()
    assert attempt(works.hang, 1) == {"status": "failed", "reason": "it did nothing for 2 s"}
    assert time.perf_counter() - start < 50


def test_a_method_stops_at_the_limit_and_keeps_what_it_has(peers):
    from race.methods import Method, Task

    rng = np.random.default_rng(0)
    task = Task(rng.normal(size=(30, 4)), np.arange(30) % 2, GaussianNB(), StratifiedKFold(3), 0)

    def select(task):
        task.keep([1, 2])
        raise peers.process.TimeIsUp

    mask, over = Method("late", select, "scikit-learn").run(task)
    assert over
    assert mask.tolist() == [False, True, True, False]
    mask, over = Method("early", lambda task: task.keep([0]), "scikit-learn").run(task)
    assert not over
    assert mask.tolist() == [True, False, False, False]


def test_a_race_resumes_where_it_stopped(peers, tmp_path, monkeypatch):
    out, tried = tmp_path / "race.csv", []
    ends = {"sfs": {"status": "failed", "reason": "no subset"}, "sffs": {"status": "missing", "reason": "no mlxtend"}}

    def attempt(work, limit, data, names, method, seed, regression):
        tried.append((method, *names))
        return dict(ends[method]) if method in ends else work(limit, data, names, method, seed, regression)

    monkeypatch.setattr(peers.process, "attempt", attempt)
    monkeypatch.setattr(peers.process, "start_clock", lambda limit, raising: None)
    methods = ["all", "sfs", "sffs"]
    tasks = peers.tasks_of("tuning", ["digits"], methods, 1, {})
    peers.race("tuning", tasks[:3], 5, ".", out)
    assert tried == [("all", "k-nn", "gaussian-nb"), ("sfs", "k-nn"), ("sfs", "gaussian-nb")]
    left = peers.tasks_of("tuning", ["digits"], methods, 1, peers.read(out))
    assert [task[2:] for task in left] == [("sffs", ("k-nn",)), ("sffs", ("gaussian-nb",))]
    peers.race("tuning", left, 5, ".", out)
    records = peers.read(out)
    assert len(records) == 6
    assert peers.tasks_of("tuning", ["digits"], methods, 1, records) == left, "a missing package may be installed"
    again = peers.tasks_again("tuning", ["swarm"], records)
    assert again == [("digits", 0, "swarm", ("k-nn",)), ("digits", 0, "swarm", ("gaussian-nb",))]
    assert peers.tasks_again("tuning", ["boruta"], records) == [("digits", 0, "boruta", ("k-nn", "gaussian-nb"))]
    turns = peers.tasks_of("tuning", ["digits", "linear-100"], ["all"], 3, {}, alternate=True)
    assert [task[3] for task in turns if task[0] == "linear-100"] == [("ridge",)] * 3
    assert len({task[3] for task in turns[::2]}) == 2
    assert records["tuning", "digits", "k-nn", "0", "all"]["size"] == "61"
    assert 0 < float(records["tuning", "digits", "k-nn", "0", "all"]["held_out"]) < 0.2


def test_tables_show_ranks_and_losses(peers):
    records = [
        *(record("one", m, e) for m, e in (("swarm", 0.1), ("sfs", 0.2), ("all", 0.3))),
        *(record("two", m, e) for m, e in (("swarm", 0.3), ("sfs", 0.2), ("all", 0.25))),
        record("three", "swarm", 0.1),
        record("three", "sfs", "", status="failed", reason="ValueError"),
        record("three", "all", 0.4),
        record("four", "swarm", 0.1),
    ]
    methods, problems, errors, ranks = peers.table.ranked(records)
    assert problems == ["one", "three", "two"], "a problem that a method has not run on does not count"
    assert methods == ["swarm", "sfs", "all"]
    np.testing.assert_allclose(ranks, [5 / 3, 5.5 / 3, 7.5 / 3])
    assert errors[1].tolist() == [0.1, 0.4, 0.4], "without a selection, all features are used"
    text = peers.table.render(records)
    assert "not the best on 1 of 3: two (0.300; scikit-learn SequentialFeatureSelector 0.200)" in text
    page = peers.table.insert("before\n<!-- race a: begin -->\nold\n<!-- race a: end -->\nafter\n", text, "a")
    assert page.startswith("before\n")
    assert text in page
    assert "\nold\n" not in page
    with pytest.raises(SystemExit, match="race b: begin"):
        peers.table.insert(page, text, "b")

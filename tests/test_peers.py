"""The race against peers, without the peers: processes that end, saved results, tables."""

import json
import sys
import time
from pathlib import Path

import pytest

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


def record(method, seed=0, accuracy=0.9, **others):
    done = {"status": "done", "accuracy": accuracy, "features": 4, "seconds": 1.5, "evaluations": 100, "found": 3}
    told = {"data": "wide-500", "estimator": "knn", "method": method, "seed": seed, "version": "1.0"}
    return told | (others if "status" in others else done | others)


def test_each_end_of_a_process_is_a_record(peers, works, monkeypatch):
    attempt = peers.process.attempt
    assert attempt(works.answer, 5, 7) == {"status": "done", "number": 7}
    assert attempt(works.fail, 5) == {"status": "failed", "reason": "ValueError: no such subset"}
    assert attempt(works.die, 5) == {"status": "failed", "reason": "the process ended with 3"}
    assert attempt(works.spin, 1) == {"status": "over", "limit": 1}
    monkeypatch.setattr(peers.process, "IDLE", 2)
    start = time.perf_counter()
    assert attempt(works.hang, 1) == {"status": "failed", "reason": "it did nothing for 2 s"}
    assert time.perf_counter() - start < 50


def test_a_race_resumes_where_it_stopped(peers, tmp_path, monkeypatch):
    out, tried = tmp_path / "race.jsonl", []
    tasks = [("wine", "nb", method, seed) for seed in (0, 1) for method in ("all", "sfs", "sffs")]
    ends = {
        "all": peers.fit,
        "sfs": {"status": "over", "limit": 5},
        "sffs": {"status": "missing", "reason": "no mlxtend"},
    }

    def attempt(work, limit, split, name, method, seed):
        tried.append((method, seed))
        end = ends[method]
        return end if isinstance(end, dict) else end(limit, split, name, method, seed)

    monkeypatch.setattr(peers.process, "attempt", attempt)
    monkeypatch.setattr(peers.process, "start_clock", lambda limit: time.process_time())
    peers.race(tasks[:4], {}, 5, out)
    assert tried == [("all", 0), ("sfs", 0), ("sffs", 0), ("all", 1)]
    left = peers.left_to_do(tasks, peers.read(out), 5)
    assert [task[2:] for task in left] == [("sffs", 0), ("sfs", 1), ("sffs", 1)]
    tried.clear()
    peers.race(left, peers.read(out), 5, out)
    assert tried == [("sffs", 0), ("sffs", 1)], "a method that exceeds its time on one split is not tried on another"
    records = peers.read(out)
    assert len(out.read_text().splitlines()) == 7
    assert len(records) == 6
    assert records["wine", "nb", "all", 0]["features"] == 13
    assert 0.9 < records["wine", "nb", "all", 0]["accuracy"] <= 1
    assert [t[2:] for t in peers.left_to_do(tasks, records, 50) if t[2] == "sfs"] == [("sfs", 0), ("sfs", 1)]
    assert [t[2:] for t in peers.left_to_do(tasks, records, 5, ["all"]) if t[2] == "all"] == [("all", 0), ("all", 1)]
    assert json.loads(out.read_text().splitlines()[1])["status"] == "over"


def test_tables_show_wins_losses_and_failures(peers):
    records = [
        record("swarm", 0, 0.8),
        record("swarm", 1, 0.7),
        record("sfs", 0, 0.9, found=5),
        record("sfs", 1, status="over", limit=60.0),
        record("mafese", status="failed", reason="ValueError: a|b"),
        record("boruta", version=None, status="missing", reason="no boruta; `pip install`"),
    ]
    text = peers.table.render(records)
    overview, rest = text.split("### synthetic, 600 x 500, 20 informative: k-NN")
    assert "| **SwarmSelector** | 0.750 | 2.0 |" in overview
    assert "| scikit-learn SequentialFeatureSelector | **0.900** | 1.0 |" in overview
    assert "| MAFESE, genetic | failed | 3.0 |" in overview
    assert "| Boruta | not installed |  |" in overview
    assert "| **SwarmSelector** | 0.750 ± 0.071 | 4.0 ± 0.0 | 3.0 ± 0.0 | 1.50 | 100 | 2 |" in rest
    assert "Selector | **0.900** | 4.0 | 5.0 | 1.50 | 100 | 1; over 60 s |" in rest
    assert "failed: ValueError: a\\|b" in rest
    assert "not installed: no boruta" in rest
    marks = (peers.table.BEGIN, peers.table.END)
    page = peers.table.insert(f"before\n{marks[0]}\nold\n{marks[1]}\nafter\n", text)
    assert page.startswith("before\n")
    assert page.endswith(f"{marks[1]}\nafter\n")
    assert text in page
    assert "old" not in page
    with pytest.raises(SystemExit, match="race: begin"):
        peers.table.insert("no marks", text)


def test_expected_time_follows_earlier_records(peers):
    tasks = [("wide-500", "knn", method, seed) for method in ("swarm", "sfs", "boruta") for seed in (0, 1)]
    records = {peers.key_of(r): r for r in (record("swarm", seconds=61.0), record("sfs", status="over", limit=60.0))}
    minutes, unknown = peers.expected_minutes(tasks, records, 60.0)
    assert unknown == 2
    assert minutes == pytest.approx((2 * 61 + 60 + 6 * 1.5) / 60)

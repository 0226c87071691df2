"""The store: exact, safe against kills, damage and full disks, and clear about what is wrong."""

import os
import shutil
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from math import inf
from pathlib import Path

import numpy as np
import pytest

import pqswarm.study
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.search import ALGORITHMS, Run
from pqswarm.study import RunKey, RunRecord, Store
from pqswarm.study.records import Checkpoint, packed_state, unpacked_state
from pqswarm.study.store import SCHEMA_VERSION

AWKWARD = [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 2**53 + 0.0]


def record(run=0, algorithm="2d-upso", error=1 / 3):
    rng = np.random.default_rng(run)
    mask = rng.random(99) < 0.3
    improvements = np.array([[0.0, inf, 99.0], [17.0, 0.1 + 0.2, 40.0], [90.0, error, float(mask.sum())]])
    return RunRecord(RunKey("k-NN", algorithm, run), 2**63 - 1 - run, error, mask, 6000, improvements, 1 / 7)


def checkpoint(run=0, algorithm="2d-upso"):
    made = Run(ALGORITHMS["2d-upso"](99, seed=2**63 - 1 - run), 6000)
    for _ in range(2):
        made.tell(made.ask().mean(axis=1) / 3)
    return Checkpoint(RunKey("k-NN", algorithm, run), made.n_evaluations, made.best_error, made.state(), 1 / 7)


def assert_same_record(one, other):
    assert (one.key, one.seed, one.error, one.n_evaluations, one.seconds) == (
        other.key,
        other.seed,
        other.error,
        other.n_evaluations,
        other.seconds,
    )
    assert one.mask.dtype == other.mask.dtype == np.bool_
    assert one.mask.tobytes() == other.mask.tobytes()
    assert one.improvements.dtype == np.float64
    assert one.improvements.tobytes() == other.improvements.tobytes()


def assert_same_state(one, other):
    assert set(one) == set(other)
    for name, array in one.items():
        assert array.dtype == other[name].dtype
        assert array.shape == other[name].shape
        assert array.tobytes() == other[name].tobytes()


def test_facts_come_back_bit_for_bit(tmp_path):
    values = {
        "numbers": AWKWARD,
        "infinite": [inf, -inf],
        "large": 2**200,
        "nested": {"a": {"ü / ö": [None, True, "text"]}, "b": []},
        "nothing": 0.0,
        "": "a name may be empty",
    }
    with Store(tmp_path / "new" / "folder", write=True) as store:
        for name, value in values.items():
            store.put_fact(f"x/{name}", value)
        store.put_fact("xy", 1)
        store.put_fact("xy", 2)
    with Store(tmp_path / "new" / "folder") as store:
        assert store.facts("x/") == values
        assert [value.hex() for value in store.fact("x/numbers")] == [value.hex() for value in AWKWARD]
        assert store.fact("xy") == 2
        assert store.fact("absent") is None
        assert store.fact("absent", 7) == 7


def test_runs_come_back_bit_for_bit(tmp_path):
    made = [record(2), record(10), record(1, "aco"), record(3, error=inf), record(4, error=5e-324)]
    with Store(tmp_path, write=True) as store:
        for one in made:
            store.finish(one)
    with Store(tmp_path) as store:
        found = store.finished()
    assert [one.key for one in found] == sorted(one.key for one in made)
    by_key = {one.key: one for one in made}
    for one in found:
        assert_same_record(one, by_key[one.key])
        assert one.size == one.mask.sum() == len(one.selected)
    assert found[0].seed == 2**63 - 3


def test_run_after_evaluations():
    after = record().error_after(np.array([0, 1, 17, 18, 90, 91, 6000]))
    np.testing.assert_array_equal(after, [inf, inf, inf, 0.1 + 0.2, 0.1 + 0.2, 1 / 3, 1 / 3])


def test_checkpoints_come_back_bit_for_bit_and_go_on_alike(tmp_path):
    made = checkpoint()
    with Store(tmp_path, write=True) as store:
        store.save_checkpoints([checkpoint(1), made])
    with Store(tmp_path) as store:
        found = store.checkpoints()
    assert set(found) == {made.key, RunKey("k-NN", "2d-upso", 1)}
    one = found[made.key]
    assert (one.n_evaluations, one.best_error, one.seconds) == (made.n_evaluations, made.best_error, made.seconds)
    assert_same_state(one.state, made.state)
    runs = [Run(ALGORITHMS["2d-upso"](99, seed=5), 6000) for _ in range(2)]
    for run, state in zip(runs, (one.state, made.state), strict=True):
        run.restore(state)
    np.testing.assert_array_equal(runs[0].ask(), runs[1].ask())


def test_finishing_removes_the_checkpoint_in_the_same_transaction(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.save_checkpoints([checkpoint(0), checkpoint(1)])
        store._db.execute("CREATE TRIGGER t BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(ABORT, 'stop'); END")
        with pytest.raises(PqswarmError):
            store.finish(record(0))
        assert store.finished() == []
        assert len(store.checkpoints()) == 2
        store._db.execute("DROP TRIGGER t")
        store.finish(record(0))
        assert [one.key.run for one in store.finished()] == [0]
        assert [key.run for key in store.checkpoints()] == [1]


def test_checkpoints_are_kept_all_or_none(tmp_path):
    bad = Checkpoint(RunKey("k-NN", "2d-upso", 1), 5, None, {}, 0.0)
    with Store(tmp_path, write=True) as store:
        with pytest.raises(PqswarmError):
            store.save_checkpoints([checkpoint(0), bad])
        assert store.checkpoints() == {}


def test_a_finished_run_cannot_be_overwritten(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.finish(record(0))
        with pytest.raises(PqswarmError):
            store.finish(record(0, error=0.0))
        assert_same_record(store.finished()[0], record(0))


def test_readers_cannot_write_and_do_not_disturb(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.put_fact("a", 1)
        with Store(tmp_path) as reader:
            with pytest.raises(PqswarmError, match="cannot be written"):
                reader.put_fact("a", 2)
            store.put_fact("a", 3)
            assert reader.fact("a") == 3


def test_format_of_the_file(tmp_path):
    with Store(tmp_path, write=True), closing(sqlite3.connect(tmp_path / "study.sqlite")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION == 1
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    with Store(tmp_path, write=True) as store:
        assert store._db.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_there_is_no_study(tmp_path):
    with pytest.raises(PqswarmError, match=r"there is no study in .*: study.sqlite is missing"):
        Store(tmp_path / "nowhere")
    assert not list(tmp_path.iterdir())
    (tmp_path / "study.sqlite").touch()
    with pytest.raises(PqswarmError, match=r"there is no study in .*: study.sqlite is empty"):
        Store(tmp_path)


def test_an_empty_file_is_what_an_early_kill_leaves(tmp_path):
    (tmp_path / "study.sqlite").touch()
    with Store(tmp_path, write=True) as store:
        store.put_fact("a", 1)
    with closing(sqlite3.connect(tmp_path / "wal.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")
    (tmp_path / "b").mkdir()
    shutil.copy(tmp_path / "wal.sqlite", tmp_path / "b" / "study.sqlite")
    with Store(tmp_path / "b", write=True) as store:
        assert store.finished() == []


@pytest.mark.parametrize("write", [True, False])
def test_newer_schema_is_refused(tmp_path, write):
    with Store(tmp_path, write=True) as store:
        store._db.execute("PRAGMA user_version = 2")
    before = (tmp_path / "study.sqlite").read_bytes()
    with pytest.raises(FileFormatError, match="has schema 2, but this pqswarm reads 1: use the pqswarm that made it"):
        Store(tmp_path, write=write)
    assert (tmp_path / "study.sqlite").read_bytes() == before


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The bytes of a store with runs, facts and checkpoints."""
    folder = tmp_path_factory.mktemp("healthy")
    with Store(folder, write=True) as store:
        store.put_fact("plan", "x" * 3000)
        for run in range(40):
            store.finish(record(run))
        store.save_checkpoints([checkpoint(run) for run in range(40, 44)])
    assert not list(folder.glob("*-wal"))
    return (folder / "study.sqlite").read_bytes()


def foreign(path, version):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
        db.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("kind", ["truncated", "half", "header", "middle", "text", "foreign", "foreign of version 1"])
def test_damaged_and_foreign_files_are_refused_and_left_alone(tmp_path, healthy, kind, write):
    path = tmp_path / "study.sqlite"
    if kind.startswith("foreign"):
        foreign(path, 1 if kind.endswith("1") else 0)
    else:
        damaged = {
            "truncated": healthy[:-4096],
            "half": healthy[: len(healthy) // 2 + 100],
            "header": b"\0" * 100 + healthy[100:],
            "middle": healthy[:4096] + np.random.default_rng(0).bytes(8192) + healthy[12288:],
            "text": b"These are the notes of somebody else.\n" * 50,
        }
        path.write_bytes(damaged[kind])
    before = path.read_bytes()
    with pytest.raises(FileFormatError, match=r"damaged .*(restore it|recover)|no study of pqswarm: move it away"):
        Store(tmp_path, write=write)
    assert path.read_bytes() == before


def test_random_damage_gives_clear_errors_only(tmp_path, healthy):
    """Whatever bytes are hit: what is read is either refused with an explanation or well formed."""
    rng, outcomes = np.random.default_rng(1), Counter()
    for _ in range(250):
        content = bytearray(healthy)
        for place in rng.integers(0, len(content), size=rng.integers(1, 30)):
            content[place] = rng.integers(0, 256)
        (tmp_path / "study.sqlite").write_bytes(content)
        for leftover in tmp_path.glob("*-*"):
            leftover.unlink()
        try:
            with Store(tmp_path, write=True) as store:
                records, checkpoints = store.finished(), store.checkpoints()
                store.facts("")
        except PqswarmError:  # nothing else
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        outcomes["lost"] += 4 - len(checkpoints)
        for one in records:
            assert one.improvements.shape[1] == 3
            assert isinstance(one.error, float)
        for key, one in checkpoints.items():
            if key == checkpoint(key.run).key and 40 <= key.run < 44:
                assert_same_state(one.state, checkpoint(key.run).state)
    assert outcomes["refused"] > 20
    assert outcomes["read"] > 20
    assert outcomes["lost"] > 5


def test_a_damaged_checkpoint_is_ignored(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.save_checkpoints([checkpoint(run) for run in range(4)])
        store._db.execute("UPDATE checkpoints SET state = x'00' WHERE run = 0")
        store._db.execute("UPDATE checkpoints SET state = substr(state, 1, length(state) - 9) WHERE run = 1")
        store._db.execute("UPDATE checkpoints SET state = 'text' WHERE run = 2")
    with Store(tmp_path) as store:
        assert [key.run for key in store.checkpoints()] == [3]


def test_every_change_of_a_checkpoint_is_noticed():
    good = packed_state(checkpoint().state)
    assert_same_state(unpacked_state(good), checkpoint().state)
    rng = np.random.default_rng(0)
    damaged = [good[: rng.integers(0, len(good))] for _ in range(50)] + [b"", b"\x80", good + b"x"]
    for _ in range(200):
        content = bytearray(good)
        content[rng.integers(0, len(good))] ^= int(rng.integers(1, 256))
        damaged.append(bytes(content))
    for data in damaged:
        with pytest.raises(FileFormatError, match="a checkpoint is damaged"):
            unpacked_state(data)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET mask = substr(mask, 1, 50) || 'x' || substr(mask, 52)",
        "UPDATE runs SET size = size + 1",
        "UPDATE runs SET improvements = '[[1.0, 2.0], [3.0]]'",
        "UPDATE runs SET improvements = '[[1.0'",
        "UPDATE runs SET seed = 'seven'",
        "UPDATE runs SET error = 'small'",
        "UPDATE runs SET mask = x'3031'",
        "UPDATE facts SET value = '{'",
        "UPDATE facts SET value = CAST(x'ff22' AS TEXT)",
    ],
)
def test_rows_that_cannot_be_what_was_written_are_refused(tmp_path, change):
    with Store(tmp_path, write=True) as store:
        store.finish(record())
        store.put_fact("a", 1)
        store._db.execute(change)
    with Store(tmp_path) as store, pytest.raises(FileFormatError, match=r"is damaged .*restore it from a copy"):
        _ = store.finished(), store.fact("a")


def test_folders_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(PqswarmError, match=r"cannot use .*file for a study: File exists"):
        Store(tmp_path / "file", write=True)
    with pytest.raises(PqswarmError, match=r"cannot use .*study for a study: Not a directory"):
        Store(tmp_path / "file" / "study", write=True)
    with pytest.raises(PqswarmError, match="there is no study in"):
        Store(tmp_path / "file")
    with pytest.raises(PqswarmError, match="cannot use /proc/study for a study"):
        Store("/proc/study", write=True)
    (tmp_path / "a" / "study.sqlite").mkdir(parents=True)
    with pytest.raises(PqswarmError, match=r"cannot be written \(unable to open database file\): check the perm"):
        Store(tmp_path / "a", write=True)
    assert (tmp_path / "file").read_text() == "precious"


def test_read_only_file(tmp_path, monkeypatch):
    """As root may write anything, the database itself is told that it may not."""
    with Store(tmp_path, write=True) as store:
        store.finish(record(0))
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, uri, **options: connect(f"file:{path}?mode=ro", uri=True, **options)
    )
    with Store(tmp_path, write=True) as store:
        for write in (lambda: store.finish(record(1)), lambda: store.put_fact("a", 1)):
            with pytest.raises(
                PqswarmError, match=r"cannot be written \(attempt to write a readonly database\): check"
            ):
                write()
        assert_same_record(store.finished()[0], record(0))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PqswarmError, match="check the permissions"):
        Store(tmp_path, write=True)


def fill(store):
    """Finish runs until there is no room; return how many had found it."""
    done = 0

    def go_on():
        nonlocal done
        while done < 5000:
            store.finish(record(done))
            done += 1

    with pytest.raises(PqswarmError, match=r"the disk is full: .* Finished runs are safe; make room and run the same"):
        go_on()
    return done


def test_a_full_database_keeps_finished_runs(tmp_path):
    with Store(tmp_path, write=True) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 4}")
        done = fill(store)
        assert done > 3
        with pytest.raises(PqswarmError, match="the disk is full"):
            store.save_checkpoints([checkpoint()])
        assert len(store.finished()) == done
        store._db.execute("PRAGMA max_page_count = 100000")
        store.finish(record(done))
    with Store(tmp_path, write=True) as store:
        for run, one in enumerate(store.finished()):
            assert_same_record(one, record(run))
        assert len(store.finished()) == done + 1


def test_a_full_disk_keeps_finished_runs(tmp_path):
    """A real one, of half a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        with Store(disk / "study", write=True) as store:
            done = fill(store)
            assert len(store.finished()) == done > 3
        with Store(disk / "study") as store:
            for run, one in enumerate(store.finished()):
                assert_same_record(one, record(run))
        shutil.copytree(disk / "study", tmp_path / "study")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    with Store(tmp_path / "study", write=True) as store:
        assert len(store.finished()) == done
        store.finish(record(done))
    with pytest.raises(PqswarmError, match="there is no study"):
        Store(disk / "study")


def test_a_lock_of_another_program_is_named(tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(path, **options | {"timeout": 0.1}))
    with Store(tmp_path, write=True) as store, closing(connect(tmp_path / "study.sqlite", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(PqswarmError, match="is locked by another program: close it and try again"):
            store.put_fact("a", 1)
        db.execute("ROLLBACK")
        store.put_fact("a", 2)


def test_nothing_is_pickled(healthy):
    """Neither written nor read: a study from a stranger can be opened."""
    for path in Path(pqswarm.study.__path__[0]).glob("*.py"):
        text = path.read_text()
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text
    assert not any(array.dtype.hasobject for array in checkpoint().state.values())
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        unpacked_state(packed_state({"a": np.array([{}], dtype=object)}))

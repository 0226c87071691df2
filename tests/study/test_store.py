"""The store: exact, safe against kills, full disks and damage, and clear about what is wrong."""

import hashlib
import io
import os
import shutil
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.search import ALGORITHMS, Run
from pqswarm.study import RunKey, Store
from pqswarm.study.findings import AllFeatures, HeldOut
from pqswarm.study.records import Checkpoint, packed_state, unpacked_state
from pqswarm.study.store import SCHEMA_VERSION, StudyDatabase
from tests.study.samples import assert_same_record, assert_same_state, checkpoint, record
from tests.study.studies import change_database

FOUND = AllFeatures("k-NN", 0.25)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize(
    "statements",
    [
        ("ALTER TABLE runs RENAME TO kept", f"CREATE VIEW runs AS {ENDLESS}"),
        ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM findings; END",),
    ],
)
def test_a_store_with_views_or_triggers_is_no_study(tmp_path, statements):
    Store(tmp_path, write=True).close()
    change_database(tmp_path, *statements)
    for write in (False, True):
        with pytest.raises(FileFormatError, match="is not a pqswarm study"):
            Store(tmp_path, write=write)


def test_reading_has_a_time_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.study.store._READ_SECONDS", 0.1)
    Store(tmp_path, write=True).close()
    with closing(StudyDatabase(tmp_path)) as database:
        with pytest.raises(PqswarmError, match=r"took longer than 0\.1 s to read"):
            database.select(f"{ENDLESS} LIMIT 1000000000")
        assert database.select("SELECT 1") == [(1,)]


def test_runs_come_back_bit_for_bit(tmp_path):
    made = [record(2), record(10), record(1, "aco"), record(3, error=inf), record(4, error=5e-324)]
    masks = np.random.default_rng(0).random((4, 99)) < 0.1
    front = {"front_masks": masks, "front_errors": np.array([0.1 + 0.2, 1 / 3, 5e-324, inf])}
    made.append(replace(record(5), result=replace(record(5).result, **front)))
    with Store(tmp_path, write=True) as store:
        for one in made:
            store.finish(one)
    with Store(tmp_path) as store:
        found = store.finished()
    assert [one.key for one in found] == sorted(one.key for one in made)
    by_key = {one.key: one for one in made}
    for one in found:
        assert_same_record(one, by_key[one.key])
        assert one.size == one.mask.sum() == one.result.size
    assert found[0].seed == 2**63 - 3


def test_zero_has_no_sign(tmp_path):
    """SQLite does not keep it: a digest over it would not be that of what comes back."""
    with Store(tmp_path, write=True) as store:
        store.finish(record(0, error=-0.0))
        assert str(store.finished()[0].error) == "0.0"


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
        store.database.connection.execute(
            "CREATE TRIGGER t BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(ABORT, 'stop'); END"
        )
        with pytest.raises(PqswarmError):
            store.finish(record(0))
        assert store.finished() == []
        assert len(store.checkpoints()) == 2
        store.database.connection.execute("DROP TRIGGER t")
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
    with Store(tmp_path, write=True) as store, Store(tmp_path) as reader:
        with pytest.raises(PqswarmError, match="cannot be written"):
            reader.put(FOUND)
        assert reader.find(AllFeatures, "k-NN") is None
        store.put(FOUND)
        assert reader.find(AllFeatures, "k-NN").error == 0.25


def test_format_of_the_file(tmp_path):
    with Store(tmp_path, write=True), closing(sqlite3.connect(tmp_path / "study.sqlite")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION == 3
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    with Store(tmp_path, write=True) as store:
        assert store.database.connection.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_there_is_no_study(tmp_path):
    (tmp_path / "study.sqlite").touch()
    with pytest.raises(PqswarmError, match=r"there is no study in .*: study.sqlite is empty"):
        Store(tmp_path)


def test_an_empty_file_is_what_an_early_kill_leaves(tmp_path):
    (tmp_path / "study.sqlite").touch()
    with Store(tmp_path, write=True) as store:
        store.put(FOUND)
    with closing(sqlite3.connect(tmp_path / "wal.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")
    (tmp_path / "b").mkdir()
    shutil.copy(tmp_path / "wal.sqlite", tmp_path / "b" / "study.sqlite")
    with Store(tmp_path / "b", write=True) as store:
        assert store.finished() == []


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("schema", [1, 4])
def test_other_schemas_are_refused(tmp_path, write, schema):
    with Store(tmp_path, write=True) as store:
        store.database.connection.execute(f"PRAGMA user_version = {schema}")
    before = (tmp_path / "study.sqlite").read_bytes()
    with pytest.raises(FileFormatError, match=f"has schema {schema}, but this pqswarm reads 3"):
        Store(tmp_path, write=write)
    assert (tmp_path / "study.sqlite").read_bytes() == before


def test_folders_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(PqswarmError, match=r"cannot use .*file for a study: File exists"):
        Store(tmp_path / "file", write=True)
    with pytest.raises(PqswarmError, match=r"cannot use .*study for a study: Not a directory"):
        Store(tmp_path / "file" / "study", write=True)
    assert (tmp_path / "file").read_text() == "precious"


def test_read_only_file(tmp_path, monkeypatch):
    """As root may write anything, the database itself is told that it may not."""
    with Store(tmp_path, write=True) as store:
        store.finish(record(0))
    connect = sqlite3.connect

    def connect_to_read(path, uri=False, **options):
        return connect(path if path == ":memory:" else f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    with Store(tmp_path, write=True) as store:
        for write in (lambda: store.finish(record(1)), lambda: store.put(FOUND)):
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

    with pytest.raises(PqswarmError, match=r"the disk is full: .* Finished runs are safe; free some space"):
        go_on()
    return done


def test_a_full_database_keeps_finished_runs(tmp_path):
    with Store(tmp_path, write=True) as store:
        pages = store.database.connection.execute("PRAGMA page_count").fetchone()[0]
        store.database.connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        done = fill(store)
        assert done > 3
        with pytest.raises(PqswarmError, match="the disk is full"):
            store.save_checkpoints([checkpoint()])
        assert len(store.finished()) == done
        store.database.connection.execute("PRAGMA max_page_count = 100000")
        store.finish(record(done))
    with Store(tmp_path, write=True) as store:
        for run, one in enumerate(store.finished()):
            assert_same_record(one, record(run))
        assert len(store.finished()) == done + 1


def test_a_lock_of_another_program_is_named(tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(path, **options | {"timeout": 0.1}))
    with Store(tmp_path, write=True) as store, closing(connect(tmp_path / "study.sqlite", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(PqswarmError, match="is locked by another program: close it and try again"):
            store.put(FOUND)
        db.execute("ROLLBACK")
        store.put(FOUND)


def test_nothing_is_pickled():
    """Neither written nor read: a study from a stranger can be opened."""
    assert not any(array.dtype.hasobject for array in checkpoint().state.values())
    with pytest.raises(ValueError, match="is not an array of plain numbers or text"):
        unpacked_state(packed_state({"a": np.array([{}], dtype=object)}))


HELD_OUT = HeldOut("k-NN", {f"subset {i}": (i / 7,) for i in range(150)})


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The bytes of a store with runs, facts and checkpoints."""
    folder = tmp_path_factory.mktemp("healthy")
    with Store(folder, write=True) as store:
        store.put(AllFeatures("NB", 1 / 3), HELD_OUT)
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
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE runs ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(300000000 + run)))",
        "CREATE INDEX slow ON runs (hex(zeroblob(run)))",
        "ALTER TABLE runs RENAME COLUMN mask TO subset",
        "ALTER TABLE runs ADD COLUMN more TEXT",
        "ALTER TABLE findings RENAME COLUMN level TO decibels",
        "CREATE TABLE more (name TEXT)",
    ],
)
def test_a_study_with_another_schema_is_refused_and_left_alone(tmp_path, healthy, statement, write):
    path = tmp_path / "study.sqlite"
    path.write_bytes(healthy)
    change_database(tmp_path, statement, "PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    with pytest.raises(FileFormatError, match="not a pqswarm study"):
        Store(tmp_path, write=write)
    assert path.read_bytes() == before


def test_texts_of_any_size_are_not_read(tmp_path, healthy, monkeypatch):
    (tmp_path / "study.sqlite").write_bytes(healthy)
    change_database(tmp_path, "UPDATE runs SET mask = hex(zeroblob(40000))")
    monkeypatch.setattr("pqswarm.study.store.MAX_SQLITE_BYTES", 50_000)
    with pytest.raises(FileFormatError, match="too big"):
        Store(tmp_path)


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "kind", ["truncated", "half", "header", "middle", "text", "foreign", "foreign of version 1", "foreign of version 2"]
)
def test_damaged_and_foreign_files_are_refused_and_left_alone(tmp_path, healthy, kind, write):
    path = tmp_path / "study.sqlite"
    if kind.startswith("foreign"):
        foreign(path, int(kind[-1]) if kind[-1].isdigit() else 0)
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
    with pytest.raises(FileFormatError, match=r"damaged .*(restore it|recover)|not a pqswarm study: move it away"):
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
                held_out = store.find(HeldOut, "k-NN")
        except PqswarmError:  # nothing else
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        outcomes["lost"] += 4 - len(checkpoints)
        assert held_out is None or held_out.to_json() == HELD_OUT.to_json()
        for one in records:
            assert_same_record(one, record(one.key.run))
        for key, one in checkpoints.items():
            if key == checkpoint(key.run).key and 40 <= key.run < 44:
                assert_same_state(one.state, checkpoint(key.run).state)
    assert outcomes["refused"] > 20
    assert outcomes["read"] > 20
    assert outcomes["lost"] > 5


def test_a_damaged_checkpoint_is_ignored(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.save_checkpoints([checkpoint(run) for run in range(7)])
    change_database(
        tmp_path,
        "UPDATE checkpoints SET state = x'00' WHERE run = 0",
        "UPDATE checkpoints SET state = substr(state, 1, length(state) - 9) WHERE run = 1",
        "UPDATE checkpoints SET state = 'text' WHERE run = 2",
        "UPDATE checkpoints SET n_evaluations = 'many' WHERE run = 4",
        "UPDATE checkpoints SET best_error = 'small' WHERE run = 5",
        "UPDATE checkpoints SET seconds = 9e999 WHERE run = 6",
    )
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


def test_checkpoints_of_strangers_are_ignored():
    """What has a digest, and yet is no state: other files, headers that would be evaluated, bombs."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("best.npy", b"\x93NUMPY\x01\x00v\x00{'descr': (" + b" " * 200)
    for content in (b"", b"text", file.getvalue()):
        data = hashlib.sha256(content).digest() + content
        with pytest.raises(FileFormatError, match="a checkpoint is damaged"):
            unpacked_state(data)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET mask = substr(mask, 1, 50) || 'x' || substr(mask, 52)",
        "UPDATE runs SET mask = replace(mask, '01', '10')",
        "UPDATE runs SET n_evaluations = n_evaluations + 1",
        "UPDATE runs SET search = 'ga'",
        "UPDATE runs SET front = '[]'",
        "UPDATE runs SET run = run + 1",
        "UPDATE runs SET improvements = replace(improvements, '17.0', '18.0')",
        "UPDATE runs SET seconds = seconds * 2",
        "UPDATE runs SET digest = ''",
        "UPDATE runs SET improvements = '[[1.0, 2.0], [3.0]]'",
        "UPDATE runs SET improvements = '[[1.0'",
        "UPDATE runs SET seed = 'seven'",
        "UPDATE runs SET error = 'small'",
        "UPDATE runs SET mask = x'3031'",
        "UPDATE runs SET dataset = 'seed 1'",
        "UPDATE findings SET kind = 'AllFeaturet'",
        "UPDATE findings SET classifier = 'k-NO'",
        "UPDATE findings SET value = '{'",
        "UPDATE findings SET value = replace(value, '0.25', '0.26')",
        "UPDATE findings SET value = CAST(x'ff22' AS TEXT)",
        "UPDATE findings SET value = x'00'",
    ],
)
def test_rows_that_cannot_be_what_was_written_are_refused(tmp_path, change):
    with Store(tmp_path, write=True) as store:
        store.finish(record())
        store.put(FOUND)
        store.database.connection.execute(change)
    with pytest.raises(FileFormatError, match=r"is damaged .*restore it from a copy"), Store(tmp_path) as store:
        _ = store.finished(), store.find(AllFeatures, "k-NN"), store.statuses()
